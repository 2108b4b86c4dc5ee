// The lab of one site: trunks in the place of links that cross, and what lies within the site.
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/sites/placement.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::sites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

//  a: leaf1 with h1     b: spine1, leaf2 with h2      leaf1:2 - spine1:1, leaf2:2 - spine1:2
spec::Lab lab_with(const std::string& more = "", const std::string& link = "", const std::string& trunks = "delay: 1ms",
                   const std::string& a = "", const std::string& b = "") {
  return spec::parse(
      "name: x\nnodes:\n  leaf1: { kind: switch }\n  leaf2: { kind: switch }\n  spine1: { kind: switch }\n"
      "  h1: { kind: host }\n  h2: { kind: host }\n"
      "links: [[h1:1, leaf1:1], [h2:1, leaf2:1], [leaf1:2, spine1:1" +
          link + "], [leaf2:2, spine1:2]]\nsites:\n  a: { address: 192.0.2.1, nodes: leaf1" + a +
          " }\n  b: { address: 192.0.2.2, nodes: [leaf2, spine1]" + b + " }\ntrunks: { " + trunks +
          " }\nrun: { clock: wall }\n" + more,
      "x.yaml");
}

std::string refusal(const std::function<spec::Lab()>& lab, const std::string& site = "a") {
  try {
    part_of(lab(), site);
  } catch (const spec::SpecError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> names(const spec::Lab& lab) {
  std::vector<std::string> out;
  for (const spec::NodeSpec& n : lab.nodes) out.push_back(n.name);
  return out;
}

TEST(Part, HasATrunkForEachLinkThatCrosses) {
  const spec::Lab whole = lab_with();
  const spec::Lab a = part_of(whole, "a");
  const spec::Lab b = part_of(whole, "b");
  EXPECT_THAT(names(a), ElementsAre("leaf1", "h1", "to-spine1-1"));
  EXPECT_THAT(names(b), ElementsAre("leaf2", "spine1", "h2", "to-leaf1-2"));
  const spec::TrunkSpec& from_a = a.find("to-spine1-1")->trunk;
  const spec::TrunkSpec& from_b = b.find("to-leaf1-2")->trunk;
  EXPECT_EQ(to_string(from_a.udp->local), "192.0.2.1:4800");
  EXPECT_EQ(to_string(from_a.udp->remote), "192.0.2.2:4800");
  EXPECT_EQ(from_a.udp->local, from_b.udp->remote);
  EXPECT_EQ(from_a.udp->remote, from_b.udp->local);
  EXPECT_EQ(a.links.size(), 2u);
  EXPECT_EQ(a.links[1].a, (spec::PortName{"leaf1", 2})) << "ports keep their numbers";
  EXPECT_EQ(a.links[1].delay, Duration{1'000'000'000});
  EXPECT_EQ(b.links[1].delay, a.links[1].delay) << "both model the same link";
}

TEST(Part, KeepsAddressesAndMacs) {
  const spec::Lab whole = lab_with();
  const spec::Lab b = part_of(whole, "b");
  EXPECT_EQ(b.find("h2")->nics[0], whole.find("h2")->nics[0]);
  EXPECT_EQ(b.find("spine1")->loopback_v4, whole.find("spine1")->loopback_v4);
}

TEST(Part, LongerDelaysStay) {
  const spec::Lab a = part_of(lab_with("", ", { delay: 5ms }"), "a");
  EXPECT_EQ(a.links[1].delay, Duration{5'000'000'000});
}

TEST(Part, PortsOfTheMachinesCarryTrunksBeforeUdp) {
  const std::string ports_a = ", ports: { b: [{ netdev: eth1 }] }";
  const std::string ports_b = ", ports: { a: [{ dpdk: \"0000:3b:00.0\" }] }";
  const spec::Lab whole = lab_with("", "", "delay: 1ms", ports_a, ports_b);
  EXPECT_EQ(part_of(whole, "a").find("to-spine1-1")->trunk.attach, spec::Attachment(spec::AttachNetdev{"eth1"}));
  EXPECT_EQ(part_of(whole, "b").find("to-leaf1-2")->trunk.attach, spec::Attachment(spec::AttachDpdk{"0000:3b:00.0"}));
}

TEST(Part, TrafficAndFaultsStayAtTheirSite) {
  const std::string more =
      "faults: [{ name: f1, on: \"leaf*:2\", at: 1ms, for: 1ms, down: true }, { name: f2, on: h2, at: 1ms, for: 1ms, down: true }]\n";
  const spec::Lab whole = lab_with(more);
  const spec::Lab a = part_of(whole, "a");
  const spec::Lab b = part_of(whole, "b");
  ASSERT_EQ(a.faults.size(), 1u);
  EXPECT_EQ(a.faults[0].name, "f1");
  EXPECT_EQ(b.faults.size(), 2u);
}

TEST(Part, WhatCannotCrossIsRefused) {
  EXPECT_THAT(refusal([] { return lab_with("", ", { delay: 0 }", "timeout: 1s"); }),
              AllOf(HasSubstr("link leaf1:2 to spine1:1 crosses from site a to site b, and has no delay"),
                    HasSubstr("trunks: { delay: 1ms }")));
  EXPECT_THAT(refusal([] { return lab_with("traffic: [{ name: t, from: h1, to: h2, bytes: 1MB }]\n"); }),
              HasSubstr("traffic t has h1 at site a and h2 at site b, and built-in traffic cannot cross sites"));
  EXPECT_THAT(refusal([] { return lab_with("", ", { llr: { } }"); }), HasSubstr("has llr"));
  EXPECT_THAT(refusal([] { return lab_with("", "", "delay: 1ms, timeout: 1s", ", port: 65535", ""); }), "");
}

TEST(Part, TwoSitesOfOneMachineNeedOtherPorts) {
  const auto same = [](const std::string& port) {
    return spec::parse(
        "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n"
        "sites: { a: { address: 127.0.0.1, nodes: leaf1 }, b: { address: 127.0.0.1, nodes: [leaf2, spine1]" + port +
            " } }\ntrunks: { delay: 1ms }\n",
        "x.yaml");
  };
  EXPECT_THAT(refusal([&] { return same(""); }), HasSubstr("sites a and b both need 127.0.0.1:4800"));
  EXPECT_THAT(refusal([&] { return same(", port: 4900"); }), "");
}

}  // namespace
}  // namespace railyard::sites
