// railyard doctor: a lab or a report in, causes out.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class Doctor : public CommandLine {
 protected:
  Doctor() {
    write("sick.yaml",
          "name: sick\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
          "traffic: [{ name: t, from: h1, to: h2, transport: roce }]\n"
          "faults: [{ on: \"h1:1 out\", bit-errors: 1e-6 }]\nrun: { duration: 500us }\n");
  }
};

TEST_F(Doctor, ALabIsRunAndAReportIsRead) {
  const Outcome lab = railyard({"doctor", "sick.yaml"});
  EXPECT_EQ(lab.exit_code, kOk) << lab.err;
  EXPECT_THAT(lab.out, HasSubstr("1. frame-errors at leaf1:1-h1:1 (97 % sure)"));
  EXPECT_THAT(lab.out, HasSubstr("What to do: Clean or replace"));
  write("report.json", railyard({"run", "sick.yaml", "--json"}).out);
  EXPECT_EQ(railyard({"doctor", "report.json"}).out, lab.out);
  const auto json = nlohmann::json::parse(railyard({"doctor", "report.json", "--json"}).out);
  EXPECT_EQ(json["findings"][0]["rule"], "frame-errors");
  EXPECT_EQ(json["findings"][0]["element"], "leaf1:1-h1:1");
}

TEST_F(Doctor, ALabWithoutAnIncidentHasNoFinding) {
  EXPECT_THAT(railyard({"doctor", "sick.yaml", "--set", "faults=[]"}).out, HasSubstr("sick: nothing found."));
}

// What only polling shows.
TEST_F(Doctor, ASlowLinkAndAFlappingOneAreToldApart) {
  const std::string fabric =
      "topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }\n"
      "traffic: [{ name: t, from: [h1, h2], to: [h2, h3], transport: roce }]\nrun: { duration: 1ms }\n";
  write("slow.yaml", "name: slow\n" + fabric + "faults: [{ on: leaf1:2, rate: 1/4 }]\n");
  EXPECT_THAT(railyard({"doctor", "slow.yaml"}).out, HasSubstr("1. slow-link at leaf1:2-h2:1"));
  write("flap.yaml", "name: flap\n" + fabric + "faults: [{ on: h2, at: 200us, flap: { down: 50us, up: 100us } }]\n");
  EXPECT_THAT(railyard({"doctor", "flap.yaml"}).out, HasSubstr("1. link-flapping at leaf1:2-h2:1"));
}

TEST_F(Doctor, ARunSaysWhatIsLikelyAndNothingIfItIsHealthy) {
  EXPECT_THAT(railyard({"run", "sick.yaml"}).out, HasSubstr("  frame-errors at leaf1:1-h1:1 (97 % sure)"));
  EXPECT_THAT(railyard({"run", "sick.yaml", "--set", "faults=[]"}).out, testing::Not(HasSubstr("Likely causes")));
}

TEST_F(Doctor, CountersOfRealDevices) {
  write("h1.txt", "NIC statistics:\n     rx_crc_errors_phy: 31\n");
  const Outcome host = railyard({"doctor", "--from", "h1.txt"});
  EXPECT_EQ(host.exit_code, kOk) << host.err;
  EXPECT_THAT(host.out, HasSubstr("1. frame-errors at h1:1"));
  EXPECT_THAT(host.out, HasSubstr("Not looked at, for lack of:"));
}

TEST_F(Doctor, ACaptureShowsMarksWithoutCnps) {
  write("deaf.yaml",
        "name: deaf\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 4 }\n"
        "hosts: { default: { roce: { congestion: none } } }\n"
        "traffic: [{ name: t, pattern: incast, from: [h1, h2, h3], to: h4, transport: roce }]\nrun: { duration: 500us }\n");
  railyard({"run", "deaf.yaml", "--quiet", "--capture", "leaf1:4=deaf.pcapng"});
  EXPECT_THAT(railyard({"doctor", "deaf.pcapng"}).out, HasSubstr("ecn-not-echoed at 10."));
}

// A plan is a fabric file: of a host at the wrong leaf and a link at half its speed no counter tells.
TEST_F(Doctor, CablesAndSpeedsAreComparedWithAPlan) {
  const std::string nodes =
      "nodes: { leaf1: { kind: switch }, leaf2: { kind: switch }, h1: { kind: host }, h2: { kind: host } }\n"
      "defaults: { link: { rate: 100Gbps } }\ntraffic: [{ name: t, from: h1, to: h2, transport: roce }]\nrun: { duration: 50us }\n";
  write("plan.yaml", "name: plan\n" + nodes + "links: [[h1:1, leaf1:1], [h2:1, leaf2:1], [leaf1:9, leaf2:9]]\n");
  write("lab.yaml", "name: lab\n" + nodes + "links: [[h1:1, leaf1:1, { rate: 50Gbps }], [h2:1, leaf1:2], [leaf1:9, leaf2:9]]\n");
  const Outcome lab = railyard({"doctor", "lab.yaml", "--plan", "plan.yaml"});
  EXPECT_EQ(lab.exit_code, kOk) << lab.err;
  EXPECT_THAT(lab.out, HasSubstr("wrong-switch at leaf1:2-h2:1"));
  EXPECT_THAT(lab.out, HasSubstr("leaf1:1-h1:1 has 50 Gb/s; the plan has 100 Gb/s"));
  EXPECT_THAT(railyard({"doctor", "plan.yaml", "--plan", "plan.yaml"}).out, HasSubstr("plan: nothing found."));
  EXPECT_THAT(error(kUsage, {"doctor", "--from", "h1.txt", "--plan", "plan.yaml"}), HasSubstr("--plan"));
}

TEST_F(Doctor, InBandTelemetryShowsTheHopThatDelays) {
  write("detour.yaml",
        "name: detour\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
        "traffic: [{ name: t, pattern: pairs, from: [h1, h2], to: [h3, h4], transport: roce, qps: 4, rate: 10Gbps }]\n"
        "faults: [{ on: \"leaf1:3 out\", delay: 40us }]\nrun: { duration: 1ms, int: { one-in: 10 } }\n");
  EXPECT_THAT(railyard({"doctor", "detour.yaml"}).out, HasSubstr("hop-delay at leaf1:3-spine1:1"));
}

TEST_F(Doctor, BadInputIsOneLine) {
  EXPECT_THAT(error(kInput, {"doctor", "none.json"}), HasSubstr("none.json"));
  EXPECT_THAT(error(kInput, {"doctor", "none.yaml"}), HasSubstr("none.yaml"));
  write("other.json", "{\"flows\": [], \"run\": {}}");
  EXPECT_THAT(error(kInput, {"doctor", "other.json"}), HasSubstr("other.json"));
  EXPECT_THAT(error(kUsage, {"doctor", "other.json", "--set", "run.seed=2"}), HasSubstr("--set"));
  EXPECT_THAT(error(kUsage, {"doctor", "other.json", "--from", "h1.txt"}), HasSubstr("--from"));
  EXPECT_THAT(error(kInput, {"doctor", "--from", "none.txt"}), HasSubstr("none.txt"));
}

}  // namespace
}  // namespace railyard::tools
