// Switches that reduce: the hosts that do it, and what is wrong.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/reducers.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace railyard::literals;

std::string with_reduction(const std::string& switches, const std::string& more = "") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
         "defaults: { link: { rate: 400Gbps, cable: 3m } }\nswitches: " +
         switches + "\n" + more;
}

const std::string kAll = "{ default: { reduction: {} } }";

const LinkSpec& link_of(const Lab& lab, const std::string& node) {
  return *std::ranges::find_if(lab.links, [&](const LinkSpec& l) { return l.a.node == node; });
}

TEST(Reducers, AreHostsAtTheSwitchesAsFastAsAllTheirPorts) {
  const Lab lab = parse(with_reduction(kAll), "x.yaml");
  EXPECT_THAT(reducers(lab), ElementsAre(PortName{"leaf1-reducer", 1}, PortName{"leaf2-reducer", 1},
                                         PortName{"spine1-reducer", 1}));
  EXPECT_EQ(link_of(lab, "leaf1-reducer").b, (PortName{"leaf1", 4}));
  EXPECT_EQ(link_of(lab, "leaf1-reducer").rate, 1200_Gbps);
  EXPECT_EQ(link_of(lab, "spine1-reducer").rate, 800_Gbps);
  EXPECT_EQ(link_of(lab, "leaf1-reducer").delay, Duration{});
  EXPECT_EQ(without_reducers(lab).nodes.size(), 7u);
  EXPECT_EQ(without_reducers(lab).links.size(), 6u);
}

TEST(Reducers, AreThereWhereTheSwitchProfileSaysSo) {
  const Lab lab = parse(with_reduction("{ up: { reduction: { rate: 3200Gbps, latency: 300ns } }, \"spine*\": { profile: up } }",
                                       "collectives: [ { name: c, size: 1MiB, algorithm: in-network } ]\n"),
                        "x.yaml");
  EXPECT_THAT(reducers(lab), ElementsAre(PortName{"spine1-reducer", 1}));
  EXPECT_EQ(link_of(lab, "spine1-reducer").rate, 3200_Gbps);
  const CollectiveSpec& c = lab.collectives[0];
  const auto network = reduction_network(lab, ranks(lab, c));
  EXPECT_THAT(network.latency, ElementsAre(300_ns));
  const auto programs = programs_of(lab, c, ranks(lab, c));
  ASSERT_EQ(programs.size(), 5u);
  EXPECT_EQ(programs[4].reducer_latency, 300_ns);
  EXPECT_EQ(programs[3].reducer_latency, std::nullopt);
}

// Their radix and the fastest link of a port are those of the ports outside.
TEST(Reducers, TakeNoPortOfTheSwitch) {
  const Lab lab = parse(with_reduction("{ default: { ports: 3, port-rate: 400Gbps, reduction: {} } }"), "x.yaml");
  EXPECT_EQ(reducers(lab).size(), 3u);
}

TEST(Reducers, AreMeantByNoSelector) {
  const Lab lab = parse(with_reduction(kAll, "collectives: [ { name: c, size: 1MiB, algorithm: in-network } ]\n"
                                             "traffic: [ { name: t, pattern: all-to-all, bytes: 1MB } ]\n"),
                        "x.yaml");
  EXPECT_THAT(ranks(lab, lab.collectives[0]),
              ElementsAre(PortName{"h1", 1}, PortName{"h2", 1}, PortName{"h3", 1}, PortName{"h4", 1}));
  EXPECT_THAT(reducers(lab, lab.collectives[0]).size(), 3u);
  EXPECT_THAT(error_of(with_reduction(kAll, "collectives: [ { name: c, size: 1MiB, ranks: [h1, leaf1-reducer] } ]\n")),
              testing::HasSubstr("'leaf1-reducer' is the reducer of a switch"));
}

