// Octets as text and back.
#include <string>

#include <gtest/gtest.h>

#include "control/base/base64.h"

namespace railyard {
namespace {

// RFC 4648 §10.
TEST(Base64, HasTheVectorsOfTheRfc) {
  const char* const vectors[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [octets, text] : vectors) {
    EXPECT_EQ(base64(octets), text);
    EXPECT_EQ(from_base64(text), octets);
  }
}

TEST(Base64, AnyOctetsComeBack) {
  std::string octets;
  for (int i = 0; i < 1000; ++i) octets += static_cast<char>(i * 37 & 255);
  EXPECT_EQ(from_base64(base64(octets)), octets);
}

TEST(Base64, WhatIsNoneIsRefused) {
  for (const char* text : {"Z", "Zg=", "Zg==Zg==", "Z===", "Zm9\n", "Zm9-", "====", "Zg=a"}) EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace railyard
