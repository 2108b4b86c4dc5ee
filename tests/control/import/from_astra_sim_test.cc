// Network and system descriptions of ASTRA-sim become fabric files.
#include "control/import/from_astra_sim.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::importing {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kRails =
    "topology: [ Switch, Switch ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 450, 50 ]\nlatency: [ 250.5, 500 ]\n";

std::string text_of(const std::string& network, const std::string& system = "", const std::string& trace = "") {
  return from_astra_sim({.network = network,
                         .network_file = "network.yml",
                         .system = system.empty() ? std::nullopt : std::optional(system),
                         .system_file = "system.json",
                         .trace = trace});
}
spec::Lab lab_of(const std::string& network, const std::string& system = "") {
  return spec::parse(text_of(network, system), "x.yaml");
}
std::string error_of(const std::string& network, const std::string& system = "") {
  try {
    text_of(network, system);
  } catch (const spec::SpecError& e) {
    return e.what();
  }
  return "";
}

TEST(FromAstraSim, TwoDimensionsAreHostsWithAScaleUpNetworkOnRails) {
  const spec::Lab lab = lab_of(kRails);
  const spec::NodeSpec* const h4 = lab.find("h4");
  ASSERT_NE(h4, nullptr);
  EXPECT_EQ(h4->nics.size(), 8u);
  EXPECT_EQ(lab.find("h5"), nullptr);
  const spec::HostProfile& host = lab.hosts.at("default");
  EXPECT_EQ(host.gpus, 8u);
  ASSERT_TRUE(host.scale_up);
  EXPECT_EQ(host.scale_up->rate.bps, 3'600'000'000'000);
  EXPECT_EQ(host.scale_up->latency.ps, 501'000) << "to the switch, and from it";
  for (const auto& link : lab.links) {
    EXPECT_EQ(link.rate.bps, 400'000'000'000);
    EXPECT_EQ(link.delay.ps, 500'000);
  }
  ASSERT_EQ(lab.collectives.size(), 1u);
}

TEST(FromAstraSim, OneDimensionIsAFabric) {
  const auto with = [](const std::string& block) {
    return lab_of("topology: [" + block + "]\nnpus_count: [6]\nbandwidth: [25.0]\nlatency: [100]\n");
  };
  EXPECT_EQ(with("Switch").links.size(), 6u);
  EXPECT_EQ(with("Ring").links.size(), 6u + 6);
  EXPECT_EQ(with("FullyConnected").links.size(), 6u + 15);
}

TEST(FromAstraSim, WhatIsNotTheSameIsSaid) {
  const std::string text = text_of(
      "topology: [ FullyConnected, Ring ]\nnpus_count: [ 4, 3 ]\nbandwidth: [ 100, 50 ]\nlatency: [ 10, 10 ]\n");
  EXPECT_THAT(text,
              HasSubstr("# Not the same: FullyConnected within a host. Here each NPU has the rate of all its 3 links"));
  EXPECT_THAT(text, HasSubstr("# Not the same: Ring between hosts."));
  const spec::Lab lab = spec::parse(text, "x.yaml");
  EXPECT_EQ(lab.hosts.at("default").scale_up->rate.bps, 2'400'000'000'000);
  EXPECT_EQ(lab.links.front().rate.bps, 800'000'000'000);
  EXPECT_THAT(text_of(kRails), Not(HasSubstr("Not the same")));
}

TEST(FromAstraSim, ASystemHasTheAlgorithmAndItsCosts) {
  const std::string text = text_of(kRails,
                                   R"({"endpoint-delay": 10, "all-reduce-implementation": ["ring", "doubleBinaryTree"],
    "all-to-all-implementation": ["direct", "direct"], "local-mem-bw": 50})");
  EXPECT_THAT(text, HasSubstr("algorithm: hierarchical-tree"));
  EXPECT_THAT(text, HasSubstr("step-cost: 10ns"));
  EXPECT_THAT(text, HasSubstr("# all-to-all-implementation: [direct, direct]"));
  EXPECT_THAT(text, HasSubstr("# left out: local-mem-bw: 50"));
  EXPECT_NO_THROW(spec::parse(text, "x.yaml"));
  EXPECT_THAT(text_of(kRails, R"({"all-reduce-implementation": ["direct", "halvingDoubling"]})"),
              HasSubstr("# Not the same: all-reduce direct within a host, then halvingDoubling between hosts."));
}

TEST(FromAstraSim, AWorkloadIsNamed) { EXPECT_THAT(text_of(kRails, "", "work.0.et"), HasSubstr("trace: work.0.et")); }

TEST(FromAstraSim, SaysWhatIsWrongAndWhere) {
  const std::string rest = "\nnpus_count: [4]\nbandwidth: [50]\nlatency: [0]\n";
  EXPECT_THAT(error_of("topology: [Torus]" + rest),
              HasSubstr("network.yml:1:12: topology.0: found 'Torus'; expected Ring, FullyConnected"));
  EXPECT_THAT(error_of("topology: [Ring, Switch, Switch]" + rest),
              HasSubstr("topology: found 3 dimensions; expected one"));
  EXPECT_THAT(error_of("topology: [Ring, Switch]" + rest),
              HasSubstr("npus_count: found 1 items; expected 2, as topology has"));
  EXPECT_THAT(error_of("topology: [Ring]\nnpus_count: [1]\nbandwidth: [50]\nlatency: [0]\n"),
              HasSubstr("network.yml:2:14: npus_count.0: found '1'; expected a whole number from 2 to 4096"));
  EXPECT_THAT(error_of("topology: [Ring]\nnpus_count: [2.5]\nbandwidth: [50]\nlatency: [0]\n"),
              HasSubstr("expected a whole number"));
  EXPECT_THAT(error_of("topology: [Ring]\nnpus_count: [4]\nbandwidth: [-1]\nlatency: [0]\n"),
              HasSubstr("bandwidth.0: found '-1'"));
  EXPECT_THAT(error_of("topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\n"), HasSubstr("key 'latency' is missing"));
  EXPECT_THAT(error_of(kRails, R"({"all-reduce-implementation": ["ring"]})"),
              HasSubstr("found 1 algorithms; expected 2, one for each dimension of network.yml"));
  EXPECT_THAT(error_of(kRails, R"({"all-reduce-implementation": ["ring", "magic"]})"),
              HasSubstr("system.json:1:40: all-reduce-implementation.1: found 'magic'"));
}

TEST(FromAstraSim, FilesAreKnownByTheirKeys) {
  EXPECT_TRUE(is_astra_network(kRails));
  EXPECT_FALSE(is_astra_network("nodes: {}"));
  EXPECT_FALSE(is_astra_network("{ broken"));
  EXPECT_TRUE(is_astra_system(R"({"all-gather-implementation": ["ring"]})"));
  EXPECT_FALSE(is_astra_system(kRails));
}

}  // namespace
}  // namespace railyard::importing
