// What is between two ports is found out, whatever it is: here cables that keep or change something.
#include "dataplane/port/cable_check.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/port/packet_socket_port.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/vlan.h"
#include "tests/dataplane/port/host_namespace.h"

namespace railyard {
namespace {

using Octets = std::vector<std::byte>;
using Cable = std::function<std::optional<Octets>(Octets)>;

// One end of a cable: what is given here can be taken at the other, if the cable lets it pass.
class CableEnd final : public OutsidePort {
 public:
  explicit CableEnd(Cable cable) : cable_(std::move(cable)) {}
  void connect(CableEnd& other) { other_ = &other; }

  std::size_t take(PacketPool& pool, std::span<Packet*> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && !incoming_.empty(); ++n) {
      packets[n] = pool.allocate_real();
      if (packets[n] == nullptr) break;
      std::ranges::copy(incoming_.front(), packets[n]->header());
      describe_received(*packets[n], static_cast<std::uint32_t>(incoming_.front().size()), 0, 0);
      incoming_.pop_front();
    }
    return n;
  }
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override {
    for (Packet* p : packets) {
      Octets octets(p->header(), p->header() + p->header_octets + p->payload_octets);
      if (auto left = cable_(std::move(octets))) other_->incoming_.push_back(std::move(*left));
      pool.release(p);
    }
    return packets.size();
  }
  void release_packets(PacketPool&) override {}
  OutsidePortCounters counters() const override { return {}; }
  bool link_up() const override { return other_ != nullptr; }
  PortAbilities abilities() const override { return {}; }

 private:
  Cable cable_;
  CableEnd* other_ = nullptr;
  std::deque<Octets> incoming_;
};

class CableCheckTest : public testing::Test {
 protected:
  ~CableCheckTest() override { EXPECT_EQ(pools.in_use(), 0u) << "a packet was lost, or given back twice"; }

