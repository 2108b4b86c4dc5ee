#include "control/spec/yaml/override.h"

#include <gtest/gtest.h>

#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using namespace railyard::literals;

const std::string kLab = R"(name: small
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
traffic:
  - { name: one, from: h1, to: h2, bytes: 1MiB }
  - { name: two, from: h2, to: h1, bytes: 1MiB }
)";

Lab with(const std::vector<std::string>& overrides) { return parse(kLab, "x.yaml", overrides); }
std::string error_with(const std::vector<std::string>& overrides) { return error_of(kLab, overrides); }

TEST(Override, ReplacesAValue) {
  EXPECT_EQ(with({"topology.leaves=4"}).nodes.size(), 4u + 2 + 8);
  EXPECT_EQ(with({"name=other"}).name, "other");
}

TEST(Override, OfALinkThatAPresetMadeSaysWhichKeysSetIt) {
  EXPECT_EQ(error_with({"links.leaf1:1.rate=50Gbps"}),
            "--set links.leaf1:1.rate=50Gbps: links: found a map; expected a list of links such as [h1:1, leaf1:1]; the "
            "links of a preset are set by its keys, such as topology.host-link.rate");
}

TEST(Override, MakesWhatIsNotThere) {
  EXPECT_EQ(with({"run.duration=1ms"}).run.duration, 1_ms);
  EXPECT_EQ(with({"defaults.link.rate=400Gbps"}).links[0].rate, 400_Gbps);
  EXPECT_EQ(with({"nodes.leaf1.loopback=10.1.1.1"}).nodes[0].loopback_v4, wire::IpAddress{0x0A010101u});
}

TEST(Override, StepsIntoListsByIndexAndByName) {
  EXPECT_EQ(with({"traffic.1.rate=50Gbps"}).traffic[1].rate, 50_Gbps);
  EXPECT_EQ(with({"traffic.two.rate=50Gbps"}).traffic[1].rate, 50_Gbps);
}

TEST(Override, FindsALinkByEitherEnd) {
  const std::string file =
      "name: x\nnodes: { s: { kind: switch }, h1: { kind: host }, h2: { kind: host } }\n"
      "links: [[h1:1, s:1], [s:2, h2:1, { rate: 25Gbps, cable: 1m }]]\n";
  const Lab lab = parse(file, "x.yaml", {"links.s:1.rate=10Gbps", "links.h2:1.rate=", "links.s:2.mtu=1500"});
  EXPECT_EQ(lab.links[0].rate, 10_Gbps);
  EXPECT_EQ(lab.links[1].rate, LinkSpec{}.rate);
  EXPECT_EQ(lab.links[1].mtu, 1500);
  EXPECT_EQ(lab.links[1].cable, Length{1000});
  EXPECT_EQ(parse(file, "x.yaml", {"links.1.2.rate=40Gbps"}).links[1].rate, 40_Gbps);
  EXPECT_EQ(error_of(file, {"links.s:3.rate=1Gbps"}),
            "--set links.s:3.rate=1Gbps: links: there is no element 's:3'; did you mean 's:1'? Known here: h1:1, s:1, "
            "s:2, h2:1");
  EXPECT_EQ(error_of(file, {"links.s:1.speed=1Gbps"}),
            "--set links.s:1.speed=1Gbps: links.0.2: unknown key 'speed'. Known here: rate, cable, delay, medium, mtu, bundle, weight, "
            "llr, framing");
}

TEST(Override, ReachesTheBuiltInQosProfile) {
  const TrafficClass c = with({"qos.default.classes.3.ecn.kmin=200KB"}).qos.at("default").classes[3];
  EXPECT_EQ(c.ecn.kmin, 200_KB);
  EXPECT_EQ(c.ecn.kmax, 800_KB) << "four times kmin, as by rate";
  EXPECT_TRUE(c.lossless);
  EXPECT_FALSE(with({"qos.default.classes.3.lossless=false"}).qos.at("default").classes[3].lossless);
}

TEST(Override, TakesYaml) {
  EXPECT_EQ(with({"traffic.0.to=[h3, h4]"}).traffic[0].to, (std::vector<std::string>{"h3", "h4"}));
  EXPECT_EQ(with({"topology.host-link={ rate: 25Gbps, mtu: 9000 }"}).links[0].mtu, 9000);
  EXPECT_EQ(with({"description=a = b"}).description, "a = b");
}

TEST(Override, WithoutAValueTakesAway) {
  EXPECT_EQ(with({"traffic.0="}).traffic[0].name, "two");
  EXPECT_EQ(with({"traffic="}).traffic.size(), 0u);
  EXPECT_EQ(with({"topology.spines=", "topology.oversubscription=1"}).nodes.size(), 2u + 2 + 4);
  EXPECT_EQ(error_with({"topology.spine="}), "--set topology.spine=: topology: there is no key 'spine' to remove");
}

TEST(Override, TheLastOneWins) { EXPECT_EQ(with({"run.seed=2", "run.seed=3"}).run.seed.value, 3u); }

TEST(Override, IsNamedInErrors) {
  EXPECT_EQ(error_with({"run.duration=1"}),
            "--set run.duration=1: run.duration: 1 has no unit; expected a duration such as 500ns, 1.5us or 10ms "
            "(units: ps, ns, us, ms, s)");
  EXPECT_EQ(
      error_with({"run={ durration: 1ms }"}),
      "--set run={ durration: 1ms }: run: unknown key 'durration'; did you mean 'duration'? Known here: clock, seed, "
      "duration, drain, scale, workers, payload, memory, deadlock, hugepages, lag-limit, polling, cores, int, budgets, gpu-hour, "
      "timeline, agents");
  EXPECT_EQ(error_with({"run={ seed: 1, seed: 2 }"}),
            "--set run={ seed: 1, seed: 2 }: run: key 'seed' is defined twice; the first is at --set run={ seed: 1, "
            "seed: 2 }");
  EXPECT_EQ(error_with({"run.duration=[1ms"}),
            "--set run.duration=[1ms: not YAML: end of sequence flow not found (a ']' or ',' is missing at or before "
            "this place)");
}

TEST(Override, OfAnUnknownPathIsAnError) {
  EXPECT_EQ(error_with({"runn.duration=1ms"}).substr(0, 69),
            "--set runn.duration=1ms: unknown key 'runn'; did you mean 'run'? Know");
  EXPECT_EQ(error_with({"name.first=x"}),
            "--set name.first=x: name: is 'small'; expected a map or list that can contain 'first'");
  EXPECT_EQ(error_with({"traffic.2.rate=1Gbps"}),
            "--set traffic.2.rate=1Gbps: traffic: no element 2; there are 2, counted from 0");
  EXPECT_EQ(
      error_with({"traffic.tow.rate=1Gbps"}),
      "--set traffic.tow.rate=1Gbps: traffic: there is no element 'tow'; did you mean 'two'? Known here: one, two");
  EXPECT_EQ(error_with({"traffic.0.from.h1=h2"}),
            "--set traffic.0.from.h1=h2: traffic.0.from: is 'h1'; expected a map or list that can contain 'h1'");
}

TEST(Override, HasAPathAndAValue) {
  EXPECT_EQ(error_with({"run.duration"}), "--set run.duration: expected path=value, e.g. run.duration=1ms");
  EXPECT_EQ(error_with({"=1ms"}), "--set =1ms: expected path=value, e.g. run.duration=1ms");
  EXPECT_EQ(error_with({"run..duration=1ms"}),
            "--set run..duration=1ms: the path has an empty key; expected keys with single dots between them, e.g. "
            "run.duration=1ms");
}

}  // namespace
}  // namespace railyard::spec
