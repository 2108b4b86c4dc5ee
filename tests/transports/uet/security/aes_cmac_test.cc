#include "transports/uet/security/aes_cmac.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/octets.h"

namespace railyard::uet {
namespace {

// NIST SP 800-38B, examples of CMAC with AES-256: 0, 16, 40 and 64 octets.
TEST(AesCmac, TheExamplesOfSp80038b) {
  SecurityKey key;
  std::ranges::copy(wire::hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"), key.begin());
  const wire::Octets message = wire::hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
      "f69f2445df4f9b17ad2b417be66c3710");
  AesCmac cmac(key);
  const auto of = [&](std::size_t octets) {
    std::array<std::byte, AesCmac::kOctets> out;
    cmac.compute(std::span(message).first(octets), out);
    return wire::to_hex(out);
  };
  EXPECT_EQ(of(0), "028962f61b7bf89efc6b551f4667d983");
  EXPECT_EQ(of(16), "28a7023f452e8f82bd4bf28d8c37c35c");
  EXPECT_EQ(of(40), "aaf3d8f1de5640c232f5b169b9c911e6");
  EXPECT_EQ(of(64), "e1992190549f6ed5696a2c056c315410");
}

}  // namespace
}  // namespace railyard::uet