  // The way through `cable`; back everything passes.
  CableWay check(Cable cable) {
    CableEnd a(std::move(cable));
    CableEnd b([](Octets o) { return o; });
    a.connect(b);
    b.connect(a);
    CableCheck check(a, b, pool, config);
    EXPECT_TRUE(check.wait_for_link());
    const CableWay back = check.check(1);
    EXPECT_EQ(back.largest_frame, config.mtu + 14);
    EXPECT_TRUE(back.shortest && back.tagged && back.pfc && back.pause && back.roce && back.checksums && back.ecn);
    EXPECT_EQ(back.lost + back.reordered + back.damaged, 0u);
    return check.check(0);
  }
  static bool is_mac_control(const Octets& o) {
    return wire::read<wire::Ethernet::EtherType>(o.data()) == wire::ether_type::kMacControl;
  }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 512, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  // What does not come is not waited for: a cable of this test is quick.
  CableCheckConfig config{.mtu = 9216,
                          .patience = std::chrono::milliseconds(1),
                          .link_patience = std::chrono::milliseconds(1),
                          .tries = 2,
                          .burst = 1000,
                          .round = 10};
};

TEST_F(CableCheckTest, ACableThatCarriesEverything) {
  const CableWay way = check([](Octets o) { return o; });
  EXPECT_TRUE(way.shortest && way.tagged && way.pfc && way.pause && way.roce && way.checksums && way.ecn);
  EXPECT_EQ(way.largest_frame, 9230u);
  EXPECT_EQ(way.sent, 1000u);
  EXPECT_EQ(way.lost + way.reordered + way.damaged, 0u);
  EXPECT_GT(way.latency_p50.count(), 0);
}

TEST_F(CableCheckTest, ANicThatKeepsPauseFramesToItself) {
  const CableWay way = check([](Octets o) { return is_mac_control(o) ? std::nullopt : std::optional(std::move(o)); });
  EXPECT_FALSE(way.pfc);
  EXPECT_FALSE(way.pause);
  EXPECT_TRUE(way.tagged && way.roce && way.checksums);
}

TEST_F(CableCheckTest, ANicThatKeepsOnlyThePausesItKnows) {
  const CableWay way = check([](Octets o) {
    return is_mac_control(o) && o[15] == std::byte{1} && o[14] == std::byte{0} ? std::nullopt
                                                                               : std::optional(std::move(o));
  });
  EXPECT_TRUE(way.pfc);
  EXPECT_FALSE(way.pause);
}

TEST_F(CableCheckTest, TheLongestFrameToTheOctet) {
  for (const std::size_t most : {60u, 61u, 1513u, 1514u, 1515u, 4321u, 9014u, 9229u}) {
    const CableWay way =
        check([most](Octets o) { return o.size() > most ? std::nullopt : std::optional(std::move(o)); });
    EXPECT_TRUE(way.shortest);
    EXPECT_EQ(way.largest_frame, most);
  }
}

// A NIC strips tags when it is told to, and the driver does not put them back.
TEST_F(CableCheckTest, ATagThatIsLost) {
  const CableWay way = check([](Octets o) {
    if (wire::read<wire::Ethernet::EtherType>(o.data()) == wire::ether_type::kVlan)
      o.erase(o.begin() + 12, o.begin() + 12 + wire::Vlan::kOctets);
    return std::optional(std::move(o));
  });
  EXPECT_FALSE(way.tagged);
  EXPECT_TRUE(way.roce);
}

// An RDMA NIC takes what is for UDP port 4791.
TEST_F(CableCheckTest, RoceFramesThatANicTakes) {
  const CableWay way = check([](Octets o) {
    const auto view = wire::parse_frame(o);
    return view && view->destination_port == 4791 ? std::nullopt : std::optional(std::move(o));
  });
  EXPECT_FALSE(way.roce || way.checksums || way.ecn);
  EXPECT_TRUE(way.tagged && way.pfc);
}

TEST_F(CableCheckTest, ChecksumsThatAreMended) {
  const CableWay way = check([](Octets o) {
    if (wire::read<wire::Ethernet::EtherType>(o.data()) == wire::ether_type::kIpv4)
      o[14 + 20 + 6] = o[14 + 20 + 7] = std::byte{0};
    return std::optional(std::move(o));
  });
  EXPECT_TRUE(way.roce) << "these have no UDP checksum";
  EXPECT_FALSE(way.checksums);
}

TEST_F(CableCheckTest, EcnThatIsBleached) {
  const CableWay way = check([](Octets o) {
    const auto view = wire::parse_frame(o);
    if (view && view->destination_port == 4791 && (o[15] & std::byte{3}) == std::byte{3}) o[15] &= std::byte{0xFC};
    return std::optional(std::move(o));
  });
  EXPECT_TRUE(way.roce);
  EXPECT_FALSE(way.ecn);
}

TEST_F(CableCheckTest, LossReorderingAndDamageInABurst) {
  int n = 0;
  std::optional<Octets> kept;
  const CableWay way = check([&](Octets o) -> std::optional<Octets> {
    if (o.size() != 1024) return o;
    ++n;
    if (n % 100 == 0) return {};                            // 10 are lost
    if (n % 100 == 50) o[500] ^= std::byte{1};              // 10 are damaged
    if (n == 20) return std::exchange(kept, std::move(o));  // one comes later ...
    if (n == 30) return std::exchange(kept, std::nullopt);  // ... in the place of another
    return o;
  });
  EXPECT_EQ(way.sent, 1000u);
  EXPECT_EQ(way.lost, 11u);
  EXPECT_EQ(way.damaged, 10u);
  EXPECT_EQ(way.reordered, 1u);
}

TEST_F(CableCheckTest, NothingPasses) {
  const CableWay way = check([](const Octets&) { return std::optional<Octets>(); });
  EXPECT_FALSE(way.shortest);
  EXPECT_EQ(way.largest_frame, 0u);
  EXPECT_EQ(way.sent, 0u) << "nothing else is tried";
}

TEST_F(CableCheckTest, NobodyIsConnected) {
  CableEnd a([](Octets o) { return o; });
  CableEnd b([](Octets o) { return o; });
  EXPECT_FALSE(CableCheck(a, b, pool, config).wait_for_link());
}

// The kernel's own cable. Its abilities say so before anything is tried.
TEST_F(CableCheckTest, AVethPairCarriesEverything) {
  if (const auto why = test::why_no_namespaces()) GTEST_SKIP() << *why;
  const test::HostNamespace host;
  host.keep_quiet();
  ASSERT_TRUE(host.ip("link add v0 mtu 9216 type veth peer name v1 mtu 9216"));
  ASSERT_TRUE(host.ip("link set v0 up") && host.ip("link set v1 up"));
  PacketSocketPort a({.interface = "v0", .netns = host.name()}, pool);
  PacketSocketPort b({.interface = "v1", .netns = host.name()}, pool);
  EXPECT_EQ(a.abilities().pfc, PortAbilities::Pfc::kYes);
  EXPECT_EQ(a.abilities().largest_frame, 9216u + 18);
  EXPECT_TRUE(a.abilities().completes_checksums);
  config.patience = std::chrono::seconds(5);
  config.link_patience = std::chrono::seconds(5);
  CableCheck check(a, b, pool, config);
  ASSERT_TRUE(check.wait_for_link());
  for (const std::size_t from : {0u, 1u}) {
    const CableWay way = check.check(from);
    EXPECT_TRUE(way.shortest && way.tagged && way.pfc && way.pause && way.roce && way.checksums && way.ecn);
    EXPECT_EQ(way.largest_frame, 9230u);
    EXPECT_EQ(way.lost + way.reordered + way.damaged, 0u);
  }
}

}  // namespace
}  // namespace railyard
