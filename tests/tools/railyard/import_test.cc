// railyard import: a switch's configuration becomes a lab that check accepts and run runs.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using ImportCommand = CommandLine;

TEST_F(ImportCommand, OneCommandLaterTheIncastHasRun) {
  const Outcome imported = railyard({"import", topology("imports/sonic-t0.json"), "-o", "lab.yaml"});
  ASSERT_EQ(imported.exit_code, kOk) << imported.err;
  EXPECT_EQ(imported.out, "");
  const Outcome checked = railyard({"check", "lab.yaml"});
  EXPECT_EQ(checked.exit_code, kOk) << checked.out << checked.err;
  const Outcome ran = railyard({"run", "lab.yaml", "--json"});
  ASSERT_EQ(ran.exit_code, kOk) << ran.err;
  const auto report = nlohmann::json::parse(ran.out);
  EXPECT_EQ(report["flows"].size(), 32u);
}

// A leaf of Cumulus Linux, EOS and NX-OS each: senders are marked and paused, and the lossless class loses nothing.
TEST_F(ImportCommand, AnIncastThroughALeafOfAnotherSystemMarksAndLosesNothing) {
  for (const char* sample : {"imports/cumulus-leaf.yml", "imports/eos-leaf.cfg", "imports/nxos-leaf.cfg"}) {
    SCOPED_TRACE(sample);
    const Outcome imported = railyard({"import", topology(sample), "-o", "lab.yaml"});
    ASSERT_EQ(imported.exit_code, kOk) << imported.err;
    const Outcome checked = railyard({"check", "lab.yaml"});
    EXPECT_EQ(checked.exit_code, kOk) << checked.out << checked.err;
    const Outcome ran = railyard({"run", "lab.yaml", "--json", "--expect", "drops == 0", "--expect", "ecn_marked > 0",
                                  "--expect", "completed == 1"});
    ASSERT_EQ(ran.exit_code, kOk) << ran.err;
    EXPECT_EQ(nlohmann::json::parse(ran.out)["flows"].size(), 32u);
  }
}

TEST_F(ImportCommand, PrintsToStandardOutputWithoutAFile) {
  const Outcome whole =
      railyard({"import", topology("imports/sonic-t0.json"), "--lookup", topology("imports/pg_profile_lookup.ini")});
  ASSERT_EQ(whole.exit_code, kOk) << whole.err;
  EXPECT_THAT(whole.out,
              AllOf(HasSubstr("qos:"), HasSubstr("links:"), HasSubstr("BGP_NEIGHBOR|10.0.0.1: asn, name, local_addr")));
  const Outcome qos = railyard({"import", topology("imports/sonic-t0.json"), "--qos-only"});
  ASSERT_EQ(qos.exit_code, kOk) << qos.err;
  EXPECT_THAT(qos.out, AllOf(HasSubstr("qos:"), Not(HasSubstr("links:"))));
}

// The shipped samples of neighbours and of containerlab are the same fabric: two leaves, two spines, four hosts.
TEST_F(ImportCommand, TheSamplesOfLldpAndContainerlabComeUp) {
  for (const std::vector<std::string>& files : std::vector<std::vector<std::string>>{
           {"lldp/leaf1.json", "lldp/leaf2.json", "lldp/spine1.json", "lldp/spine2.json"},
           {"lldp/leaf1.json", "lldp/leaf2.json"},  // spines are known by what leaves see of them
           {"leaf-spine.clab.yml"}}) {
    std::vector<std::string> command{"import", "-o", "lab.yaml"};
    for (const std::string& f : files) command.push_back(topology("imports/" + f));
    const Outcome imported = railyard(command);
    ASSERT_EQ(imported.exit_code, kOk) << imported.err;
    const std::string lab = read("lab.yaml");
    for (const char* link : {"[h1:1, leaf1:1]", "[h4:1, leaf2:2]"}) EXPECT_THAT(lab, HasSubstr(link));
    EXPECT_THAT(lab, HasSubstr("spine2: { kind: switch }"));
    const Outcome ran =
        railyard({"run", "lab.yaml", "--json", "--set", "traffic=[{ name: t, from: h1, to: h4, transport: roce, bytes: 1MB }]",
                  "--expect", "completed == 1"});
    EXPECT_EQ(ran.exit_code, kOk) << ran.err;
  }
}

