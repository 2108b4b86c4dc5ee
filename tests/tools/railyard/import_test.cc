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
  write("lab.clab.yml", "name: x\ntopology: { nodes: { a: {} } }\n");
  EXPECT_THAT(error(kUsage, {"import", "lab.clab.yml", "--qos-only"}),
              HasSubstr("--qos-only: found with a file of containerlab; expected config_db.json of SONiC"));
  EXPECT_THAT(error(kUsage, {"import", "config_db.json", "other.json"}),
              HasSubstr("FILE: found 2 files; expected one, several of LLDP, or two of ASTRA-sim"));
}

}  // namespace
}  // namespace railyard::tools
