#include "dataplane/wire/udp_endpoint.h"

#include <gtest/gtest.h>

namespace railyard::wire {
namespace {

TEST(UdpEndpoint, IsReadAsItIsWritten) {
  for (const char* text : {"192.0.2.1:4800", "127.0.0.1:1", "[2001:db8::1]:65535", "[::1]:80"}) {
    const auto e = UdpEndpoint::parse(text);
    ASSERT_TRUE(e) << text;
    EXPECT_EQ(to_string(*e), text);
  }
}

TEST(UdpEndpoint, NothingElseIsOne) {
  for (const char* text : {"", ":", "192.0.2.1", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:80x", ":80",
                           "[192.0.2.1]:80", "::1:80", "[::1]", "[::1:80", "192.0.2.1: 80", "192.0.2.1:-1"})
    EXPECT_FALSE(UdpEndpoint::parse(text)) << text;
}

}  // namespace
}  // namespace railyard::wire
