#include "transports/roce/wire/grh.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::roce {
namespace {

using Grh = std::array<std::byte, kGrhOctets>;

struct Received {
  wire::Octets ip;  // from the IP header on
  Grh grh;
};
Received receive(std::string_view name) {
  const wire::Octets frame = wire::corpus_frame(name);
  Received r{wire::Octets(frame.begin() + 14, frame.end()), {}};
  r.grh.fill(std::byte{0xA5});
  write_grh(r.grh, r.ip);
  return r;
}

// roce-and-lossless.md §5.14.
TEST(Grh, OfIpv6IsTheHeader) {
  const Received r = receive("roce_send_only_imm_ipv6");
  EXPECT_TRUE(std::ranges::equal(r.grh, std::span(r.ip).first(40)));
  EXPECT_EQ(read_grh(r.grh), (GrhAddresses{wire::IpAddress::parse("2001:db8::1").value(),
                                           wire::IpAddress::parse("2001:db8::2").value()}));
}

TEST(Grh, OfIpv4IsTheHeaderBehindTwentyZeros) {
  const Received r = receive("roce_write_only");
  EXPECT_TRUE(std::ranges::all_of(std::span(r.grh).first(20), [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_TRUE(std::ranges::equal(std::span(r.grh).last(20), std::span(r.ip).first(20)));
  EXPECT_EQ(read_grh(r.grh),
            (GrhAddresses{wire::IpAddress::parse("10.0.0.1").value(), wire::IpAddress::parse("10.0.0.2").value()}));
}

// An IPv6 address that looks like the beginning of an IPv4 header has no checksum that fits.
TEST(Grh, Ipv6IsNotTakenForIpv4) {
  Grh grh = receive("roce_send_only_imm_ipv6").grh;
  grh[20] = std::byte{0x45};
  EXPECT_EQ(read_grh(grh)->destination, wire::IpAddress::parse("2001:db8::2").value());
}

TEST(Grh, OfNeitherFamilyHasNoAddresses) {
  EXPECT_EQ(read_grh(Grh{}), std::nullopt);
  Grh damaged = receive("roce_write_only").grh;
  damaged[39] ^= std::byte{1};
  EXPECT_EQ(read_grh(damaged), std::nullopt);
}

}  // namespace
}  // namespace railyard::roce