// A fabric without traffic is no fabric of a template: what the templates make runs at once.
TEST_F(ImportCommand, WhatSonicsTemplatesMakeRuns) {
  for (const char* sample : {"imports/sonic-templates-t0.json", "imports/sonic-templates-t1.json"}) {
    const Outcome imported = railyard({"import", topology(sample), "-o", "lab.yaml"});
    ASSERT_EQ(imported.exit_code, kOk) << imported.err;
    const Outcome ran = railyard({"run", "lab.yaml", "--json", "--expect", "drops == 0", "--expect", "completed == 1"});
    EXPECT_EQ(ran.exit_code, kOk) << sample << ran.err;
  }
}

TEST_F(ImportCommand, NeighboursOfSeveralSwitchesAreATopology) {
  const std::string format =
      R"({"lldp": {"interface": {"Ethernet0": {"chassis": {"PEER": {"capability": {"type": "Bridge", "enabled": true}}},
                               "port": {"id": {"type": "ifname", "value": "Ethernet0"}}}}}})";
  const auto of = [&](const std::string& peer) { return std::string(format).replace(format.find("PEER"), 4, peer); };
  write("leaf1.json", of("spine1"));
  write("spine1.json", of("leaf1"));
  const Outcome o = railyard({"import", "leaf1.json", "spine1.json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("- [leaf1:1, spine1:1]"));
}

TEST_F(ImportCommand, MistakesAreOneLine) {
  write("config_db.json", R"({"PORT": {"Ethernet0": {"speed": "7"}}})");
  EXPECT_THAT(error(kInput, {"import", "config_db.json"}),
              HasSubstr("config_db.json: PORT|Ethernet0: speed: found '7', expected one of 1000"));
  write("other.json", R"({"a": 1})");
  EXPECT_THAT(error(kInput, {"import", "other.json", "-o", "new.yaml"}),
              HasSubstr("other.json: found JSON with the keys a, expected SONiC's tables"));
  EXPECT_THAT(error(kInput, {"import", "none.json"}), HasSubstr("none.json"));
  write("leaf.cfg", "qos map dscp 99 to traffic-class 3\ninterface Ethernet1\n");
  EXPECT_THAT(error(kInput, {"import", "leaf.cfg"}),
              HasSubstr("leaf.cfg:1: found dscp '99', expected numbers, 0..63"));
  EXPECT_THAT(error(kUsage, {"import", "leaf.cfg", "--lookup", "config_db.json"}),
              HasSubstr("--lookup: found with a file of EOS; expected config_db.json of SONiC"));
  write("letter.txt", "Dear Sir or Madam\n");
  EXPECT_THAT(error(kInput, {"import", "letter.txt"}),
              HasSubstr("letter.txt: found none of the formats that import reads; expected config_db.json of SONiC"));
  write("nothing.cfg", "");
  EXPECT_THAT(error(kInput, {"import", "nothing.cfg"}), HasSubstr("nothing.cfg: found none of the formats"));
  write("lab.clab.yml", "name: x\ntopology: { nodes: { a: {} } }\n");
  EXPECT_THAT(error(kUsage, {"import", "lab.clab.yml", "--qos-only"}),
              HasSubstr("--qos-only: found with a file of containerlab; expected a configuration of a switch"));
  EXPECT_THAT(error(kUsage, {"import", "config_db.json", "other.json"}),
              HasSubstr("FILE: found 2 files; expected one, several of LLDP, or two of ASTRA-sim"));
}

}  // namespace
}  // namespace railyard::tools
