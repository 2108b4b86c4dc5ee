#include "transports/uet/security/aes_gcm.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/octets.h"

namespace railyard::uet {
namespace {

struct Vector {
  const char* key;
  const char* iv;
  const char* plain;
  const char* additional;
  const char* cipher;
  const char* icv;
};

template <std::size_t n>
std::array<std::byte, n> array_of(const char* text) {
  std::array<std::byte, n> out{};
  std::ranges::copy(wire::hex(text), out.begin());
  return out;
}

// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13, 14 and 16.
constexpr Vector kVectors[] = {
    {"00", "00", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {"00", "00", "00000000000000000000000000000000", "", "cea7403d4d606b6e074ec5d3baf39d18",
     "d0d1c8a799996bf0265b98b5d48ab919"},
    {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
     "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"}};

TEST(AesGcm, TheTestCasesOfTheAlgorithm) {
  for (const Vector& v : kVectors) {
    const auto key = array_of<kKeyOctets>(v.key);
    const auto iv = array_of<kIvOctets>(v.iv);
    const wire::Octets plain = wire::hex(v.plain), additional = wire::hex(v.additional);
    AesGcm seal(AesGcm::Use::kSeal, key);
    AesGcm open(AesGcm::Use::kOpen, key);
    // In one part, in two, and twice with the same cipher.
    for (const std::size_t first : {plain.size(), plain.size() / 3}) {
      wire::Octets cipher(plain.size());
      std::array<std::byte, kIcvOctets> icv;
      seal.begin(iv, additional);
      seal.transform(std::span(plain).first(first), cipher.data());
      seal.transform(std::span(plain).subspan(first), cipher.data() + first);
      seal.finish(icv);
      EXPECT_EQ(wire::to_hex(cipher), v.cipher);
      EXPECT_EQ(wire::to_hex(icv), v.icv);

      wire::Octets opened(cipher.size());
      open.begin(iv, additional);
      open.transform(cipher, opened.data());
      EXPECT_TRUE(open.check(icv));
      EXPECT_EQ(opened, plain);

      icv[15] ^= std::byte{1};
      open.begin(iv, additional);
      open.transform(cipher, opened.data());
      EXPECT_FALSE(open.check(icv));
    }
  }
}

}  // namespace
}  // namespace railyard::uet
