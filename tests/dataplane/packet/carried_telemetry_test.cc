// Telemetry that packets carry: it grows by hops, moves with its packet, and goes where the frame is cut.
#include "dataplane/packet/carried_telemetry.h"

#include <vector>

#include <gtest/gtest.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/packet/trim.h"
#include "dataplane/wire/hpcc_int.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::make_frame;

HopTelemetry hop(std::uint32_t n) {
  return {.at_ns = 1000 * n, .sent = 100 * n, .queue = n, .rate = HopTelemetry::rate_of(BitRate{100'000'000'000})};
}

class CarriedTelemetry : public ::testing::TestWithParam<bool> {
 protected:
  Packet* frame() { return make_frame(pool, fecs, {.frame_octets = 1024, .real = GetParam()}); }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 2048}};
  PacketPool& pool = pools[WorkerId{0}];
  FecTable fecs;
};

TEST_P(CarriedTelemetry, AFrameGrowsByTwoOctetsAndEightForEachHop) {
  Packet* const p = frame();
  EXPECT_EQ(telemetry_wire_octets(*p), 0u);
  carry_telemetry(*p, {});
  EXPECT_EQ(p->frame_octets, 1026u);
  EXPECT_EQ(add_telemetry(*p, hop(1), 0x0F0), 8u);
  EXPECT_EQ(add_telemetry(*p, hop(2), 0xF00), 8u);
  EXPECT_EQ(p->frame_octets, 1042u);
  EXPECT_EQ(telemetry_wire_octets(*p), 18u);
  const PathTelemetry t = telemetry_of(*p);
  ASSERT_EQ(t.hops, 2);
  EXPECT_EQ(t.hop[0], hop(1));
  EXPECT_EQ(t.hop[1], hop(2));
  EXPECT_EQ(t.path, 0xFF0);
  pool.release(p);
}

TEST_P(CarriedTelemetry, AFullStackAndAnEchoTakeNothingMore) {
  Packet* const p = frame();
  carry_telemetry(*p, {});
  for (std::uint32_t n = 0; n < PathTelemetry::kMostHops; ++n) EXPECT_EQ(add_telemetry(*p, hop(n), 1), 8u);
  EXPECT_EQ(add_telemetry(*p, hop(99), 1), 0u);
  EXPECT_EQ(p->frame_octets, 1024 + PathTelemetry::kMostWireOctets);
  PathTelemetry t = telemetry_of(*p);
  EXPECT_EQ(t.hop[PathTelemetry::kMostHops - 1], hop(PathTelemetry::kMostHops - 1));
  Packet* const ack = frame();
  t.echo = 1;
  t.hops = 3;
  carry_telemetry(*ack, t);
  EXPECT_EQ(ack->frame_octets, 1024u + 26);
  EXPECT_EQ(add_telemetry(*ack, hop(99), 1), 0u);
  EXPECT_EQ(ack->frame_octets, 1024u + 26);
  pool.release(p);
  pool.release(ack);
}

TEST_P(CarriedTelemetry, TagsComeAndGoInFrontOfIt) {
  Packet* const p = frame();
  carry_telemetry(*p, {});
  add_telemetry(*p, hop(1), 5);
  push_vlan_tag(*p, 9);
  add_telemetry(*p, hop(2), 6);
  pop_vlan_tag(*p);
  const PathTelemetry t = telemetry_of(*p);
  ASSERT_EQ(t.hops, 2);
  EXPECT_EQ(t.hop[0], hop(1));
  EXPECT_EQ(t.hop[1], hop(2));
  EXPECT_EQ(p->frame_octets, 1042u);
  pool.release(p);
}

TEST_P(CarriedTelemetry, ATrimmedPacketHasNone) {
  Packet* const p = frame();
  carry_telemetry(*p, {});
  add_telemetry(*p, hop(1), 5);
  EXPECT_TRUE(trim(*p, 256, 10));
  EXPECT_EQ(p->telemetry, 0);
  EXPECT_EQ(p->frame_octets, 260u);
  pool.release(p);
}

// As captures have it: behind the ICRC, which is that of the packet without it.
TEST_P(CarriedTelemetry, StandsBehindTheIpPacketOnTheWire) {
  Packet* const p = frame();
  std::vector<std::byte> without, with;
  assemble(*p, without);
  carry_telemetry(*p, {});
  const HopTelemetry h{.at_ns = 0x12345678, .sent = 0xABCDEF01, .queue = 0x1234, .rate = 40'000'000};
  add_telemetry(*p, h, 0xABC);
  assemble(*p, with);
  ASSERT_EQ(with.size(), without.size() + 10);
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin()));
  const std::byte* const at = with.data() + without.size();
  EXPECT_EQ(wire::read<wire::HpccInt::NHop>(at), 1);
  EXPECT_EQ(wire::read<wire::HpccInt::PathId>(at), 0xABC);
  EXPECT_EQ(wire::kHpccRates[wire::read<wire::HpccHop::B>(at + 2)], 400u);
  EXPECT_EQ(wire::read<wire::HpccHop::Ts>(at + 2), 0x345678u);
  EXPECT_EQ(wire::read<wire::HpccHop::TxBytes>(at + 2), 0xDEF01u);
  EXPECT_EQ(wire::read<wire::HpccHop::QLen>(at + 2), 0x1234);
  pool.release(p);
}

INSTANTIATE_TEST_SUITE_P(Payload, CarriedTelemetry, testing::Values(false, true),
                         [](const auto& c) { return c.param ? "Real" : "Elided"; });

}  // namespace
}  // namespace railyard
