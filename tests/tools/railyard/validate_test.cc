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
  const auto r = of(kOk, {"--only", "bandwidth-alone,mtu,classes,racks,latency-idle,soak,scale"});
  for (const auto& l : r["lines"]) EXPECT_TRUE(l["answer"] == "pass" || l["answer"] == "report") << l;
  EXPECT_THAT(line(r, "bandwidth-alone")["found"].get<std::string>(), HasSubstr("of 12 pairs"));
  EXPECT_THAT(line(r, "latency-idle")["evidence"][0].get<std::string>(), HasSubstr("10,0"));
}

// Lost packets wait for the timeout of RoCE, 67 ms by default: that is seven times the time of these messages.
TEST_F(Validate, AFailoverThatTakesLongWarnsAndAShortTimeoutHelps) {
  const auto slow = line(of(kOk, {"--only", "failover"}), "failover");
  EXPECT_EQ(slow["answer"], "warn");
  EXPECT_THAT(slow["remedy"].get<std::string>(), HasSubstr("shorter timeouts of the transport"));
  const auto quick = line(of(kOk, {"--only", "failover", "--set", "hosts.default.roce.ack-timeout=8"}), "failover");
  EXPECT_EQ(quick["answer"], "pass") << quick;
  EXPECT_THAT(quick["found"].get<std::string>(), testing::Not(HasSubstr("0 packets lost")));
}

// The soak of a file is twenty runs with seeds of their own, unless it is said otherwise.
TEST_F(Validate, TheSoakOfAFileIsTwentyRuns) {
  const auto r = of(kOk, {"--only", "soak"});
  EXPECT_THAT(line(r, "soak")["found"].get<std::string>(),
              testing::AllOf(HasSubstr("in 100 ms of simulated time"), HasSubstr("(20 runs, each with a seed of its own)")));
  EXPECT_THAT(line(of(kOk, {"--only", "soak", "--soak", "2ms"}), "soak")["found"].get<std::string>(),
              testing::AllOf(HasSubstr("in 2 ms of"), testing::Not(HasSubstr("runs"))));
}

// Where hosts share one switch, links from them are all there are.
TEST_F(Validate, ClassesOfOneSwitchAreCounted) {
  write("one.yaml", "name: one\ntopology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 3 }\n");
  const Outcome o = railyard({"validate", "one.yaml", "--only", "classes", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("keeps its class on all 3 links into switches: 3 from NICs, 0 from switches"));
}

// Rails that nothing joins: a collective in which all send to all is not run, and says why; the other lines are.
TEST_F(Validate, ACollectiveThatAFabricCannotHaveIsNotRun) {
  write("rails.yaml", "name: rails\ntopology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 0, hosts-per-group: 3 }\n");
  const Outcome o = railyard({"validate", "rails.yaml", "--only", "all-to-all,mtu", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto r = nlohmann::json::parse(o.out);
  EXPECT_EQ(line(r, "all-to-all")["answer"], "not run");
  EXPECT_THAT(line(r, "all-to-all")["found"].get<std::string>(), HasSubstr("their NICs are not connected"));
  EXPECT_EQ(line(r, "mtu")["answer"], "pass");
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
