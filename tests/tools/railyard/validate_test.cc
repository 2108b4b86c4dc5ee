// railyard validate: a healthy fabric passes, and each thing that is wrong fails its own line.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

// Two leaves, two spines, four hosts; nothing is oversubscribed.
constexpr const char* kClos = R"(
name: clos
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
defaults: { link: { rate: 100Gbps, cable: 10m } }
switches: { default: { buffer: 16MiB } }
routing: { protocol: bgp }
)";

class Validate : public CommandLine {
 protected:
  Validate() { write("clos.yaml", kClos); }
  nlohmann::json of(int exit_code, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"validate", "clos.yaml"});
    arguments.emplace_back("--json");
    const Outcome o = railyard(arguments);
    EXPECT_EQ(o.exit_code, exit_code) << o.err << o.out;
    return nlohmann::json::parse(o.out);
  }
  static nlohmann::json line(const nlohmann::json& result, const std::string& id) {
    for (const auto& l : result["lines"])
      if (l["id"] == id) return l;
    ADD_FAILURE() << "no " << id;
    return {};
  }
};

TEST_F(Validate, AHealthyFabricPassesItsPairsAlone) {
  const auto r = of(kOk, {"--only", "bandwidth-alone,mtu,classes,racks,latency-idle,failover,soak,scale"});
  for (const auto& l : r["lines"]) EXPECT_TRUE(l["answer"] == "pass" || l["answer"] == "report") << l;
  EXPECT_THAT(line(r, "bandwidth-alone")["found"].get<std::string>(), HasSubstr("of 12 pairs"));
  EXPECT_THAT(line(r, "latency-idle")["evidence"][0].get<std::string>(), HasSubstr("10,0"));
}

TEST_F(Validate, ASlowLinkIsFoundByItsPairs) {
  const auto r =
      of(kMissed, {"--only", "bandwidth-alone,bandwidth-together", "--set", "faults=[{ on: 'h3:1', rate: 60% }]"});
  const auto l = line(r, "bandwidth-alone");
  EXPECT_EQ(l["answer"], "fail");
  EXPECT_THAT(l["evidence"][0].get<std::string>(), HasSubstr("h3"));
}

TEST_F(Validate, AnMtuThatIsTooSmallIsNamedWithItsPort) {
  const auto r = of(kMissed, {"--only", "mtu", "--set", "faults=[{ on: 'leaf1:1', mtu: 1500 }]"});
  const auto l = line(r, "mtu");
  EXPECT_EQ(l["answer"], "fail");
  EXPECT_EQ(l["evidence"][0], "all 6 pairs that failed are from or to h1");
  EXPECT_THAT(l["evidence"].dump(), HasSubstr("leaf1:1: giant"));
}

TEST_F(Validate, ADeviceThatRewritesDscpIsTheFirstWrongHop) {
  const auto r = of(kMissed, {"--only", "classes", "--set", "faults=[{ on: 'spine1:1', dscp-map: { 26: 0 } }]"});
  const auto l = line(r, "classes");
  EXPECT_EQ(l["answer"], "fail");
  EXPECT_THAT(l["found"].get<std::string>(), HasSubstr("leaf1:"));
  EXPECT_THAT(l["found"].get<std::string>(), HasSubstr("class 0"));
}

TEST_F(Validate, PfcBeforeEcnFails) {
  const auto r = of(
      kMissed, {"--only", "ecn-before-pfc", "--set", "qos.default.classes.3.ecn={ kmin: 4MB, kmax: 8MB, pmax: 20% }"});
  EXPECT_EQ(line(r, "ecn-before-pfc")["answer"], "fail");
}

TEST_F(Validate, ALostPacketFails) {
  const auto r = of(kMissed, {"--only", "loss", "--set", "faults=[{ on: 'leaf1:1', loss: 0.1% }]"});
  EXPECT_EQ(line(r, "loss")["answer"], "fail");
}

TEST_F(Validate, ProbesThatAreKeptRunAgain) {
  const auto r = of(kMissed, {"--only", "mtu", "--keep", "probes", "--set", "faults=[{ on: 'leaf1:1', mtu: 1500 }]"});
  EXPECT_EQ(line(r, "mtu")["probes"][0], "probes/pairs-alone.yaml");
  EXPECT_THAT(railyard({"run", "probes/pairs-alone.yaml", "-q"}).out, HasSubstr("too_big"));
}

TEST_F(Validate, ReportsAreWritten) {
  const Outcome o = railyard(
      {"validate", "clos.yaml", "--only", "scale,mtu", "--html", "a.html", "--junit", "a.xml", "--planned-gpus", "64"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("2 lines: 1 pass, 1 warn. Result: warn"));
  EXPECT_THAT(read("a.html"), HasSubstr("Acceptance of clos: warn"));
  EXPECT_THAT(read("a.xml"), HasSubstr("<testcase classname=\"acceptance\" name=\"mtu\""));
  EXPECT_EQ(railyard({"validate", "clos.yaml", "--only", "scale", "--planned-gpus", "64", "--strict"}).exit_code,
            kMissed);
}

TEST_F(Validate, BadInputIsOneLine) {
  EXPECT_THAT(error(kUsage, {"validate", "clos.yaml", "--only", "bandwith"}),
              HasSubstr("--only: 'bandwith' is no line of the list"));
  EXPECT_THAT(error(kUsage, {"validate", "clos.yaml", "--bandwidth", "0"}), HasSubstr("--bandwidth: 0"));
  EXPECT_THAT(error(kUsage, {"validate", "clos.yaml", "--p99", "10"}), HasSubstr("--p99"));
  EXPECT_THAT(error(kInput, {"validate", "none.yaml"}), HasSubstr("none.yaml"));
  write("one.yaml", "name: one\nnodes: { h1: { kind: host }, s1: { kind: switch } }\nlinks: [[h1:1, s1:1]]\n");
  EXPECT_THAT(error(kInput, {"validate", "one.yaml"}), HasSubstr("no two hosts"));
}

}  // namespace
}  // namespace railyard::tools