TEST(Reducers, AreLikeTheDefaultHostsWithoutTheirGpus) {
  const std::string hosts = "hosts: { default: { gpus: 2, scale-up: { rate: 900Gbps }, pcie: gen5x16, roce: { ack-every: 7 } } }\n";
  const HostProfile made = parse(with_reduction(kAll, hosts), "x.yaml").hosts.at("reducer");
  EXPECT_EQ(made.gpus, std::nullopt);
  EXPECT_EQ(made.scale_up, std::nullopt);
  EXPECT_EQ(made.pcie, std::nullopt);
  EXPECT_EQ(made.roce.ack_every, 7);
  const Lab own = parse(with_reduction(kAll, "hosts: { reducer: { latency: 100ns } }\n"), "x.yaml");
  EXPECT_EQ(own.hosts.at("reducer").latency, 100_ns);
}

TEST(Reducers, AreShownAndReadAgainOnce) {
  const Lab lab = parse(with_reduction("{ default: { reduction: { latency: 200ns } } }"), "x.yaml");
  EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << to_yaml(lab);
}

TEST(Reducers, AreNotThereWithoutTheKey) {
  EXPECT_THAT(reducers(parse(with_reduction("{ default: { reduction: off } }"), "x.yaml")), IsEmpty());
}

TEST(ReducerErrors, SayWhatIsMissing) {
  const std::string collective = "collectives:\n  - { name: c, size: 1MiB, algorithm: in-network }\n";
  EXPECT_EQ(error_of(with_reduction("{}", collective)),
            "x.yaml:6:39: collectives.0.algorithm: in-network needs switches that reduce, but none does; expected reduction in a "
            "switch profile, such as switches: { default: { reduction: {} } }, or scale-up.reduces in a host profile");
  EXPECT_EQ(error_of(with_reduction(kAll, "nodes: { leaf1-reducer: { kind: switch } }\n")),
            "x.yaml:4:11: switches: leaf1 would have a reducer called leaf1-reducer, but there is a node of this name; expected "
            "another name for it");
  EXPECT_EQ(error_of(with_reduction("{ default: { reduction: { rate: 0 } } }")).substr(0, 49),
            "x.yaml:4:43: switches.default.reduction.rate: 0 i");
  EXPECT_EQ(error_of(with_reduction("{ default: { reduction: { speed: 1 } } }")).substr(0, 38),
            "x.yaml:4:37: switches.default.reductio");
}

// A job has its reducers if it asks for them, and a file that was read is written with that.
TEST(Reducers, AreThoseOfJobsThatAskForThem) {
  const auto lab = [](const std::string& more) {
    return parse(with_reduction(kAll, "jobs:\n  - { name: j, model: gpt2-124m" + more + " }\n"), "x.yaml");
  };
  const Lab usual = lab(""), in_network = lab(", algorithm: in-network");
  EXPECT_THAT(reducers(usual, usual.collectives[0]), IsEmpty());
  EXPECT_EQ(reducers(in_network, in_network.collectives[0]).size(), reducers(in_network).size());
  EXPECT_THAT(to_yaml(in_network), testing::HasSubstr("in-network"));
}

// Frames of hosts in a VLAN reach reducers that are in it, too, and those only.
TEST(Reducers, AreInTheVlanOfTheHosts) {
  const auto lab = [](const std::string& second) {
    return "name: x\nnodes: { s1: { kind: switch, vlans: { 1: { native: 7, tagged: none }, 2: { native: " + second +
           ", tagged: none } } }, h1: { kind: host }, h2: { kind: host } }\nlinks: [ [h1:1, s1:1], [h2:1, s1:2] ]\n"
           "switches: { default: { reduction: {} } }\ncollectives:\n  - { name: c, size: 1MiB, algorithm: in-network }\n";
  };
  const Lab one = parse(lab("7"), "x.yaml");
  EXPECT_EQ(one.find("s1")->vlans.at(3).native, 7);
  EXPECT_FALSE(one.find("s1")->vlans.at(3).all_tagged);
  EXPECT_EQ(parse(to_yaml(one), "x.yaml"), one);
  EXPECT_THAT(error_of(lab("8")), testing::HasSubstr("collectives.0.algorithm: in-network: hosts are in several VLANs (7, 8)"));
}

