// What a fabric file says of collective operations, and what it may not.
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "control/collectives/registry.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"
#include "tests/support/temporary_file.h"

namespace railyard::spec {
namespace {

// Eight hosts under two leaves; `keys` of the only collective begin in column 16 of line 4.
std::string collective_with(const std::string& keys, const std::string& more = "") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4 }\ncollectives:\n"
         "  - { name: c, " +
         keys + " }\n" + more;
}
std::string collective_error(const std::string& keys, const std::string& more = "") {
  return error_of(collective_with(keys, more));
}

TEST(CollectiveSpecs, EveryKeyIsRead) {
  const Lab l = parse(collective_with("collective: broadcast, algorithm: ring, size: 1MiB, chunk: 64KiB, channels: 3, "
                                      "ranks: [h3, \"h[\"], root: 1"),
                      "x.yaml", {"collectives.c.ranks=[h3, h1, h4]", "collectives.c.datatype=uint64",
                                 "collectives.c.repeats=7", "collectives.c.start=3us", "collectives.c.gap=2us",
                                 "collectives.c.reduce-rate=800Gbps", "collectives.c.path-mtu=1024",
                                 "collectives.c.protocol=ll128", "collectives.c.launch-cost=8us", "collectives.c.step-cost=1500ns",
                                 "collectives.c.ip=6", "collectives.c.dscp=10", "collectives.c.ecn=false",
                                 "collectives.c.class=5"});
  const CollectiveSpec& c = l.collectives.at(0);
  EXPECT_EQ(c.collective, CollectiveOperation::kBroadcast);
  EXPECT_EQ(c.used_algorithm(), &collectives::kRing);
  EXPECT_EQ(c.size.n, 1 << 20);
  EXPECT_EQ(c.chunk, 65536u);
  EXPECT_EQ(c.channels, 3);
  EXPECT_EQ(c.root, 1);
  EXPECT_EQ(c.element_octets(), 8u);
  EXPECT_EQ(c.repeats, 7);
  EXPECT_EQ(c.start.ps, 3'000'000);
  EXPECT_EQ(c.gap.ps, 2'000'000);
  EXPECT_EQ(c.reduce_rate.bps, 800'000'000'000);
  EXPECT_EQ(c.used_protocol(), collectives::Protocol::kLl128);
  EXPECT_EQ(c.launch_cost->ps, 8'000'000);
  EXPECT_EQ(c.step_cost->ps, 1'500'000);
  EXPECT_EQ(c.path_mtu, 1024);
  EXPECT_EQ(c.ip_version, 6);
  EXPECT_EQ(c.dscp, 10);
  EXPECT_FALSE(c.ect);
  EXPECT_EQ(c.priority, 5);
  EXPECT_EQ(ranks(l, c), (std::vector<PortName>{{"h3", 1}, {"h1", 1}, {"h4", 1}}));
}

// With protocol: auto the algorithm and the protocol follow from the size, unless the algorithm is said; the file stays as it was.
TEST(CollectiveSpecs, WhatNcclChoosesFollowsFromTheSize) {
  const auto of = [](const char* keys) {
    return parse(collective_with(fmt::format("collective: all-reduce, protocol: auto, {}", keys)), "x.yaml");
  };
  const Lab small = of("size: 1KiB"), large = of("size: 8GiB"), ring = of("size: 1KiB, algorithm: ring");
  EXPECT_EQ(small.collectives[0].used_algorithm(), &collectives::kTree);
  EXPECT_EQ(small.collectives[0].used_protocol(), collectives::Protocol::kLl);
  EXPECT_EQ(large.collectives[0].used_algorithm(), &collectives::kRing);
  EXPECT_EQ(large.collectives[0].used_protocol(), collectives::Protocol::kSimple);
  EXPECT_EQ(ring.collectives[0].used_algorithm(), &collectives::kRing);
  EXPECT_FALSE(small.collectives[0].algorithm);
  EXPECT_EQ(parse(to_yaml(small), "again.yaml"), small);
}

// Rings leave each host by one NIC, so there is one for each NIC. Other algorithms use them all; and what is said holds.
TEST(CollectiveSpecs, RingsHaveAChannelForEachNicOfAHostWithScaleUp) {
  const auto channels = [](const std::string& keys, const std::string& hosts = "scale-up: { rate: 3600Gbps }",
                           int of_hosts = 4) {
    const Lab l = parse("name: x\ntopology: { preset: rail-optimized, hosts: " + std::to_string(of_hosts) +
                        ", rails: 4, spines: 2 }\nhosts: { default: { " + hosts +
                        " } }\ncollectives:\n  - { name: c, size: 1MiB, " + keys + " }\n",
                        "x.yaml");
    const auto shown = l.collectives.at(0).channels;
    EXPECT_NE(to_yaml(l).find("channels: " + std::to_string(shown.value_or(0))), std::string::npos) << keys;
    return shown.value_or(0);
  };
  EXPECT_EQ(channels("collective: all-reduce"), 4);
  EXPECT_EQ(channels("collective: reduce-scatter, algorithm: ring"), 4);
  EXPECT_EQ(channels("collective: all-reduce, channels: 1"), 1);
  EXPECT_EQ(channels("collective: all-reduce, channels: 6"), 6);
  EXPECT_EQ(channels("collective: all-reduce, ranks: [\"h*:1\", \"h*:3\"]"), 2);
  EXPECT_EQ(channels("collective: all-reduce, ranks: [\"h1:1\", \"h1:2\"]"), 1) << "of one host";
  EXPECT_EQ(channels("collective: all-reduce, ranks: [\"h*:2\"]"), 1);
  EXPECT_EQ(channels("collective: all-reduce, algorithm: tree"), 1);
  EXPECT_EQ(channels("collective: all-to-all"), 1);
  EXPECT_EQ(channels("collective: all-reduce", "latency: 600ns"), 1) << "no scale-up network";
}

TEST(CollectiveSpecs, TheUsualAlgorithmIsTheFirstOfItsKind) {
  for (const auto& [operation, algorithm] :
       {std::pair{"all-reduce", "ring"}, {"reduce-scatter", "ring"}, {"all-gather", "ring"}, {"broadcast", "tree"},
        {"all-to-all", "direct"}, {"reduce", "ring"}, {"gather", "direct"}, {"scatter", "direct"},
        {"send-recv", "direct"}}) {
    const Lab l = parse(collective_with(std::string("size: 1KiB, collective: ") + operation), "x.yaml");
    EXPECT_EQ(l.collectives[0].used_algorithm()->name, algorithm);
    EXPECT_EQ(ranks(l, l.collectives[0]).size(), 8u);
  }
}

TEST(CollectiveSpecs, EachNicOfAHostIsARank) {
  const Lab l = parse(
      "name: x\ntopology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 1 }\n"
      "collectives: [ { name: c, size: 1200B, ranks: [\"h*:2\", \"h1:1\"] } ]\n",
      "x.yaml");
  const std::vector<PortName> who = ranks(l, l.collectives[0]);
  EXPECT_EQ(who, (std::vector<PortName>{{"h1", 2}, {"h2", 2}, {"h3", 2}, {"h1", 1}}));
  EXPECT_EQ(leaves(l, who), (std::vector<std::uint32_t>{0, 0, 0, 1}));
}

TEST(CollectiveErrors, Algorithms) {
  const auto names = [](const auto& algorithms) {
    std::vector<std::string_view> all;
    for (const CollectiveAlgorithm a : algorithms) all.push_back(a->name);
    return all;
  };
  EXPECT_EQ(collective_error("size: 1MiB, algorithm: rign"),
            "x.yaml:4:39: collectives.0.algorithm: unknown 'rign'; did you mean 'ring'? Expected " +
                in_words(names(collectives::kAlgorithms)));
  EXPECT_EQ(collective_error("size: 1MiB, algorithm: halving"),
            "x.yaml:4:39: collectives.0.algorithm: there is no halving for all-reduce; expected " +
                fmt::format("{}", fmt::join(names(collectives::algorithms(CollectiveOperation::kAllReduce)), " or ")));
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, h2, h3], algorithm: halving-doubling"),
            "x.yaml:4:60: collectives.0.algorithm: halving-doubling needs 2, 4, 8, ... ranks, but there are 3; "
            "expected 2 or 4 ranks, or another algorithm");
  EXPECT_EQ(
      collective_error("size: 1MiB, ranks: [h1, h2], algorithm: hierarchical-ring"),
      "x.yaml:4:56: collectives.0.algorithm: hierarchical-ring needs ranks at several leaves, but all are at one");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, h5], algorithm: hierarchical-ring"),
            "x.yaml:4:56: collectives.0.algorithm: hierarchical-ring needs several ranks per leaf, but no two ranks "
            "share a leaf");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, h2, h5], algorithm: hierarchical-ring"),
            "x.yaml:4:35: collectives.0.ranks: hierarchical-ring needs the same number of ranks at each leaf, but has "
            "2 and 1");
  // Chains have any length.
  EXPECT_EQ(parse(collective_with("size: 1MiB, ranks: [h1, h2, h5], algorithm: hierarchical-tree"), "x.yaml")
                .collectives[0]
                .used_algorithm(),
            &collectives::kHierarchicalTree);
}

