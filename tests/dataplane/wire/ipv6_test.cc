#include "dataplane/wire/ipv6.h"

#include <gtest/gtest.h>

#include "dataplane/wire/ip_protocol.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

TEST(Ipv6, HeaderOfVector4) {
  const Octets frame = corpus_frame("roce_send_only_imm_ipv6");
  const std::byte* const ip = frame.data() + 14;
  EXPECT_EQ(read<Ipv6::Version>(ip), 6);
  EXPECT_EQ(read<Ipv6::TrafficClass>(ip), 0x6A);
  EXPECT_EQ(read<Ipv6::DSCP>(ip), 26);
  EXPECT_EQ(read<Ipv6::ECN>(ip), 2);
  EXPECT_EQ(read<Ipv6::FlowLabel>(ip), 0x12345u);
  EXPECT_EQ(read<Ipv6::PayloadLength>(ip), 36);
  EXPECT_EQ(read<Ipv6::NextHeader>(ip), ip_protocol::kUdp);
  EXPECT_EQ(read<Ipv6::HopLimit>(ip), 64);
  EXPECT_EQ(to_string(read<Ipv6::Source>(ip)), "2001:db8::1");
  EXPECT_EQ(to_string(read<Ipv6::Destination>(ip)), "2001:db8::2");
  EXPECT_EQ((reencoded<Ipv6::kOctets, Ipv6::Version, Ipv6::DSCP, Ipv6::ECN, Ipv6::FlowLabel, Ipv6::PayloadLength,
                       Ipv6::NextHeader, Ipv6::HopLimit, Ipv6::Source, Ipv6::Destination>(ip)),
            first(ip, Ipv6::kOctets));
}

TEST(Ipv6, ExtensionHeaders) {
  const Octets hop_by_hop = corpus_frame("ipv6_hop_by_hop_udp");
  EXPECT_EQ(read<Ipv6Extension::NextHeader>(hop_by_hop.data() + 54), ip_protocol::kUdp);
  EXPECT_EQ(read<Ipv6Extension::HdrExtLen>(hop_by_hop.data() + 54), 1);
  const Octets last = corpus_frame("ipv6_last_fragment");
  EXPECT_EQ(read<Ipv6Fragment::NextHeader>(last.data() + 54), ip_protocol::kUdp);
  EXPECT_EQ(read<Ipv6Fragment::FragmentOffset>(last.data() + 54), 3);
  EXPECT_EQ(read<Ipv6Fragment::M>(last.data() + 54), 0);
  EXPECT_EQ(read<Ipv6Fragment::Identification>(last.data() + 54), 7u);
  EXPECT_EQ(read<Ipv6Fragment::M>(corpus_frame("ipv6_first_fragment").data() + 54), 1);
}

}  // namespace
}  // namespace railyard::wire