// NCCL's choice by size, of switches that reduce as well.
TEST(Reducers, AreThoseOfCollectivesForWhichNcclWouldChooseThem) {
  const auto lab = [](const std::string& size, const std::string& more) {
    return parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 1 }\n"
                 "hosts: { default: { server: hgx-h100, scale-up: { rate: 3600Gbps, reduces: true } } }\n"
                 "collectives:\n  - { name: c, protocol: auto, size: " + size + more + " }\n",
                 "x.yaml");
  };
  const Lab small = lab("1KiB", ""), large = lab("1GiB", ""), ring = lab("1GiB", ", algorithm: ring");
  EXPECT_THAT(reducers(small, small.collectives[0]), IsEmpty());
  EXPECT_EQ(reducers(large, large.collectives[0]).size(), 1u);
  EXPECT_EQ(large.collectives[0].used_algorithm(), &collectives::kInNetwork);
  EXPECT_THAT(reducers(ring, ring.collectives[0]), IsEmpty());
}

TEST(ReducerErrors, SayWhatJobsCannot) {
  const auto error = [](const std::string& switches, const std::string& job) {
    return error_of(with_reduction(switches, "jobs:\n  - { name: j, algorithm: in-network, model: gpt2-124m" + job + " }\n"));
  };
  EXPECT_THAT(error("{}", ""), testing::HasSubstr("jobs.0.algorithm: in-network needs switches that reduce, but none does"));
  EXPECT_THAT(error(kAll, ", parallelism: { pp: 2, dp: 1 }"),
              testing::HasSubstr("jobs.0.algorithm: in-network: there is no collective in it that switches can do"));
}

TEST(ReducerErrors, SayWhyAHostCannotReduce) {
  const auto error = [](const std::string& nodes, const std::string& links) {
    return error_of(with_reduction("{}", "nodes: " + nodes + "\nlinks: " + links + "\n"));
  };
  EXPECT_EQ(error("{ r: { kind: host, nics: 2, reduces: true } }", "[ [r:1, leaf1:9], [r:2, leaf2:9] ]"),
            "x.yaml:5:45: nodes.r.reduces: r has 2 NICs; expected one, at a switch");
  EXPECT_EQ(error("{ r: { kind: host, reduces: true }, q: { kind: host } }", "[ [r:1, q:1] ]"),
            "x.yaml:5:36: nodes.r.reduces: r is linked to q; expected a switch");
  EXPECT_EQ(error("{ r: { kind: host, reduces: true }, q: { kind: host, reduces: true } }", "[ [r:1, leaf1:9], [q:1, leaf1:8] ]"),
            "x.yaml:5:36: nodes.r.reduces: r and q are both reducers of leaf1; expected one");
}

// Two rails that nothing joins: a reducer at one leaf does not hear the other's ranks.
TEST(ReducerErrors, SayThatNotAllRanksReachOne) {
  const std::string lab =
      "name: x\nnodes: { s1: { kind: switch }, s2: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }\n"
      "links: [ [h1:1, s1:1], [h2:1, s2:1], [h3:1, s1:2] ]\nswitches: { default: { reduction: {} } }\ncollectives:\n"
      "  - { name: c, size: 1MiB, algorithm: in-network, ranks: [h1, ";
  EXPECT_NE(error_of(lab + "h2] }\n").find("collectives.0.ranks: in-network: there is no switch that reduces and that all ranks reach"),
            std::string::npos);
  EXPECT_EQ(parse(lab + "h3] }\n", "x.yaml").collectives.size(), 1u);
}

}  // namespace
}  // namespace railyard::spec
