#include "transports/uet/security/aes_gcm.h"

#include <array>
#include <cstring>
#include <utility>

#include <openssl/evp.h>

#include "dataplane/base/assert.h"

namespace railyard::uet {
namespace {

const unsigned char* raw(const std::byte* at) noexcept { return reinterpret_cast<const unsigned char*>(at); }
unsigned char* raw(std::byte* at) noexcept { return reinterpret_cast<unsigned char*>(at); }

}  // namespace

AesGcm::AesGcm(Use use, const SecurityKey& key) : context_(EVP_CIPHER_CTX_new()) {
  const int encrypts = use == Use::kSeal ? 1 : 0;
  const int done = EVP_CipherInit_ex(context_, EVP_aes_256_gcm(), nullptr, raw(key.data()), nullptr, encrypts);
  RAILYARD_ASSERT(done == 1, "OpenSSL has AES-256-GCM");
}
AesGcm::~AesGcm() { EVP_CIPHER_CTX_free(context_); }
AesGcm::AesGcm(AesGcm&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
AesGcm& AesGcm::operator=(AesGcm&& other) noexcept {
  std::swap(context_, other.context_);
  return *this;
}

void AesGcm::begin(const Iv& iv, std::span<const std::byte> additional) noexcept {
  int n = 0;
  [[maybe_unused]] const bool done =
      EVP_CipherInit_ex(context_, nullptr, nullptr, nullptr, raw(iv.data()), -1) == 1 &&
      EVP_CipherUpdate(context_, nullptr, &n, raw(additional.data()), static_cast<int>(additional.size())) == 1;
  RAILYARD_EXPENSIVE_ASSERT(done, "a cipher that is keyed takes an IV");
}

void AesGcm::transform(std::span<const std::byte> in, std::byte* out) noexcept {
  if (in.empty()) return;
  int n = 0;
  [[maybe_unused]] const int done =
      EVP_CipherUpdate(context_, raw(out), &n, raw(in.data()), static_cast<int>(in.size()));
  RAILYARD_EXPENSIVE_ASSERT(done == 1 && static_cast<std::size_t>(n) == in.size(), "GCM has no padding");
}

void AesGcm::finish(std::span<std::byte, kIcvOctets> icv) noexcept {
  std::array<unsigned char, 16> rest;
  int n = 0;
  [[maybe_unused]] const bool done =
      EVP_CipherFinal_ex(context_, rest.data(), &n) == 1 &&
      EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(icv.size()), icv.data()) == 1;
  RAILYARD_EXPENSIVE_ASSERT(done, "a message that was begun has an ICV");
}

bool AesGcm::check(std::span<const std::byte, kIcvOctets> icv) noexcept {
  std::array<std::byte, kIcvOctets> expected;
  std::memcpy(expected.data(), icv.data(), icv.size());
  std::array<unsigned char, 16> rest;
  int n = 0;
  return EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(expected.size()), expected.data()) == 1 &&
         EVP_CipherFinal_ex(context_, rest.data(), &n) == 1;
}

}  // namespace railyard::uet
