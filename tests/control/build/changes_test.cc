// What can become something else while a lab is up, and what is refused.
#include "control/build/changes.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::build {
namespace {

using namespace literals;
using testing::HasSubstr;

const std::string kLab = R"(name: x
switches: { default: {}, fast: { mode: cut-through } }
nodes: { leaf1: { kind: switch }, spine1: { kind: switch, profile: fast }, h1: { kind: host }, h2: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [leaf1:3, spine1:1]]
traffic: [ { name: t, from: h1, to: h2, rate: 10Gbps } ]
run: { duration: 1ms }
)";

spec::Lab lab(const std::vector<std::string>& overrides = {}) { return spec::parse(kLab, "x.yaml", overrides); }

// What is said when `overrides` are set over `before`; the running lab's window unless another is given.
std::string error_of(const std::vector<std::string>& overrides, std::vector<std::string> before = {}) {
  const BuiltLab running(lab(before));
  before.insert(before.end(), overrides.begin(), overrides.end());
  try {
    Changes(running, lab(before), running.fabric().window().size);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Changes, WhatDevicesCanDoIsAccepted) {
  EXPECT_EQ(error_of({}), "");
  EXPECT_EQ(error_of({"qos.default.classes.3={ lossless: true, xoff: 64KiB, ecn: auto, weight: 7, path: spray }",
                      "links.h1:1.rate=10Gbps", "traffic.t.rate=5Gbps", "switches.fast.ecmp.seed=3"}),
            "");
}

TEST(Changes, ALabWithATrunkToAnotherMachineIsChangedToo) {
  spec::Lab before = spec::parse(R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, to-b: { kind: trunk, udp: { local: "127.0.0.1:4801", remote: "127.0.0.1:4802" }, networks: [10.2.0.0/24] } }
links: [[h1:1, leaf1:1], [leaf1:2, to-b:1]]
run: { clock: wall }
)", "x.yaml", {});
  const BuiltLab running(before);
  spec::Lab after = before;
  after.qos.at("default").classes[3].weight = 7;
  EXPECT_NO_THROW(Changes(running, after, running.fabric().window().size));
}

TEST(Changes, WhatNeedsANewLabIsNamed) {
  constexpr const char* kDownAndUp = " cannot change in a running lab; stop the lab and start it with the new value";
  const std::vector<std::pair<std::string, std::string>> refused{
      {"run.seed=2", "run.seed (1 -> 2)"},
      {"qos.default.classes.3.lossless=false", "qos.default.classes.3.lossless (true -> false)"},
      {"qos.default.classes.3.headroom=1MiB", "qos.default.classes.3.headroom (auto -> 1MiB)"},
      {"qos.default.classes.3.reserved=1KiB", "qos.default.classes.3.reserved (0 -> 1KiB)"},
      {"switches.default.cell=512B", "switches.default.cell (256B -> 512B)"},
      {"links.h1:1.mtu=5000", "links.h1:1.mtu (9216 -> 5000)"},
      {"traffic.t.payload=512B", "traffic.t.payload (4KiB -> 512B)"},
      {"traffic=", "traffic (1 of them -> 0 of them)"},
  };
  for (const auto& [assignment, named] : refused)
    EXPECT_THAT(error_of({assignment}), HasSubstr(kDownAndUp)) << assignment;
  for (const auto& [assignment, named] : refused) EXPECT_EQ(error_of({assignment}), named + kDownAndUp);
}

TEST(Changes, WhatTheFileRefusesIsRefused) {
  EXPECT_THAT(error_of({"links.h1:1.rate=400Gbps"}, {"qos.default.classes.3.headroom=160KiB"}),
              HasSubstr("headroom of lossless class 3 is 160KiB, but the link needs "));
  EXPECT_THAT(error_of({"links.h1:1.rate=400Gbps"}, {"switches.default.buffer=500KB"}), HasSubstr("too small"));
}

TEST(Changes, LinksOfASwitchThatCutsThroughKeepTheirRate) {
  EXPECT_THAT(error_of({"links.leaf1:3.rate=400Gbps"}),
              HasSubstr("links.leaf1:3.rate cannot change in a running lab: spine1 uses cut-through"));
}

// The standard's response to a pause frame is shorter at 800 Gb/s (579 ns) than the latency that the window rests on.
TEST(Changes, ARateThatNeedsAShorterWindowIsRefused) {
  EXPECT_THAT(error_of({"links.h1:1.rate=800Gbps"}), HasSubstr("needs a window of "));
  EXPECT_EQ(error_of({"links.h1:1.rate=400Gbps"}), "");
}

