#include "transports/uet/security/aes_cmac.h"

#include <utility>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "dataplane/base/assert.h"

namespace railyard::uet {

AesCmac::AesCmac(const SecurityKey& key) : mac_(EVP_MAC_fetch(nullptr, "CMAC", nullptr)), context_(nullptr) {
  RAILYARD_ASSERT(mac_ != nullptr, "OpenSSL has CMAC");
  context_ = EVP_MAC_CTX_new(mac_);
  char cipher[] = "AES-256-CBC";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0),
                               OSSL_PARAM_construct_end()};
  [[maybe_unused]] const int keyed =
      EVP_MAC_init(context_, reinterpret_cast<const unsigned char*>(key.data()), key.size(), params);
  RAILYARD_ASSERT(keyed == 1, "a CMAC of AES-256 takes a key of 32 octets");
}
AesCmac::~AesCmac() {
  EVP_MAC_CTX_free(context_);
  EVP_MAC_free(mac_);
}
AesCmac::AesCmac(AesCmac&& other) noexcept
    : mac_(std::exchange(other.mac_, nullptr)), context_(std::exchange(other.context_, nullptr)) {}
AesCmac& AesCmac::operator=(AesCmac&& other) noexcept {
  std::swap(mac_, other.mac_);
  std::swap(context_, other.context_);
  return *this;
}

void AesCmac::compute(std::span<const std::byte> message, std::span<std::byte, kOctets> out) noexcept {
  std::size_t n = 0;
  [[maybe_unused]] const bool done =
      EVP_MAC_init(context_, nullptr, 0, nullptr) == 1 &&
      EVP_MAC_update(context_, reinterpret_cast<const unsigned char*>(message.data()), message.size()) == 1 &&
      EVP_MAC_final(context_, reinterpret_cast<unsigned char*>(out.data()), &n, out.size()) == 1;
  RAILYARD_ASSERT(done && n == kOctets, "a CMAC of AES has 16 octets");
}

}  // namespace railyard::uet
