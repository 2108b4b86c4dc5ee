// A lab for other programs: what they read is the lab.
#include "control/export/export.h"

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "control/export/from_containerlab.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::exporting {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

spec::Lab lab() {
  return spec::parse("name: two\ntopology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 2, host-link: { rate: "
                     "25Gbps, mtu: 4200 } }\n",
                     "x.yaml");
}

TEST(Export, GraphvizHasEveryNodeAndLink) {
  EXPECT_EQ(graphviz(lab()),
            "graph \"two\" {\n"
            "  node [fontname=\"sans-serif\"];\n"
            "  \"leaf1\" [shape=box];\n"
            "  \"spine1\" [shape=box];\n"
            "  \"h1\" [shape=ellipse];\n"
            "  \"h2\" [shape=ellipse];\n"
            "  \"h1\" -- \"leaf1\" [label=\"25Gbps\", taillabel=\"1\", headlabel=\"1\"];\n"
            "  \"h2\" -- \"leaf1\" [label=\"25Gbps\", taillabel=\"1\", headlabel=\"2\"];\n"
            "  \"leaf1\" -- \"spine1\" [label=\"100Gbps\", taillabel=\"3\", headlabel=\"1\"];\n"
            "}\n");
}

TEST(Export, ContainerlabReadsTheSameNodesAndLinks) {
  const spec::Lab two = lab();
  const YAML::Node file = YAML::Load(containerlab(two));
  EXPECT_EQ(file["name"].as<std::string>(), "two");
  const YAML::Node topology = file["topology"];
  std::set<std::string> nodes;
  for (const auto& node : topology["nodes"]) {
    nodes.insert(node.first.as<std::string>());
    EXPECT_TRUE(topology["groups"][node.second["group"].as<std::string>()]["kind"]) << node.first.as<std::string>();
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"leaf1", "spine1", "h1", "h2"}));
  ASSERT_EQ(topology["links"].size(), two.links.size());
  for (std::size_t i = 0; i < two.links.size(); ++i) {
    const spec::LinkSpec& link = two.links[i];
    const YAML::Node ends = topology["links"][i]["endpoints"];
    EXPECT_EQ(ends[0].as<std::string>(), link.a.node + ":eth" + std::to_string(link.a.port));
    EXPECT_EQ(ends[1].as<std::string>(), link.b.node + ":eth" + std::to_string(link.b.port));
    EXPECT_EQ(topology["links"][i]["mtu"].as<int>(), link.mtu);
  }
}

TEST(Export, TheAddressPlanHasALineOfEachNicAndLoopback) {
  EXPECT_THAT(address_plan(lab()),
              AllOf(StartsWith("node,port,interface,peer,mac,ipv4,ipv6,rate_bps,mtu\nleaf1,lo,lo,,,10.255.0.1,fd00:ffff::1,,\n"),
                    HasSubstr("\nh2,1,eth1,leaf1:2,"), HasSubstr(",10.0.0.2,fd00::2,25000000000,4200\n")));
}

TEST(Import, WhatIsExportedForContainerlabIsTheSameFabric) {
  const spec::Lab two = lab();
  const spec::Lab back = spec::parse(from_containerlab(containerlab(two), "two.clab.yml", {}), "back.yaml");
  EXPECT_EQ(back.name, two.name);
  ASSERT_EQ(back.nodes.size(), two.nodes.size());
  for (std::size_t i = 0; i < two.nodes.size(); ++i) {
    EXPECT_EQ(back.nodes[i].name, two.nodes[i].name);
    EXPECT_EQ(back.nodes[i].kind, two.nodes[i].kind);
    EXPECT_EQ(back.nodes[i].nics.size(), two.nodes[i].nics.size());
  }
  ASSERT_EQ(back.links.size(), two.links.size());
  for (std::size_t i = 0; i < two.links.size(); ++i) {
    EXPECT_EQ(back.links[i].a, two.links[i].a);
    EXPECT_EQ(back.links[i].b, two.links[i].b);
    EXPECT_EQ(back.links[i].mtu, two.links[i].mtu);
  }
}

