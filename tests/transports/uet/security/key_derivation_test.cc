#include "transports/uet/security/key_derivation.h"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "tests/dataplane/wire/octets.h"
#include "transports/uet/security/session_keys.h"

namespace railyard::uet {
namespace {

SecurityKey pattern_key(unsigned seed) {
  SecurityKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(seed * 37 + i * 11);
  return key;
}

// OpenSSL's own SP 800-108 says the same.
TEST(KeyDerivation, IsCounterModeWithCmac) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const SecurityKey key = pattern_key(seed);
    wire::Octets context = wire::hex("000100000000 0a000001");
    context[3] = static_cast<std::byte>(seed);
    const SessionKey derived = KeyDerivation(key, kClusterLabel).derive(context);

    EVP_KDF* const kdf = EVP_KDF_fetch(nullptr, "KBKDF", nullptr);
    ASSERT_NE(kdf, nullptr);
    EVP_KDF_CTX* const with = EVP_KDF_CTX_new(kdf);
    char mac[] = "CMAC", cipher[] = "AES-256-CBC", mode[] = "counter", label[] = "U1";
    SecurityKey copy = key;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_MAC, mac, 0),
                                 OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_MODE, mode, 0),
                                 OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, copy.data(), copy.size()),
                                 OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, label, 2),
                                 OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, context.data(), context.size()),
                                 OSSL_PARAM_construct_end()};
    std::array<unsigned char, 44> expected{};
    EXPECT_EQ(EVP_KDF_derive(with, expected.data(), expected.size(), params), 1);
    EVP_KDF_CTX_free(with);
    EVP_KDF_free(kdf);
    EXPECT_EQ(wire::to_hex(derived.key) + wire::to_hex(derived.mask),
              wire::to_hex(std::as_bytes(std::span(expected))));
  }
}

// Epoch, re-key counter, identity and label: each makes another key.
TEST(KeyDerivation, EveryPartOfTheContextCounts) {
  SecurityConfig config{.mode = SecurityMode::kCluster, .sdi = 7, .key = pattern_key(1), .rekey_bits = 6};
  SessionKeys cluster(config);
  const wire::IpAddress a(0x0A000001), b(0x0A000002);
  const TssValues tss{.sdi = 7, .epoch = 1, .counter = 63};
  const auto key = [](SessionKeys& keys, const TssValues& t, const wire::IpAddress& from, const wire::IpAddress& to) {
    return keys.key(keys.name_of_sent(t, from, to));
  };
  const SessionKey first = key(cluster, tss, a, b);
  EXPECT_EQ(key(cluster, tss, a, a), first) << "the destination does not count";
  TssValues other = tss;
  other.epoch = 2;
  EXPECT_NE(key(cluster, other, a, b), first);
  other = tss;
  other.counter = 64;
  EXPECT_NE(key(cluster, other, a, b), first);
  EXPECT_NE(key(cluster, tss, b, a), first);
  other = tss;
  other.ssi = 5;
  EXPECT_NE(key(cluster, other, a, b), first);
  config.mode = SecurityMode::kClient;
  SessionKeys client(config);
  EXPECT_NE(key(client, tss, a, b), first);
  // A client and its server agree, in both directions.
  config.mode = SecurityMode::kServer;
  SessionKeys server(config);
  EXPECT_EQ(client.name_of_sent(tss, a, b), server.name_of_received(tss, a, b));
  EXPECT_EQ(server.name_of_sent(tss, b, a), client.name_of_received(tss, b, a));
}

// UET page §15, E13, and §11: 32 bits of the source in front of the tsc.
TEST(SessionKey, TheIvIsSourceAndTscUnderTheMask) {
  TssValues tss{.sdi = 0x1234, .epoch = 1, .counter = 42};
  const wire::IpAddress v4(0x0A000001), v6 = *wire::IpAddress::parse("fd00::1");
  EXPECT_EQ(wire::to_hex(iv_of(tss, v4, {})), "0a000001000100000000002a");
  EXPECT_EQ(wire::to_hex(iv_of(tss, v6, {})), "00001234000100000000002a");
  tss.ssi = 0x0A0B0C0D;
  EXPECT_EQ(wire::to_hex(iv_of(tss, v6, {})), "0a0b0c0d000100000000002a");
  Iv mask{};
  mask[0] = std::byte{0xFF};
  EXPECT_EQ(wire::to_hex(iv_of(tss, v6, mask)), "f50b0c0d000100000000002a");
}

}  // namespace
}  // namespace railyard::uet
