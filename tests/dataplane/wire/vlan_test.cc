#include "dataplane/wire/vlan.h"

#include <gtest/gtest.h>

#include "dataplane/wire/ethernet.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

TEST(Vlan, TagOfPriority3InVlan100) {
  const Octets frame = corpus_frame("ipv4_udp_tagged");
  ASSERT_EQ(read<Ethernet::EtherType>(frame.data()), ether_type::kVlan);
  const std::byte* const tag = frame.data() + Ethernet::kOctets;
  EXPECT_EQ(to_hex({tag, Vlan::kOctets}), "60640800");
  EXPECT_EQ(read<Vlan::PCP>(tag), 3);
  EXPECT_EQ(read<Vlan::DEI>(tag), 0);
  EXPECT_EQ(read<Vlan::VID>(tag), 100);
  EXPECT_EQ(read<Vlan::EtherType>(tag), ether_type::kIpv4);
}

TEST(Vlan, FieldsAreIndependent) {
  Octets tag = hex("ffff ffff");
  write<Vlan::DEI>(tag.data(), 0);
  EXPECT_EQ(to_hex(tag), "efffffff");
  write<Vlan::VID>(tag.data(), 0x123);
  EXPECT_EQ(to_hex(tag), "e123ffff");
  write<Vlan::PCP>(tag.data(), 0);
  EXPECT_EQ(to_hex(tag), "0123ffff");
}

}  // namespace
}  // namespace railyard::wire