// Kinds from defaults and groups, interfaces of two numbers, ends outside, and a router of kind linux.
TEST(Import, ReadsContainerlabsForms) {
  const std::string text =
      "name: dc1\ntopology:\n  defaults: { kind: nokia_srlinux }\n  groups: { servers: { kind: linux } }\n"
      "  nodes:\n    leaf: {}\n    r: { kind: linux }\n    a: { group: servers }\n    b: { kind: linux, image: x }\n"
      "  links:\n    - endpoints: [\"leaf:e1-10\", \"a:eth1\"]\n    - endpoints: [\"leaf:e1-2\", \"b:eth1\"]\n"
      "    - endpoints: [\"leaf:e1-1\", \"r:eth1\"]\n    - endpoints: [\"r:eth2\", \"host:veth0\"]\n"
      "    - { type: veth, endpoints: [ { node: a, interface: eth2 }, { node: r, interface: eth3 } ], mtu: 1500 }\n";
  const spec::Lab read = spec::parse(from_containerlab(text, "x.clab.yml", {"r*"}), "x.yaml");
  EXPECT_EQ(read.find("leaf")->kind, spec::NodeSpec::Kind::kSwitch);
  EXPECT_EQ(read.find("r")->kind, spec::NodeSpec::Kind::kSwitch);
  EXPECT_EQ(read.find("a")->nics.size(), 2u);
  EXPECT_EQ(read.find("b")->nics.size(), 1u);
  ASSERT_EQ(read.links.size(), 4u);
  EXPECT_EQ(read.links[0].a, (spec::PortName{"leaf", 3}));
  EXPECT_EQ(read.links[1].a, (spec::PortName{"leaf", 2}));
  EXPECT_EQ(read.links[2].a, (spec::PortName{"leaf", 1}));
  EXPECT_EQ(read.links[3].b, (spec::PortName{"r", 2}));
  EXPECT_EQ(read.links[3].mtu, 1500);
}

std::string error_of(const std::string& text) {
  try {
    from_containerlab(text, "x.clab.yml", {});
    return "(no error)";
  } catch (const spec::SpecError& e) {
    return e.what();
  }
}

TEST(Import, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("name: x\n"), "x.clab.yml:1:1: key 'topology' is missing: a topology file of containerlab");
  EXPECT_EQ(error_of("topology: {}\n"), "x.clab.yml:1:11: topology: key 'nodes' is missing");
  EXPECT_EQ(error_of("topology: { nodes: { a: {} }, links: [ { endpoints: [\"a:e1\", \"b:e1\"] } ] }\n"),
            "x.clab.yml:1:62: topology.links.0.endpoints.1: there is no node 'b'");
  EXPECT_EQ(error_of("topology: { nodes: { a: {} }, links: [ { endpoints: [\"a\", \"a:e1\"] } ] }\n"),
            "x.clab.yml:1:54: topology.links.0.endpoints.0: 'a' is no end of a link; expected NODE:INTERFACE");
  EXPECT_EQ(error_of("topology: { nodes: { a: {} }, links: [ { endpoints: [\"a:e1\"] } ] }\n"),
            "x.clab.yml:1:53: topology.links.0.endpoints: found 1 ends; expected two");
}

// Every element that is opened is closed, in order; attributes by element, in the order of the text.
std::map<std::string, std::vector<std::string>> elements(const std::string& xml) {
  std::map<std::string, std::vector<std::string>> found;
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::string tag = xml.substr(at + 1, xml.find('>', at) - at - 1);
    if (tag.starts_with('/')) {
      EXPECT_FALSE(open.empty());
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
      continue;
    }
    const std::string name = tag.substr(0, tag.find(' '));
    found[name].push_back(tag);
    if (!tag.ends_with('/')) open.push_back(name);
  }
  EXPECT_TRUE(open.empty());
  return found;
}

spec::Lab dual_rail() {
  return spec::parse("name: d\nhosts: { default: { scale-up: { rate: 3600Gbps } } }\n"
                     "topology: { preset: rail-optimized, hosts: 2, rails: 8, switches-per-rail: 2, spines: 0, host-link: { "
                     "rate: 200Gbps } }\n",
                     "x.yaml");
}

TEST(NcclTopology, HasAPcieSwitchPerNicIfTheLabSaysNoMore) {
  auto all = elements(nccl_topology(lab(), {}));
  EXPECT_THAT(all["system"], testing::ElementsAre("system version=\"1\" name=\"h1\""));
  EXPECT_EQ(all["cpu"].size(), 1u);
  EXPECT_EQ(all["pci"].size(), 3u) << "a switch, a GPU, a NIC";
  EXPECT_THAT(all["gpu"], testing::ElementsAre("gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/"));
  EXPECT_THAT(all["net"][0], HasSubstr("name=\"railyard0\" dev=\"0\" latency=\"0.000000\" speed=\"25000\" port=\"1\" guid="));
  EXPECT_TRUE(all["nvlink"].empty()) << "no scale-up network";
}

TEST(NcclTopology, GroupsNicsByGpu) {
  auto all = elements(nccl_topology(dual_rail(), {.node = "h2", .gpus = 8}));
  EXPECT_EQ(all["gpu"].size(), 8u);
  EXPECT_EQ(all["net"].size(), 16u);
  EXPECT_EQ(all["pci"].size(), 8u + 8 + 16);
  EXPECT_THAT(all["gpu"][0], HasSubstr("rank=\"8\""));
  EXPECT_THAT(all["nvlink"][7], HasSubstr("count=\"18\" tclass=\"0x068000\"")) << "3600 Gb/s by 200";
  EXPECT_THAT(all["net"][15], HasSubstr("name=\"railyard15\" dev=\"15\""));
  std::set<std::string> buses;
  for (const std::string& pci : all["pci"]) buses.insert(pci.substr(0, pci.find(" class")));
  EXPECT_EQ(buses.size(), all["pci"].size()) << "no bus is there twice";
}