// Whoever has files of before must not rewrite them.
TEST(CollectiveSpecs, AnAlgorithmOfAnotherNameIsReadAndWrittenByItsOwn) {
  const Lab l = parse(collective_with("size: 1MiB, algorithm: hierarchical"), "x.yaml");
  EXPECT_EQ(l.collectives[0].used_algorithm(), &collectives::kHierarchicalRing);
  EXPECT_NE(to_yaml(l).find("algorithm: hierarchical-ring"), std::string::npos);
}

// The reference in explicit.yaml and the schema name all of them.
TEST(CollectiveSpecs, TheReferenceHasEveryAlgorithm) {
  std::ifstream file(RAILYARD_SOURCE_DIR "/topologies/explicit.yaml");
  const std::string reference(std::istreambuf_iterator<char>(file), {});
  for (const CollectiveOperation o : collectives::kOperations) {
    std::string names;
    for (const CollectiveAlgorithm a : collectives::algorithms(o))
      names += (names.empty() ? "" : ", ") + std::string(a->name);
    const std::string line = "#   " + std::string(name(o)) + ": " + names + "\n";
    EXPECT_NE(reference.find(line), std::string::npos) << "topologies/explicit.yaml should have: " << line;
  }
}

TEST(CollectiveSpecs, ABarrierHasNoSize) {
  const Lab l = parse(collective_with("collective: barrier, repeats: 3"), "x.yaml");
  EXPECT_EQ(l.collectives[0].used_algorithm(), &collectives::kDissemination);
  EXPECT_EQ(to_yaml(l).find("size: 0"), std::string::npos);
  EXPECT_EQ(parse(to_yaml(l), "again.yaml"), l);
  EXPECT_EQ(collective_error("collective: barrier, size: 1KiB"),
            "x.yaml:4:43: collectives.0.size: does not apply to a barrier, which has no data; expected no size");
  EXPECT_EQ(collective_error("collective: reduce").substr(0, 60),
            "x.yaml:4:5: collectives.0: key 'size' is missing: as in nccl");
}

