// Hosts' scale-up networks, and files that say where ranks are: what is wrong is said with its place.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

// Three hosts with two NICs each; `keys` of the only collective begin in column 22 of line 4.
std::string rails_with(const std::string& keys, const std::string& more = "") {
  return "name: x\ntopology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 1 }\ncollectives:\n"
         "  - { name: c, size: 1200B, " +
         keys + " }\n" + more;
}
constexpr const char* kScaleUp = "hosts: { default: { scale-up: { rate: 900Gbps, latency: 300ns } } }\n";

class Placement : public testing::Test {
 protected:
  Placement() { std::filesystem::create_directories(folder_); }
  ~Placement() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text) {
    std::ofstream(folder_ / "p.csv") << text;
    return (folder_ / "p.csv").string();
  }
  // Without the folder's name.
  std::string error_in(const std::string& text) {
    std::string error = error_of(rails_with("placement: " + write(text)));
    const std::size_t at = error.find(folder_.string());
    return at == std::string::npos ? error : error.substr(at + folder_.string().size() + 1);
  }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "railyard-placement";
};

TEST_F(Placement, SaysWhereEachRankIs) {
  const std::string file = write("# mine\nrank,host,rail\n1, h1, 2\n0,h3,1\n\n2,h3,2\n");
  const Lab l = parse(rails_with("placement: " + file), "x.yaml");
  EXPECT_EQ(ranks(l, l.collectives[0]), (std::vector<PortName>{{"h3", 1}, {"h1", 2}, {"h3", 2}}));
  EXPECT_TRUE(parse(to_yaml(l), "shown") == l);
  const Lab first = parse(rails_with("placement: " + write("host,rank\nh2,0\nh1,1\n")), "x.yaml");
  EXPECT_EQ(ranks(first, first.collectives[0]), (std::vector<PortName>{{"h2", 1}, {"h1", 1}}));
}

TEST_F(Placement, ABrokenLineIsNamed) {
  const std::string head = "rank,host,rail\n";
  EXPECT_EQ(error_in(head + "0,h1,1\n1,h2,1\n"), "(no error)");
  EXPECT_EQ(error_in(head + "0,h1,1\n1,h2,1\n2,h1,1\n"),
            "p.csv:4:1: h1, rail 1 already has rank 0; expected each NIC once");
  EXPECT_EQ(error_in("rank,host\n0,h1\n1,h1\n"), "p.csv:3:1: h1, rail 1 already has rank 0; expected each NIC once");
  EXPECT_EQ(error_in(head + "0,h1,1\n0,h2,1\n"), "p.csv:3:1: rank 0 is already at h1, rail 1; expected each rank once");
  EXPECT_EQ(error_in(head + "0,h1,1\n2,h2,1\n"),
            "p.csv:3:1: rank 1 is missing, but there is a rank 2; expected all ranks from 0");
  EXPECT_EQ(error_in(head + "0,h9,1\n"), "p.csv:2:1: there is no host 'h9'; did you mean 'h1'?");
  EXPECT_EQ(error_in(head + "0,h1,3\n"), "p.csv:2:1: rail '3': h1 has 2 NICs; expected 1..2");
  EXPECT_EQ(error_in(head + "0,h1,0\n"), "p.csv:2:1: rail '0': h1 has 2 NICs; expected 1..2");
  EXPECT_EQ(error_in(head + "one,h1,1\n"), "p.csv:2:1: rank 'one'; expected a number from 0 to 65535");
  EXPECT_EQ(error_in(head + "0,h1\n"), "p.csv:2:1: 2 cells; expected 3, as in the first line");
  EXPECT_EQ(error_in("rank,hots\n"),
            "p.csv:1:1: unknown column 'hots'; expected a first line with rank, host and optionally rail or gpu; did you mean "
            "'host'?");
  EXPECT_EQ(error_in("rank,rail\n"), "p.csv:1:1: column 'host' is missing; expected rank, host and optionally rail or gpu");
  EXPECT_EQ(error_in("rank,rank,host\n"), "p.csv:1:1: column 'rank' is defined twice");
  EXPECT_EQ(error_in(head), "p.csv:1:1: has no rank");
  EXPECT_EQ(error_in(""), "p.csv: is empty; expected a first line with rank, host and optionally rail or gpu");
  EXPECT_EQ(error_of(rails_with("placement: " + write(head + "0,h1,1\n"))).substr(0, 8), "x.yaml:4");
  EXPECT_EQ(error_of(rails_with("ranks: h1, placement: p.csv")),
            "x.yaml:4:36: collectives.0.ranks: found with placement, which places the ranks; expected one of the two");
}

