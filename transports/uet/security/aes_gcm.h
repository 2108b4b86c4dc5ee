// AES-256-GCM (NIST SP 800-38D) under one key, with a 96-bit IV and a tag (ICV) of 16 octets. The key is expanded once; a
// packet costs no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/uet/security/session_key.h"

struct evp_cipher_ctx_st;

namespace railyard::uet {

class AesGcm {
 public:
  enum class Use : std::uint8_t { kSeal, kOpen };

  AesGcm(Use use, const SecurityKey& key);
  ~AesGcm();
  AesGcm(AesGcm&& other) noexcept;
  AesGcm& operator=(AesGcm&& other) noexcept;

  // One message: its IV and what is authenticated only, then the octets to encrypt or decrypt in any number of parts,
  // then the ICV. `out` may be where `in` is; it has room for as much.
  void begin(const Iv& iv, std::span<const std::byte> additional) noexcept;
  void transform(std::span<const std::byte> in, std::byte* out) noexcept;
  // kSeal: writes the ICV.
  void finish(std::span<std::byte, kIcvOctets> icv) noexcept;
  // kOpen: whether the ICV is right. If it is not, the octets that were decrypted are worthless.
  [[nodiscard]] bool check(std::span<const std::byte, kIcvOctets> icv) noexcept;

 private:
  evp_cipher_ctx_st* context_;
};

}  // namespace railyard::uet