// What each rank sends to each, from a file or by Zipf's law.
TEST(CollectiveSpecs, PartsOfAnAllToAllMayBeUnequal) {
  const test::TemporaryFile matrix("matrix.csv");
  const auto write = [&](const std::string& text) { matrix.put(text); };
  const auto with = [&](const std::string& more = "") {
    return "collective: all-to-all, ranks: [h1, h2, h3], matrix: " + matrix.name() + more;
  };
  write("# bytes to 0, 1, 2\n0,400,1200\n\n 8, 0, 16\n4,4,4\n");
  const Lab l = parse(collective_with(with()), "x.yaml");
  EXPECT_EQ(l.collectives[0].size.n, 1600);
  EXPECT_EQ(shape_of(l, l.collectives[0], ranks(l, l.collectives[0])).matrix,
            (std::vector<std::uint64_t>{0, 400, 1200, 8, 0, 16, 4, 4, 4}));
  EXPECT_EQ(parse(to_yaml(l), "again.yaml"), l);

  const auto wrong = [&](const std::string& text) {
    write(text);
    const std::string error = collective_error(with());
    EXPECT_EQ(error.find(matrix.name() + ":"), 0u) << error;
    return error.substr(std::min(error.size(), matrix.name().size() + 1));
  };
  EXPECT_EQ(wrong("0,4,4\n4,0,4\n"), "2:1: 2 lines; expected 3: one for each rank");
  EXPECT_EQ(wrong("0,4,4\n4,0\n4,4,0\n"), "2:1: 2 numbers; expected 3: one for each rank");
  EXPECT_EQ(wrong("0,4,4\n4,0,4\n4,4,0\n1,1,1\n"), "4:1: more lines than ranks; expected 3 lines");
  EXPECT_EQ(wrong("0,4,x\n4,0,4\n4,4,0\n"), "1:1: 'x' for rank 2; expected a number of bytes up to 68719476736");
  EXPECT_EQ(wrong("0,4,6\n4,0,4\n4,4,0\n"), "1:1: 6 bytes for rank 2 are not a multiple of an element's 4");
  EXPECT_EQ(wrong("0,4,0\n4,0,0\n0,0,8\n"),
            "3:1: rank 2 neither sends nor receives; expected data for each rank, or fewer ranks");
  EXPECT_EQ(wrong("# a comment\n0,0,0\n\n0,0,4\n0,4,0\n"),
            "2:1: rank 0 neither sends nor receives; expected data for each rank, or fewer ranks");
  EXPECT_EQ(wrong("0,0,4\n0,8,0\n4,0,0\n"),
            "2:1: rank 1 neither sends nor receives; expected data for each rank, or fewer ranks")
      << "what it keeps is not sent";
  write("0,4,4\n4,0,4\n4,4,0\n");
  EXPECT_NE(collective_error(with(", size: 1KiB")).find("found with matrix, which says all sizes"), std::string::npos);
  EXPECT_NE(collective_error("collective: all-reduce, size: 1KiB, skew: 1").find("expected collective: all-to-all"),
            std::string::npos);
  EXPECT_NE(collective_error("collective: all-to-all, size: 1KiB, skew: 5").find("expected an exponent of 0 to 4"),
            std::string::npos);

  const Lab skewed = parse(collective_with("collective: all-to-all, size: 1000B, skew: 1.2"), "x.yaml");
  const auto parts = shape_of(skewed, skewed.collectives[0], ranks(skewed, skewed.collectives[0])).matrix;
  ASSERT_EQ(parts.size(), 64u);
  EXPECT_GT(std::ranges::max(parts), 3 * std::ranges::min(parts));
}

