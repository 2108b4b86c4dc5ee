#include "dataplane/wire/ipv4.h"

#include <gtest/gtest.h>

#include "dataplane/wire/address.h"
#include "dataplane/wire/ip_protocol.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

TEST(Ipv4, HeaderOfACapturedFrame) {
  const Octets frame = corpus_frame("roce_cnp_connectx4");
  const std::byte* const ip = frame.data() + 14;
  EXPECT_EQ(read<Ipv4::Version>(ip), 4);
  EXPECT_EQ(read<Ipv4::IHL>(ip), 5);
  EXPECT_EQ(read<Ipv4::DSCP>(ip), 48);
  EXPECT_EQ(read<Ipv4::ECN>(ip), 2);
  EXPECT_EQ(read<Ipv4::TrafficClass>(ip), 0xC2);
  EXPECT_EQ(read<Ipv4::TotalLength>(ip), 60);
  EXPECT_EQ(read<Ipv4::Identification>(ip), 0x718C);
  EXPECT_EQ(read<Ipv4::DF>(ip), 1);
  EXPECT_EQ(read<Ipv4::MF>(ip), 0);
  EXPECT_EQ(read<Ipv4::FragmentOffset>(ip), 0);
  EXPECT_EQ(read<Ipv4::TTL>(ip), 64);
  EXPECT_EQ(read<Ipv4::Protocol>(ip), ip_protocol::kUdp);
  EXPECT_EQ(read<Ipv4::HeaderChecksum>(ip), 0x9161);
  EXPECT_EQ(to_string(IpAddress(read<Ipv4::Source>(ip))), "10.0.17.1");
  EXPECT_EQ(to_string(IpAddress(read<Ipv4::Destination>(ip))), "10.0.18.1");
  EXPECT_EQ((reencoded<Ipv4::kOctets, Ipv4::Version, Ipv4::IHL, Ipv4::DSCP, Ipv4::ECN, Ipv4::TotalLength,
                       Ipv4::Identification, Ipv4::Reserved, Ipv4::DF, Ipv4::MF, Ipv4::FragmentOffset, Ipv4::TTL,
                       Ipv4::Protocol, Ipv4::HeaderChecksum, Ipv4::Source, Ipv4::Destination>(ip)),
            first(ip, Ipv4::kOctets));
}

}  // namespace
}  // namespace railyard::wire
