// A spec as devices: everything has its place, and what the spec says has arrived there.
#include "control/build/built_lab.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/addresses.h"
#include "control/build/nic_clocks.h"
#include "control/spec/load.h"

namespace railyard::build {
namespace {

using namespace literals;
using testing::HasSubstr;

//   h1:1 --- leaf1:1   leaf1:5 --- leaf2:1   leaf2:2 --- h2:1
const std::string kLine = R"(name: line
nodes: { leaf1: { kind: switch }, leaf2: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links:
  - [h1:1, leaf1:1, { rate: 25Gbps, cable: 2m, mtu: 9000 }]
  - [leaf1:5, leaf2:1, { rate: 400Gbps, delay: 500ns, mtu: 5000 }]
  - [leaf2:2, h2:1]
)";

spec::Lab lab(const std::string& traffic = "", const std::vector<std::string>& overrides = {}) {
  return spec::parse(kLine + (traffic.empty() ? "" : "traffic: [ { name: t, from: h1, to: h2, " + traffic + " } ]\n"),
                     "line.yaml", overrides);
}

TEST(BuiltLab, DevicesAreThoseOfTheSpecInItsOrder) {
  BuiltLab built(lab());
  ASSERT_EQ(built.fabric().size(), 4u);
  for (std::uint32_t d = 0; d < 4; ++d) {
    EXPECT_EQ(built.fabric()[DeviceId{d}].name(), built.spec().nodes[d].name);
    EXPECT_EQ(built.is_switch(DeviceId{d}), d < 2);
  }
  EXPECT_EQ(built.fabric().channels().size(), 6u);  // two for each link
  EXPECT_EQ(built.switch_named("leaf1").ports(), 5u);
  EXPECT_EQ(built.host("h2").ports(), 1u);
}

TEST(BuiltLab, PortsAreFoundByTheirNames) {
  BuiltLab built(lab());
  const PortRef p = built.port({"leaf1", 5});
  EXPECT_EQ(built.node_of(p.device).name, "leaf1");
  EXPECT_EQ(p.port, PortIndex{4});
  EXPECT_EQ(built.rate(p), 400_Gbps);
  EXPECT_EQ(built.delay(p), 500_ns);
  EXPECT_EQ(built.mtu(p), 5000);
  EXPECT_EQ(built.peer_name(p), "leaf2:1");
  EXPECT_EQ(built.peer_name(built.port({"leaf2", 1})), "leaf1:5");
  EXPECT_EQ(built.delay(built.port({"h1", 1})), 10_ns);  // 2 m
}

TEST(BuiltLab, APortWithoutALinkHasNoRateAndNoPeer) {
  BuiltLab built(lab());
  const PortRef p = built.port({"leaf1", 3});
  EXPECT_EQ(built.rate(p), BitRate{});
  EXPECT_EQ(built.mtu(p), 0);
  EXPECT_EQ(built.peer_name(p), "");
}

TEST(BuiltLab, WhatIsNotThereIsNamed) {
  BuiltLab built(lab());
  const auto error = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const std::out_of_range& e) {
      return e.what();
    }
    return "(no error)";
  };
  EXPECT_EQ(error([&] { built.port({"leaf3", 1}); }), "there is no node 'leaf3'");
  EXPECT_EQ(error([&] { built.port({"leaf1", 6}); }), "leaf1 has no port 6; expected 1..5");
  EXPECT_EQ(error([&] { built.port({"h1", 0}); }), "h1 has no port 0; expected 1..1");
  EXPECT_EQ(error([&] { built.host("h3"); }), "there is no node 'h3'");
}

TEST(BuiltLab, TheWindowIsThatOfTheShortestWay) {
  // 10 ns of cable and 600 ns in the receiver, from h1 to leaf1 or back.
  BuiltLab built(lab());
  EXPECT_EQ(built.fabric().window().size, 610_ns);
}

TEST(BuiltFlow, SaysWhatItsTrafficSays) {
  BuiltLab built(
      lab("flows: 3, dscp: 10, ecn: false, payload: 1KiB, rate: 5Gbps, bytes: 1MiB, start: 2us, stagger: 3us"));
  ASSERT_EQ(built.flows().size(), 3u);
  const TxFlowConfig& c = built.flows()[2].config();
  EXPECT_EQ(c.id, 3u);
  EXPECT_EQ(c.dscp, 10);
  EXPECT_FALSE(c.ect);
  EXPECT_EQ(c.payload, 1024u);
  EXPECT_EQ(c.rate, 5_Gbps);
  EXPECT_EQ(c.total, 1024_KiB);
  // 2 us and twice 3 us, and the phase of the NIC's clock.
  EXPECT_EQ(c.start, Instant{} + 8_us + NicClocks(built.spec()).phase({"h1", 1}, 1024));
  EXPECT_EQ(c.stop, Instant::never());
  EXPECT_EQ(c.source, built.spec().find("h1")->nics[0].address_v4);
  EXPECT_EQ(c.destination, built.spec().find("h2")->nics[0].address_v4);
  EXPECT_EQ(c.source_mac, built.spec().find("h1")->nics[0].mac);
}