TEST(CollectiveErrors, Ranks) {
  EXPECT_EQ(collective_error("size: 1MiB, ranks: h1"),
            "x.yaml:4:35: collectives.0.ranks: one rank; expected at least 2");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, h2, h1]"),
            "x.yaml:4:44: collectives.0.ranks.2: 'h1': h1:1 is already rank 0; expected each NIC once");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h3, h*]"),
            "x.yaml:4:40: collectives.0.ranks.1: 'h*': h3:1 is already rank 0; expected each NIC once");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, h9]"),
            "x.yaml:4:40: collectives.0.ranks.1: 'h9' matches no built-in host; did you mean 'h1'?");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, leaf1]"),
            "x.yaml:4:40: collectives.0.ranks.1: 'leaf1' is not a host; expected hosts");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, \"h2:2\"]"),
            "x.yaml:4:40: collectives.0.ranks.1: 'h2:2': h2 has 1 NIC");
  EXPECT_EQ(collective_error("size: 1MiB, ranks: [h1, h2, h3]",
                             "nodes: { h3: { kind: host, attach: { netdev: e0 } } }\n"
                             "run: { clock: wall }\n"),
            "x.yaml:4:44: collectives.0.ranks.2: h3 is attached and has its own QPs; expected built-in hosts, or hosts "
            "with an agent");
  EXPECT_EQ(collective_error("collective: broadcast, size: 1MiB, root: 8"),
            "x.yaml:4:57: collectives.0.root: there is no rank 8; expected 0..7");
  EXPECT_EQ(collective_error("size: 1MiB, root: 1"),
            "x.yaml:4:34: collectives.0.root: does not apply here; expected collective: broadcast, reduce, gather or "
            "scatter");
}

