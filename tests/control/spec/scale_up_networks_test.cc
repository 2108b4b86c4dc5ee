// Which hosts share a scale-up network, and which ranks therefore do.
#include "control/spec/scale_up_networks.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Hosts with two NICs, each with a GPU.
std::string with(int hosts, const std::string& scale_up, const std::string& more = "") {
  return "name: x\ntopology: { preset: rail-optimized, hosts: " + std::to_string(hosts) +
         ", rails: 2, spines: 1 }\nhosts: { default: { gpus: 2, scale-up: { rate: 3600Gbps" + scale_up + " } }" +
         (more.starts_with(",") ? "" : " }\n") + more;
}
constexpr const char* kSum = "collectives: [ { name: c, size: 7MiB } ]\n";

TEST(ScaleUpNetworks, HaveAsManyHostsAsIsSaidAndTheLastThoseThatAreLeft) {
  const Lab lab = parse(with(5, ", hosts: 2"), "x.yaml");
  EXPECT_EQ(lab.hosts.at("default").scale_up->hosts, 2);
  EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab);
  const auto places = scale_up_places(lab);
  ASSERT_EQ(places.size(), 5u);
  EXPECT_EQ(places.at("h1"), (ScaleUpPlace{0, 0}));
  EXPECT_EQ(places.at("h2"), (ScaleUpPlace{0, 1}));
  EXPECT_EQ(places.at("h3"), (ScaleUpPlace{1, 0}));
  EXPECT_EQ(places.at("h4"), (ScaleUpPlace{1, 1}));
  EXPECT_EQ(places.at("h5"), (ScaleUpPlace{2, 0}));
  for (const auto& [name, place] : scale_up_places(parse(with(3, ""), "x.yaml"))) EXPECT_EQ(place.host, 0u) << name;
  EXPECT_THAT(scale_up_places(parse_small_with("")), IsEmpty()) << "there is none";
}

// h2 is of another profile: h1 and h3 are neighbours all the same.
TEST(ScaleUpNetworks, AreOfOneProfile) {
  const std::string lab = with(4, ", hosts: 2", ", alone: { scale-up: { rate: 1Tbps } } }\nnodes: { h2: { profile: alone } }\n");
  const auto places = scale_up_places(parse(lab, "x.yaml"));
  EXPECT_EQ(places.at("h1"), (ScaleUpPlace{0, 0}));
  EXPECT_EQ(places.at("h2"), (ScaleUpPlace{1, 0}));
  EXPECT_EQ(places.at("h3"), (ScaleUpPlace{0, 1}));
  EXPECT_EQ(places.at("h4"), (ScaleUpPlace{2, 0}));
}

TEST(ScaleUpNetworks, RanksAreInThem) {
  const Lab lab = parse(with(3, ", hosts: 2", kSum), "x.yaml");
  const RankPlaces p = places(lab, ranks(lab, lab.collectives[0]));
  EXPECT_THAT(p.host, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(p.rail, ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_THAT(p.tray, ElementsAre(0, 0, 1, 1, 0, 0));
  EXPECT_EQ(lab.collectives[0].channels, 4) << "a ring leaves the larger network by each of its NICs";
  const Lab alone = parse(with(3, "", kSum), "x.yaml");
  EXPECT_THAT(places(alone, ranks(alone, alone.collectives[0])).tray, IsEmpty());
}

// One GPU in each host: they reach each other all the same.
TEST(ScaleUpNetworks, JoinHostsOfOneRank) {
  const Lab lab = parse(with(4, ", hosts: 2", "collectives: [ { name: c, size: 1MiB, ranks: \"h*:1\" } ]\n"), "x.yaml");
  EXPECT_THAT(places(lab, ranks(lab, lab.collectives[0])).host, ElementsAre(0, 0, 1, 1));
}

// A rack of 72, twice.
TEST(ScaleUpNetworks, HaveSeventyTwoGpus) {
  const Lab lab = parse("name: x\ntopology: { preset: rail-optimized, hosts: 36, rails: 4, spines: 1 }\n"
                        "hosts: { default: { server: gb200-nvl72 } }\n"
                        "collectives: [ { name: c, size: 144MiB, algorithm: hierarchical-ring } ]\n",
                        "x.yaml");
  const RankPlaces p = places(lab, ranks(lab, lab.collectives[0]));
  ASSERT_EQ(p.host.size(), 144u);
  for (std::uint32_t r = 0; r < 144; ++r) {
    EXPECT_EQ(p.host[r], r / 72);
    EXPECT_EQ(p.tray[r], r / 4 % 18);
    EXPECT_EQ(p.rail[r], r % 4 + 1);
  }
}

TEST(ScaleUpNetworks, SayWhatIsWrong) {
  EXPECT_NE(error_of(with(2, ", hosts: 0")).find("hosts.default.scale-up.hosts"), std::string::npos);
  EXPECT_NE(error_of(with(2, ", hosts: all")).find("expected"), std::string::npos);
  EXPECT_NE(error_of(with(2, ", host: 2")).find("did you mean 'hosts'"), std::string::npos);
  EXPECT_NE(error_of(with(2, ", hosts: 2", "collectives: [ { name: c, size: 4MiB, algorithm: hierarchical-ring } ]\n"))
                .find("hierarchical-ring needs ranks at several scale-up networks, but all are at one"),
            std::string::npos);
  EXPECT_NE(error_of(with(3, ", hosts: 2", "collectives: [ { name: c, size: 6MiB, algorithm: hierarchical-ring } ]\n"))
                .find("the same number of ranks at each scale-up network, but has 4 and 2"),
            std::string::npos);
}

}  // namespace
}  // namespace railyard::spec
