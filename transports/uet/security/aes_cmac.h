// AES-256-CMAC (NIST SP 800-38B) under one key: the function that keys are derived with.
#pragma once

#include <cstddef>
#include <span>

#include "transports/uet/security/security_config.h"

struct evp_mac_st;
struct evp_mac_ctx_st;

namespace railyard::uet {

class AesCmac {
 public:
  static constexpr std::size_t kOctets = 16;

  explicit AesCmac(const SecurityKey& key);
  ~AesCmac();
  AesCmac(AesCmac&& other) noexcept;
  AesCmac& operator=(AesCmac&& other) noexcept;

  void compute(std::span<const std::byte> message, std::span<std::byte, kOctets> out) noexcept;

 private:
  evp_mac_st* mac_;
  evp_mac_ctx_st* context_;
};

}  // namespace railyard::uet