// Hosts whose RDMA devices an agent drives are ranks as those built in are.
TEST(Collectives, AgentsAreRanks) {
  const std::string real = "run: { clock: wall, payload: real }\n";
  const auto with = [](const std::string& h3, const std::string& run) {
    return "nodes: { h3: { kind: host, attach: { netdev: e0 }, address: 10.9.0.3, agent: " + h3 + " } }\n" + run;
  };
  const Lab l = parse(collective_with("size: 1MiB, ranks: [h1, h3]", with("{ token: 12345678 }", real)), "x.yaml");
  EXPECT_EQ(ranks(l, l.collectives[0]), (std::vector<PortName>{{"h1", 1}, {"h3", 1}}));
  EXPECT_EQ(l.find("h3")->agent->token, "12345678");
  EXPECT_TRUE(has_agents(l, ranks(l, l.collectives[0])));
  EXPECT_EQ(parse(to_yaml(l), "y.yaml"), l);
  const Lab drawn = parse(collective_with("size: 1MiB, ranks: \"h*\"", with("{}", real)), "x.yaml");
  EXPECT_EQ(ranks(drawn, drawn.collectives[0]).size(), 8u);
  EXPECT_EQ(parse(to_yaml(drawn), "y.yaml"), drawn);
  EXPECT_EQ(
      collective_error("size: 1MiB, ranks: [h1, h3]", with("{}", "run: { clock: wall }\n")),
      "x.yaml:4:35: collectives.0.ranks: rank h3:1 is an agent's and sends real data; expected run.payload: real");
  EXPECT_EQ(collective_error("size: 1MiB", with("{ token: short }", real)),
            "x.yaml:5:87: nodes.h3.agent.token: 5 bytes; expected at least 8");
  EXPECT_EQ(collective_error("size: 1MiB", "nodes: { h3: { kind: host, agent: {} } }\n"),
            "x.yaml:5:35: nodes.h3.agent: h3:1 is built in; expected an attached host (such as `attach: vm`) with RDMA "
            "devices for the agent");
}

// Hosts of two NICs in a ring of cables: NIC 1 of each to NIC 2 of the next one.
std::string cabled(int hosts, const std::string& keys) {
  std::string text = "name: x\nnodes:\n";
  for (int i = 1; i <= hosts; ++i) text += "  h" + std::to_string(i) + ": { kind: host, nics: 2 }\n";
  text += "links: [ ";
  for (int i = 1; i <= hosts; ++i)
    text += (i > 1 ? ", [h" : "[h") + std::to_string(i) + ":1, h" + std::to_string(i % hosts + 1) + ":2]";
  return text + " ]\ncollectives: [ { name: c, size: 1MiB, " + keys + " } ]\n";
}

TEST(CollectiveSpecs, AHostThatIsCabledToHostsIsOneRank) {
  const auto who = [](const std::string& selectors) {
    const Lab l = parse(cabled(3, "ranks: " + selectors), "x.yaml");
    return ranks(l, l.collectives[0]);
  };
  const std::vector<PortName> all{{"h1", 1}, {"h2", 1}, {"h3", 1}};
  EXPECT_EQ(who("\"*\""), all);
  EXPECT_EQ(who("[h1, h2, h3]"), all);
  EXPECT_EQ(who("[\"h1:2\", h3]"), (std::vector<PortName>{{"h1", 2}, {"h3", 1}}));
}