TEST(BuiltFlow, HasBothItsEnds) {
  BuiltLab built(lab("bytes: 1MiB"));
  const Flow& f = built.flows()[0];
  ASSERT_NE(f.sender, nullptr);
  ASSERT_NE(f.receiver, nullptr);
  EXPECT_NE(f.sender, f.receiver);
  EXPECT_EQ(f.sent().packets, 0u);
  EXPECT_EQ(f.received().packets, 0u);
}

TEST(BuiltFlow, IsInTheClassOfItsDscpUnlessItSaysOne) {
  EXPECT_EQ(BuiltLab(lab("bytes: 1MiB, dscp: 26")).flows()[0].priority, Priority{3});
  EXPECT_EQ(BuiltLab(lab("bytes: 1MiB, dscp: 26", {"qos.default.dscp={ 26: 5 }"})).flows()[0].priority, Priority{5});
  EXPECT_EQ(BuiltLab(lab("bytes: 1MiB, dscp: 26, class: 1")).flows()[0].priority, Priority{1});
}

TEST(BuiltFlow, GoesToTheMacAddressOfTheNextHop) {
  BuiltLab built(lab("bytes: 1MiB"));
  EXPECT_EQ(built.flows()[0].config().next_hop_mac, spec::automatic_mac(0, 1));  // leaf1:1
  BuiltLab back_to_back(spec::parse(R"(name: two
nodes: { h1: { kind: host }, h2: { kind: host, mac: 02:00:00:00:00:77 } }
links: [[h1:1, h2:1]]
traffic: [ { name: t, from: h1, to: h2, bytes: 1MiB } ]
)",
                                    "two.yaml"));
  EXPECT_EQ(to_string(back_to_back.flows()[0].config().next_hop_mac), "02:00:00:00:00:77");
}

TEST(BuiltFlow, StopsWithTheRunOrEarlier) {
  EXPECT_EQ(BuiltLab(lab("bytes: 1MiB", {"run.duration=1ms"})).flows()[0].config().stop, Instant{} + 1_ms);
  EXPECT_EQ(BuiltLab(lab("stop: 300us", {"run.duration=1ms"})).flows()[0].config().stop, Instant{} + 300_us);
  EXPECT_EQ(BuiltLab(lab("stop: 3ms", {"run.duration=1ms"})).flows()[0].config().stop, Instant{} + 1_ms);
}

TEST(BuiltFlow, ParallelOnesDifferInTheirUdpPortsAsTheSeedWants) {
  const auto ports = [](const std::vector<std::string>& overrides) {
    std::vector<std::uint16_t> out;
    const BuiltLab built(lab("bytes: 1MiB, flows: 32", overrides));
    for (const Flow& f : built.flows()) out.push_back(f.config().source_port);
    return out;
  };
  const auto first = ports({});
  EXPECT_GE(std::set(first.begin(), first.end()).size(), 31u);
  for (const std::uint16_t p : first) EXPECT_GE(p, 0xC000);  // the range that RoCEv2 takes entropy from
  EXPECT_EQ(ports({}), first);
  EXPECT_NE(ports({"run.seed=2"}), first);
}

TEST(BuiltFlow, OverIpv6HasItsAddresses) {
  BuiltLab built(lab("bytes: 1MiB, ip: 6"));
  EXPECT_EQ(built.flows()[0].config().destination, built.spec().find("h2")->nics[0].address_v6);
}

TEST(BuiltSwitch, HasTheBufferOfItsProfile) {
  BuiltLab built(lab("", {"switches.default={ buffer: 8MiB, cell: 128B }"}));
  EXPECT_EQ(built.switch_named("leaf1").mmu().cell(), 128_B);
  EXPECT_EQ(built.switch_named("leaf1").mmu().total(), 8u * 1024 * 1024 / 128);
}

TEST(BuiltSwitch, WhoseBufferIsTooSmallForWhatIsSetAsideIsAnErrorOfThatNode) {
  try {
    BuiltLab built(lab("", {"switches.default.buffer=256KiB"}));
    FAIL() << "accepted";
  } catch (const spec::SpecError& e) {
    EXPECT_THAT(e.what(), HasSubstr("line.yaml:2:"));
    EXPECT_THAT(e.what(), HasSubstr("switch leaf1: buffer: the buffer of 262144 octets is too small"));
  }
}

}  // namespace
}  // namespace railyard::build
