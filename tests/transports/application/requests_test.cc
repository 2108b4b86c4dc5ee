// What the daemon makes of what applications say.
#include "transports/application/requests.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::application {
namespace {

using ::testing::HasSubstr;

Hello hello() {
  Hello h;
  std::strcpy(h.host.data(), "h1");
  return h;
}
template <class Message>
std::span<const std::byte> octets_of(const Message& message) {
  return std::as_bytes(std::span(&message, 1));
}
int error_of(const Hello& h) {
  const auto read = read_hello(octets_of(h));
  return read ? 0 : read.error().error;
}

TEST(Requests, AFirstMessageNamesANic) {
  Hello h = hello();
  h.nic = 2;
  h.transport = Transport::kUet;
  const auto read = read_hello(octets_of(h));
  ASSERT_TRUE(read);
  EXPECT_STREQ(read->host.data(), "h1");
  EXPECT_EQ(read->nic, 2u);
  EXPECT_EQ(read->transport, Transport::kUet);
}

TEST(Requests, AnotherVersionIsToldSo) {
  Hello h = hello();
  h.version = kVersion - 1;
  const auto read = read_hello(octets_of(h));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().error, EPROTO);
  EXPECT_THAT(read.error().why, HasSubstr("another version"));
  h = hello();
  h.magic = 1;
  EXPECT_EQ(error_of(h), EPROTO);
  EXPECT_FALSE(read_hello(octets_of(hello()).first(sizeof(Hello) - 1))) << "shorter";
  const std::array<Hello, 2> two{hello(), hello()};
  EXPECT_FALSE(read_hello(std::as_bytes(std::span(two)).first(sizeof(Hello) + 1))) << "longer";
  EXPECT_FALSE(read_hello({}));
}

TEST(Requests, WhatCannotBeIsRefused) {
  Hello h = hello();
  h.host.fill('h');
  EXPECT_EQ(error_of(h), EINVAL) << "a name without an end";
  for (const std::uint32_t nic : {0u, kMostNics + 1, ~0u}) {
    h = hello();
    h.nic = nic;
    EXPECT_EQ(error_of(h), EINVAL) << nic;
  }
  h = hello();
  h.transport = static_cast<Transport>(2);
  EXPECT_EQ(error_of(h), EPROTO) << "a transport that there is not";
}

TEST(Requests, ALaterMessageIsAPort) {
  PortRequest request{.space = 1, .port = 7174};
  ASSERT_TRUE(read_port_request(octets_of(request)));
  EXPECT_EQ(read_port_request(octets_of(request))->port, 7174);
  request.release = 2;
  EXPECT_FALSE(read_port_request(octets_of(request)));
  request.release = 1;
  request.magic = 0;
  EXPECT_FALSE(read_port_request(octets_of(request)));
  EXPECT_FALSE(read_port_request(octets_of(hello()))) << "a first one";
}

}  // namespace
}  // namespace railyard::application