TEST(CollectiveErrors, NeighboursWithoutAPath) {
  EXPECT_EQ(error_of(cabled(4, "algorithm: ring")), "(no error)");
  EXPECT_EQ(error_of(cabled(4, "algorithm: ring, ranks: [h1, h3, h2, h4]")),
            "x.yaml:8:16: collectives.0: ring sends from rank 0 (h1:1) to rank 1 (h3:1), but their NICs are not "
            "connected; expected a path, or ranks in the order of their cables");
  EXPECT_EQ(error_of(cabled(3, "ranks: [\"h1:1\", \"h1:2\", h2]")),
            "x.yaml:7:16: collectives.0: ring sends from rank 0 (h1:1) to rank 1 (h1:2), but their NICs are not "
            "connected; expected hosts.<profile>.scale-up, or one rank of each host");
  EXPECT_EQ(error_of("name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 0 }\n"
                     "hosts: { default: { scale-up: { rate: 900Gbps } } }\n"
                     "collectives: [ { name: c, size: 1MiB, collective: all-to-all } ]\n"),
            "x.yaml:4:16: collectives.0: direct sends from rank 0 (h1:1) to rank 3 (h2:2), but their NICs are not "
            "connected; expected pxn: true, or a path");
}

TEST(CollectiveErrors, SizesThatCannotBeDivided) {
  EXPECT_EQ(collective_error("collective: reduce-scatter, size: 1000B"),
            "x.yaml:4:50: collectives.0.size: 1000 bytes cannot be divided among 8 ranks in elements of 4; expected a "
            "multiple of 32: 992B or 1024B");
  EXPECT_EQ(collective_error("size: 1001B"),
            "x.yaml:4:22: collectives.0.size: 1001 bytes cannot be divided into elements of 4; expected a multiple of "
            "4: 1000B or 1004B");
  EXPECT_EQ(collective_error("size: 1KiB, chunk: 1002B"),
            "x.yaml:4:35: collectives.0.chunk: 1002 octets are not a multiple of an element's 4");
  EXPECT_EQ(collective_error("size: 1GiB, chunk: 512B"),
            "x.yaml:4:35: collectives.0.chunk: needs about 33554560 messages per iteration; expected at most 4194304: "
            "larger chunks, or fewer channels or ranks");
}