TEST(ScaleUpSpecs, RanksOfAHostShareANumber) {
  const Lab l = parse(rails_with("pxn: true", kScaleUp), "x.yaml", {"collectives.c.ranks=[h1, \"h2:2\", h3]"});
  EXPECT_EQ(l.hosts.at("default").scale_up->rate.bps, 900'000'000'000);
  EXPECT_EQ(l.hosts.at("default").scale_up->latency.ps, 300'000);
  EXPECT_TRUE(l.collectives[0].pxn);
  const std::vector<PortName> who = ranks(l, l.collectives[0]);
  const RankPlaces p = places(l, who);
  EXPECT_EQ(p.host, (std::vector<std::uint32_t>{0, 0, 1, 2, 2}));
  EXPECT_EQ(p.rail, (std::vector<std::uint32_t>{1, 2, 2, 1, 2}));
  EXPECT_EQ(layout(l, who).group, p.host);
  EXPECT_TRUE(parse(to_yaml(l), "shown") == l);
  const Lab without = parse(rails_with("chunk: 400B"), "x.yaml");
  EXPECT_TRUE(places(without, ranks(without, without.collectives[0])).host.empty());
  EXPECT_EQ(layout(without, who).group, leaves(without, who));
}

TEST(ScaleUpSpecs, WhatCannotBeIsSaid) {
  EXPECT_EQ(error_of(rails_with("pxn: true")),
            "x.yaml:4:34: collectives.0.pxn: no two ranks share a host with a scale-up network; expected "
            "hosts.<profile>.scale-up");
  EXPECT_EQ(error_of(rails_with("chunk: 400B", "hosts: { default: { scale-up: { latency: 300ns } } }\n")).substr(0, 84),
            "x.yaml:5:31: hosts.default.scale-up: key 'rate' is missing: at which each rank sends");
  EXPECT_EQ(error_of(rails_with("algorithm: hierarchical-ring, ranks: [h1]", kScaleUp)),
            "x.yaml:4:40: collectives.0.algorithm: hierarchical-ring needs ranks at several hosts, but all are at one");
  EXPECT_EQ(error_of(rails_with("algorithm: hierarchical-ring, ranks: [h1, \"h2:1\"]", kScaleUp)),
            "x.yaml:4:66: collectives.0.ranks: hierarchical-ring needs the same number of ranks at each host, but has "
            "2 and 1");
}

TEST(Stragglers, AreReadAndRefused) {
  const std::string job = "forward: 1us, stragglers: ";
  const Lab l = parse(rails_with(job + "[{ ranks: 1, factor: 1.5 }, { ranks: [0, 4], factor: 2 }]",
                                 "run: { gpu-hour: 2.5 }\n"),
                      "x.yaml");
  const std::vector<StragglerSpec>& s = l.collectives[0].stragglers;
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[0].ranks, std::vector<int>{1});
  EXPECT_EQ(2 * s[0].factor.numerator, 3 * s[0].factor.denominator);
  EXPECT_EQ(s[1].ranks, (std::vector<int>{0, 4}));
  EXPECT_EQ(2 * l.run.gpu_hour->numerator, 5 * l.run.gpu_hour->denominator);
  EXPECT_TRUE(parse(to_yaml(l), "shown") == l);
  EXPECT_EQ(error_of(rails_with(job + "[{ ranks: 6, factor: 2 }]")),
            "x.yaml:4:56: collectives.0.stragglers.0: there is no rank 6; expected 0..5");
  EXPECT_EQ(error_of(rails_with(job + "[{ ranks: [1, 1], factor: 2 }]")),
            "x.yaml:4:56: collectives.0.stragglers.0: rank 1 is given twice; expected it once");
  EXPECT_EQ(error_of(rails_with(job + "[{ ranks: 1, factor: 0.5 }]")).substr(0, 90),
            "x.yaml:4:76: collectives.0.stragglers.0.factor: 1/2 is below 1; expected a slowdown factor");
  EXPECT_EQ(
      error_of(rails_with("stragglers: [{ ranks: 1, factor: 2 }]")),
      "x.yaml:4:41: collectives.0.stragglers: applies to compute steps only; expected forward or backward with it");
  EXPECT_EQ(error_of(rails_with("chunk: 400B", "run: { gpu-hour: 0 }\n")).substr(0, 45),
            "x.yaml:5:18: run.gpu-hour: is 0; expected mor");
}

}  // namespace
}  // namespace railyard::spec
