// A host outside that speaks PFC itself, as an RDMA NIC does when its receive buffer fills.
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include <gtest/gtest.h>

#include "dataplane/device/pfc_frame.h"
#include "dataplane/device/attachment.h"
#include "dataplane/wire/pfc.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Takes whatever comes, and says what a test tells it to.
class Outside final : public Attachment {
 public:
  std::size_t take(PacketPool& pool, std::span<Packet*> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && !quanta_to_say.empty(); ++n, quanta_to_say.pop_front()) {
      packets[n] = make_pfc_frame(pool, {{2, 0, 0, 0, 0, 9}}, 1 << 3, {0, 0, 0, quanta_to_say.front()});
      packets[n]->home = pool.owner();
    }
    return n;
  }
  void release_packets(PacketPool&) override {}
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override {
    for (Packet* p : packets) pool.release(p);
    given += packets.size();
    return packets.size();
  }
  std::deque<std::uint16_t> quanta_to_say;
  std::uint64_t given = 0;
};

//  h1 -- leaf1 -- h2, which is outside
class AttachedHost : public testing::Test {
 protected:
  AttachedHost() { s.lab().host("h2").attach(Instant{}, PortIndex{0}, std::unique_ptr<Attachment>(&outside)); }

  // Polls every microsecond, as the wall clock would.
  void run_until(Duration t) {
    for (; now < t; now += 1_us) {
      s.engine().wake(s.lab().host("h2").id(), s.lab().host("h2").poll(Instant{} + now, {}));
      s.run_until(now + 1_us);
    }
  }

  Scenario s{R"(
name: attached
switches: { default: { buffer: 2MiB } }
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 2 }
nodes: { h2: { kind: host, mac: 02:00:00:00:00:09, attach: { vhost-user: /nowhere } } }
traffic: [ { name: t, from: h1, to: h2, dscp: 26 } ]
run: { clock: wall, duration: 300us }
)"};
  Outside& outside = *new Outside;
  Duration now{};
};

TEST_F(AttachedHost, ItsPauseHoldsTheLeafAndNothingIsLost) {
  run_until(100_us);
  EXPECT_GT(outside.given, 250u);
  outside.quanta_to_say.push_back(0xFFFF);  // 335 us
  run_until(105_us);                        // the PFC frame on the cable, the leaf's response, what was on its way
  const std::uint64_t given = outside.given;
  run_until(200_us);
  EXPECT_EQ(outside.given, given);
  const ClassCounters towards_it = s.at("leaf1:2", 3);
  EXPECT_EQ(towards_it.xoff_received, 1u);
  EXPECT_GT(towards_it.paused, 94_us);
  EXPECT_GT(towards_it.depth_octets, 100'000u);
  EXPECT_GT(s.at("leaf1:1", 3).xoff_sent, 0u) << "which the leaf passes on when its buffer fills";
  outside.quanta_to_say.push_back(0);
  run_until(600_us);
  EXPECT_EQ(s.at("leaf1:2", 3).xon_received, 1u);
  EXPECT_EQ(outside.given, s.flow("t/h1->h2").sent().packets);
  EXPECT_EQ(s.dropped(), 0u);
  s.expect_books_balance();
}

}  // namespace
}  // namespace railyard::test