TEST(CollectiveErrors, StepsOfTraining) {
  const Lab l = parse(collective_with("size: 1MiB, forward: 1ms, backward: 2ms, buckets: 8, jitter: 5%"), "x.yaml");
  EXPECT_EQ(l.collectives[0].backward.ps, 2'000'000'000);
  EXPECT_EQ(l.collectives[0].jitter_ppm, 50'000u);
  EXPECT_EQ(collective_error("size: 1MiB, buckets: 8"),
            "x.yaml:4:37: collectives.0.buckets: applies to compute steps only; expected forward or backward with it");
  EXPECT_EQ(collective_error("collective: all-gather, size: 1MiB, forward: 1ms"),
            "x.yaml:4:61: collectives.0.forward: does not apply here; expected collective: all-reduce");
}

// One word makes a collective of RoCE one of UET.
TEST(CollectiveSpecs, TheTransportIsRoceOrUet) {
  const std::string file = collective_with("size: 1MiB, dscp: 10, class: 2, ip: 6");
  EXPECT_FALSE(parse(file, "x.yaml").collectives[0].is_uet());
  const Lab l = parse(file, "x.yaml", {"collectives.c.transport=uet", "collectives.c.service=rod",
                                       "collectives.c.path-mtu=8192"});
  const CollectiveSpec& c = l.collectives[0];
  EXPECT_TRUE(c.is_uet());
  EXPECT_EQ(c.service, CollectiveService::kRod);
  EXPECT_EQ(parse(to_yaml(l), "y.yaml"), l);
  const TrafficSpec like = like_traffic(c);
  EXPECT_TRUE(like.is_uet());
  EXPECT_EQ(like.roce.path_mtu, 8192);
  EXPECT_EQ(like.dscp, 10);
  EXPECT_EQ(like.priority, 2);
  EXPECT_EQ(like.ip_version, 6);
}

TEST(CollectiveErrors, WhatUetDoesNotHave) {
  EXPECT_EQ(collective_error("size: 1MiB, service: rud"),
            "x.yaml:4:37: collectives.0.service: does not apply here; expected transport: uet");
  EXPECT_EQ(collective_error("size: 1MiB, transport: uet, service: uud"),
            "x.yaml:4:53: collectives.0.service: unknown 'uud'; did you mean 'rud'? Expected rud or rod");
  EXPECT_EQ(collective_error("size: 1MiB, transport: uet, path-mtu: 512"),
            "x.yaml:4:54: collectives.0.path-mtu: 512 is not a UET Payload MTU; expected 1024..8192 (the standard has "
            "1024, 2048, 4096 and 8192)");
  EXPECT_EQ(
      collective_error("size: 1MiB, path-mtu: 1002"),
      "x.yaml:4:38: collectives.0.path-mtu: 1002 is not a RoCE path MTU; expected 256, 512, 1024, 2048 or 4096, or "
      "another multiple of 4 up to 8192");
  // Ethernet's MTU counts from the IP header: IPv4 20, UDP 8, PDS 12, SES 44, CRC 4.
  EXPECT_EQ(collective_error("size: 1MiB, transport: uet", "defaults: { link: { mtu: 1500 } }\n"),
            "x.yaml:4:5: collectives.0: 4096 and 88 bytes of headers make packets of 4184; the MTU from h1:1 to h2:1 "
            "is 1500");
  // Of NICs that traffic has, too.
  EXPECT_EQ(collective_error("size: 1MiB, transport: uet, path-mtu: 1024",
                             "traffic: [ { name: t, from: h1, to: h2, transport: uet, dscp: 10, bytes: 1MB } ]\n"),
            "x.yaml:4:54: collectives.0.path-mtu: traffic 't' has 4096, but all UET traffic has one Payload MTU; "
            "expected the same");
  EXPECT_EQ(collective_error("size: 1MiB, transport: uet, ranks: [h1, h3]",
                             "run: { clock: wall, payload: real }\nnodes: { h3: { kind: host, attach: { netdev: e0 }, "
                             "address: 10.9.0.3, agent: {} } }\n"),
            "x.yaml:4:39: collectives.0.transport: rank h3:1 is an agent's RoCE device; expected roce");
}

TEST(CollectiveErrors, WhatDoesNotFitTheLab) {
  EXPECT_EQ(collective_error("size: 1MiB", "defaults: { link: { mtu: 1500 } }\n"),
            "x.yaml:4:5: collectives.0: 4096 and 64 bytes of headers make packets of 4160; the MTU from h1:1 to h2:1 "
            "is 1500");
  EXPECT_EQ(collective_error("size: 4GiB", "run: { payload: real }\n"),
            "x.yaml:4:22: collectives.0.size: with run.payload: real, 8 ranks need up to 137439 MB; run.memory is "
            "4GiB");
  EXPECT_EQ(collective_error("size: 1MiB", "  - { name: c, size: 1MiB }\n"),
            "x.yaml:5:13: collectives.1.name: two collectives have the name c; expected unique names");
  EXPECT_EQ(collective_error("sise: 1MiB").substr(0, 70),
            "x.yaml:4:16: collectives.0: unknown key 'sise'; did you mean 'size'? K");
  EXPECT_EQ(collective_error("collective: all-reduce"),
            "x.yaml:4:5: collectives.0: key 'size' is missing: as in nccl-tests: all-reduce: each rank's buffer; "
            "reduce-scatter: each rank's input; all-gather: each rank's output; broadcast: each rank's buffer; reduce: "
            "each rank's buffer; gather: the root's output; scatter: the root's input; all-to-all: data that each rank "
            "sends, its own part included; send-recv: data that each rank sends to the next one; barrier: nothing; leave "
            "it out");
  EXPECT_EQ(collective_error("size: 1MiB",
                             "hosts: { default: {}, other: { roce: { loss-recovery: selective-repeat } } }\n"
                             "nodes: { h3: { profile: other } }\n"),
            "x.yaml:4:5: collectives.0: h1:1 and h3:1 have different loss-recovery in their profiles; expected the "
            "same");
}

}  // namespace
}  // namespace railyard::spec