TEST(NcclTopology, MoreGpusThanNicsShareThem) {
  auto all = elements(nccl_topology(lab(), {.node = "h2", .gpus = 4}));
  EXPECT_EQ(all["gpu"].size(), 4u);
  EXPECT_EQ(all["net"].size(), 1u);
  EXPECT_EQ(all["pci"].size(), 1u + 4 + 1);
}

// Two NICs, and their GPUs, behind each switch, whose uplink they share.
TEST(NcclTopology, HasThePcieThatTheLabSays) {
  const spec::Lab shared = spec::parse(
      "name: d\nhosts: { default: { pcie: { slot: gen5x8, uplink: gen4x16, shared-by: 2 } } }\n"
      "topology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 0, host-link: { rate: 200Gbps } }\n", "x.yaml");
  auto all = elements(nccl_topology(shared, {.node = "h1", .gpus = 8}));
  ASSERT_EQ(all["pci"].size(), 2u + 8 + 4);
  EXPECT_THAT(all["pci"][0], HasSubstr("class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\""));
  EXPECT_THAT(all["pci"][1], HasSubstr("class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"8\""));
  EXPECT_THAT(all["pci"][5], HasSubstr("class=\"0x020000\" link_speed=\"32.0 GT/s PCIe\" link_width=\"8\""));
}

spec::Lab with_gpus(const std::string& profile) {
  return spec::parse("name: d\nhosts: { default: { scale-up: { rate: 3600Gbps }, " + profile +
                         " } }\ntopology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 0, host-link: { rate: 400Gbps } }\n",
                     "x.yaml");
}

// The elements behind each PCIe switch in the order of the text: "0 1 railyard0".
std::vector<std::string> behind_switches(const std::string& xml) {
  std::vector<std::string> all;
  const auto word = [](const std::string& line, const std::string& attribute) {
    const std::size_t at = line.find(attribute + "=\"") + attribute.size() + 2;
    return line.substr(at, line.find('"', at) - at);
  };
  std::istringstream lines(xml);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("class=\"0x060400\"") != line.npos) all.emplace_back();
    if (line.find("<gpu ") != line.npos) all.back() += word(line, "dev") + " ";
    if (line.find("<net ") != line.npos) all.back() += word(line, "name");
  }
  return all;
}

TEST(NcclTopology, HasTheGpusOfTheFileEachAtItsNic) {
  const std::string xml = nccl_topology(with_gpus("gpus: 8"), {.node = "h2"});
  EXPECT_THAT(behind_switches(xml), testing::ElementsAre("0 1 railyard0", "2 3 railyard1", "4 5 railyard2", "6 7 railyard3"));
  EXPECT_THAT(elements(xml)["gpu"][0], HasSubstr("rank=\"8\"")) << "behind those of h1";
  EXPECT_THAT(behind_switches(nccl_topology(with_gpus("gpus: 5, gpu-nics: [1, 1, 1, 3, 4]"), {})),
              testing::ElementsAre("0 1 2 railyard0", "railyard1", "3 railyard2", "4 railyard3"));
  EXPECT_THAT(behind_switches(nccl_topology(with_gpus("gpus: 2"), {})),
              testing::ElementsAre("0 railyard0railyard1", "1 railyard2railyard3"));
  EXPECT_EQ(behind_switches(nccl_topology(with_gpus("gpus: 8, pcie: { slot: gen5x16, shared-by: 2 }"), {})).size(), 2u);
}

TEST(NcclTopology, AnotherNumberOfGpusWins) {
  EXPECT_THAT(behind_switches(nccl_topology(with_gpus("gpus: 5, gpu-nics: [1, 1, 1, 3, 4]"), {.node = "", .gpus = 4})),
              testing::ElementsAre("0 railyard0", "1 railyard1", "2 railyard2", "3 railyard3"));
}

TEST(NcclTopology, SaysWhatIsWrong) {
  const auto error = [](const Options& options) -> std::string {
    try {
      nccl_topology(dual_rail(), options);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "(no error)";
  };
  EXPECT_EQ(error({.node = "leaf-r1a"}), "--node leaf-r1a: the lab has no such host");
  EXPECT_EQ(error({.node = "", .gpus = 5}), "--gpus 5: h1 has 16 NICs; expected a multiple or a divisor");
}

TEST(NcclHca, NamesDevicesInTheOrderOfNics) {
  EXPECT_EQ(nccl_hca(lab(), {}), "h1 NCCL_IB_HCA==railyard0:1\nh2 NCCL_IB_HCA==railyard0:1\n");
  EXPECT_THAT(nccl_hca(dual_rail(), {.node = "h2"}),
              AllOf(StartsWith("NCCL_IB_HCA==railyard0:1,railyard1:1,"), HasSubstr(",railyard15:1\n")));
}

}  // namespace
}  // namespace railyard::exporting