TEST(Changes, AllIsGivenAtOneInstantAndTheSpecFollows) {
  BuiltLab running(lab());
  Changes changes(running, lab({"qos.default.classes.3.ecn.kmin=100KB", "links.h1:1.rate=25Gbps"}), 1_ns);
  ASSERT_EQ(changes.differences().size(), 3u) << "kmin and kmax, which were by the rate of the port; the link";
  EXPECT_EQ(running.spec(), lab()) << "not before it is given";
  changes.give_to(running, Instant{} + 1_us);
  EXPECT_EQ(running.rate(running.port({"leaf1", 1})), 25_Gbps);
  EXPECT_EQ(running.spec().qos.at("default").classes[3].ecn.kmin, 100_KB);
  EXPECT_EQ(running.headrooms()[0].terms.rate, 25_Gbps);
  for (const auto& d : running.fabric().devices()) EXPECT_LE(d->next(), Instant{} + 1_us) << d->name();
}

// ---- Hosts that come and go -----------------------------------------------------------------------------------------

const std::string kWithGuests = R"(name: x
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host }
  h4: { kind: host, nics: [ { attach: { tap: t4 } }, {} ] }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3], [h4:1, leaf1:4], [h4:2, leaf1:5]]
traffic: [ { name: t, from: h1, to: h2, rate: 10Gbps } ]
run: { clock: wall }
)";

std::string attach_error(const std::vector<std::string>& overrides, const std::string& file = kWithGuests) {
  const BuiltLab running(spec::parse(file, "x.yaml"));
  try {
    Changes(running, spec::parse(file, "x.yaml", overrides), running.fabric().window().size);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Changes, AnotherHostBehindANicIsOneWithTheAddressThatItHas) {
  BuiltLab running(spec::parse(kWithGuests, "x.yaml"));
  const PortRef leaf = running.port({"leaf1", 3});
  const auto known = [&] { return running.switch_named("leaf1").config().ports[leaf.port.index()].peer_mac; };
  ASSERT_TRUE(known().has_value());
  Changes changes(running, spec::parse(kWithGuests, "x.yaml", {"nodes.h3.attach={ netdev: eth9 }"}), 1_ns);
  ASSERT_EQ(changes.attachments().size(), 1u);
  EXPECT_EQ(changes.attachments()[0].nic, (spec::PortName{"h3", 1}));
  EXPECT_EQ(changes.attachments()[0].from, spec::Attachment{});
  EXPECT_EQ(changes.attachments()[0].to, spec::Attachment{spec::AttachNetdev{"eth9"}});
  changes.give_to(running, Instant{} + 1_us);
  EXPECT_EQ(running.spec().find("h3")->nics[0].attach, spec::Attachment{spec::AttachNetdev{"eth9"}});
}

TEST(Changes, OneNicOfSeveralGetsAnotherHost) {
  EXPECT_EQ(attach_error({"nodes.h4.nics.0.attach="}), "");
  EXPECT_EQ(attach_error({"nodes.h4.nics.1.attach={ tap: t5 }"}), "");
}

TEST(Changes, AHostWithBuiltInTrafficStaysWhatItIs) {
  EXPECT_EQ(attach_error({"nodes.h2.attach={ tap: t2 }"}),
            "h1:1 has built-in traffic (t); expected a host without `traffic`");
  std::string everybody = kWithGuests;
  everybody.replace(everybody.find("from: h1, to: h2"), 16, "pattern: permutation, from: \"h[14]\"");
  EXPECT_THAT(attach_error({"nodes.h3.attach={ tap: t3 }"}), "");
}

TEST(Changes, MachinesAndCapturesComeAndGoWithTheLab) {
  EXPECT_EQ(attach_error({"nodes.h3.attach=vm"}),
            "h3:1: a virtual machine cannot be changed in a running lab; stop the lab and start it with another "
            "`attach`");
  EXPECT_THAT(attach_error({"nodes.h3.attach={ pcap: { out: x.pcap } }"}),
              HasSubstr("a capture file cannot be changed in a running lab"));
}

TEST(Changes, WhatElseIsDifferentAtThatHostIsRefused) {
  EXPECT_THAT(attach_error({"nodes.h3.attach={ tap: t3 }", "nodes.h3.address=10.77.0.1"}),
              HasSubstr("cannot change in a running lab"));
}

}  // namespace
}  // namespace railyard::build
