// What routers on a path say to the sender: TTL that has run out, and packets that are too big for a link.
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/port/pcap_file.h"
#include "dataplane/wire/icmp.h"
#include "tests/scenarios/scenario.h"
#include "tests/support/frames.h"
#include "tests/support/temporary_file.h"

namespace railyard::test {
namespace {

using namespace literals;
using Octets = std::vector<std::byte>;

//  h1 (capture) -- leaf1 -- spine1 -- leaf2 -- h2; between spine1 and leaf2 only 1500 octets fit.
class RouterMessages : public testing::Test {
 protected:
  RouterMessages() : spec_(spec::parse(lab(), "scenario.yaml")), writer_(PcapWriter::open(in_.path()).value()) {}

  std::string lab() const {
    return R"(
name: router-messages
nodes:
  leaf1: { kind: switch }
  spine1: { kind: switch }
  leaf2: { kind: switch }
  h1: { kind: host, attach: { pcap: { in: )" +
           in_.name() + ", out: " + out_.name() + R"( } } }
  h2: { kind: host }
links:
  - [ h1:1, leaf1:1 ]
  - [ leaf1:2, spine1:1 ]
  - [ spine1:2, leaf2:1, { mtu: 1500 } ]
  - [ leaf2:2, h2:1 ]
)";
  }
  wire::IpAddress address(const std::string& host) const { return *spec_.find(host)->nics[0].address_v4; }
  wire::IpAddress loopback(const std::string& node) const { return *spec_.find(node)->loopback_v4; }

  void send(FrameSpec spec) {
    spec.source = address("h1");
    spec.destination = address("h2");
    Packet* p = make_frame(pools_[WorkerId{0}], FecTable{}, spec);
    Octets octets;
    assemble(*p, octets);
    pools_[WorkerId{0}].release(p);
    const std::span<const std::byte> piece(octets);
    writer_.write(Instant{} + 10_us * sent_++, {&piece, 1});
  }

  struct Message {
    wire::IpAddress from;
    int type;
    int code;
    int mtu;
    bool operator==(const Message&) const = default;
  };
  // What comes back to h1.
  std::vector<Message> messages() {
    EXPECT_TRUE(writer_.close().has_value());
    scenario_.emplace(lab());
    scenario_->run_to_the_end();
    scenario_->expect_books_balance();
    for (PcapEndpoint* p : scenario_->lab().pcaps()) p->close();
    std::vector<Message> all;
    const auto came_back = read_pcap(out_.path());
    if (!came_back) throw std::runtime_error(came_back.error());
    for (const CapturedFrame& f : *came_back) {
      const auto view = wire::parse_frame(f.octets);
      EXPECT_TRUE(view.has_value());
      EXPECT_EQ(view->destination, address("h1"));
      const std::byte* icmp = f.octets.data() + view->l4_offset;
      all.push_back({view->source, wire::read<wire::Icmp::Type>(icmp), wire::read<wire::Icmp::Code>(icmp),
                     wire::read<wire::Icmp::NextHopMtu>(icmp)});
    }
    return all;
  }

  TemporaryFile in_{"in.pcap"};
  TemporaryFile out_{"out.pcap"};
  spec::Lab spec_;
  PcapWriter writer_;
  PacketPools pools_{1, {.elided_limit = 16, .real_limit = 16, .real_octets = 9728}};
  std::int64_t sent_ = 0;
  std::optional<Scenario> scenario_;
};

TEST_F(RouterMessages, ATraceFindsEveryRouterOnItsWay) {
  for (std::uint8_t ttl = 1; ttl <= 4; ++ttl) send({.ttl = ttl, .frame_octets = 200});
  EXPECT_EQ(messages(), (std::vector<Message>{{loopback("leaf1"), wire::icmp_type::kTimeExceeded, 0, 0},
                                              {loopback("spine1"), wire::icmp_type::kTimeExceeded, 0, 0},
                                              {loopback("leaf2"), wire::icmp_type::kTimeExceeded, 0, 0}}));
  EXPECT_EQ(scenario_->drops(DropReason::kTtlExpired), 3u);
  EXPECT_EQ(scenario_->port("h2:1").delivered, 1u);
}

TEST_F(RouterMessages, TheRouterBeforeANarrowLinkSaysWhatFits) {
  send({.frame_octets = 1500 + 14 + 4});
  send({.frame_octets = 1500 + 14 + 4 + 1});
  send({.frame_octets = 9000});
  const Message too_big{loopback("spine1"), wire::icmp_type::kDestinationUnreachable,
                        wire::icmp_unreachable::kFragmentationNeeded, 1500};
  EXPECT_EQ(messages(), (std::vector<Message>{too_big, too_big}));
  EXPECT_EQ(scenario_->drops(DropReason::kTooBig), 2u);
  EXPECT_EQ(scenario_->port("h2:1").delivered, 1u);
}

}  // namespace
}  // namespace railyard::test
