// Neighbours that switches see become nodes and links.
#include "control/import/from_lldp.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::importing {
namespace {

using testing::HasSubstr;

std::string neighbour(const std::string& interface, const std::string& node, const std::string& port,
                      const char* capability) {
  return R"({")" + interface + R"(": {"via": "LLDP", "chassis": {")" + node +
         R"(": {"id": {"type": "mac", "value": "02:00:00:00:00:01"},
    "capability": [{"type": ")" +
         capability + R"(", "enabled": true}]}}, "port": {"id": {"type": "ifname", "value": ")" + port + R"("}}}})";
}

LldpOutput output(const std::string& node, const std::vector<std::string>& neighbours) {
  std::string list;
  for (const std::string& n : neighbours) list += (list.empty() ? "" : ",") + n;
  return {node, node + ".json",
          R"({"lldp": {"interface": )" + (neighbours.size() == 1 ? list : "[" + list + "]") + "}}"};
}

// h1 and h2 at leaf1, leaf1 at spine1; leaf1's second port to the spine has the number 10.
std::vector<LldpOutput> small_fabric() {
  return {output("leaf1",
                 {neighbour("Ethernet10", "spine1", "Ethernet0", "Bridge"),
                  neighbour("Ethernet1", "h1", "eth0", "Station"), neighbour("Ethernet2", "h2", "eth0", "Station")}),
          output("spine1", {neighbour("Ethernet0", "leaf1", "Ethernet10", "Router")})};
}

TEST(FromLldp, ALinkThatBothEndsSeeIsOneLink) {
  const spec::Lab lab = spec::parse(from_lldp(small_fabric()), "x.yaml");
  ASSERT_EQ(lab.links.size(), 3u);
  EXPECT_EQ(lab.find("leaf1")->kind, spec::NodeSpec::Kind::kSwitch);
  EXPECT_EQ(lab.find("spine1")->kind, spec::NodeSpec::Kind::kSwitch);
  EXPECT_EQ(lab.find("h1")->kind, spec::NodeSpec::Kind::kHost);
  EXPECT_EQ(lab.links[0].a, (spec::PortName{"h1", 1}));
  EXPECT_EQ(lab.links[0].b, (spec::PortName{"leaf1", 1}));
  EXPECT_EQ(lab.links[2].a, (spec::PortName{"leaf1", 3}));  // Ethernet10 comes after Ethernet2
  EXPECT_EQ(lab.links[2].b, (spec::PortName{"spine1", 1}));
}

TEST(FromLldp, ASwitchThatPrintedNothingIsKnownByItsCapability) {
  const spec::Lab lab = spec::parse(from_lldp({small_fabric()[0]}), "x.yaml");
  EXPECT_EQ(lab.find("spine1")->kind, spec::NodeSpec::Kind::kSwitch);
  EXPECT_EQ(lab.links.size(), 3u);
}

TEST(FromLldp, NeighboursWithoutANameAreListed) {
  const std::string text =
      from_lldp({{"leaf1", "leaf1.json",
                  R"({"lldp": {"interface": [{"Ethernet1": {"chassis": {"id": {"value": "x"}}, "port": {}}}, )" +
                      neighbour("Ethernet2", "h2", "eth0", "Station") + "]}}"}});
  EXPECT_THAT(text, HasSubstr("# left out, since the neighbour says no port: leaf1 Ethernet1\n"));
}

std::string message(const std::vector<LldpOutput>& outputs) {
  try {
    from_lldp(outputs);
  } catch (const spec::SpecError& e) {
    return e.what();
  }
  return "no error";
}

TEST(FromLldp, EndsThatContradictEachOtherAreAnError) {
  std::vector<LldpOutput> outputs = small_fabric();
  outputs[1] = output("spine1", {neighbour("Ethernet0", "leaf1", "Ethernet1", "Bridge")});
  EXPECT_EQ(message(outputs),
            "spine1.json: lldp.interface.Ethernet0: found leaf1 Ethernet1 at spine1 Ethernet0, expected leaf1 "
            "Ethernet10, as another entry says");
}

TEST(FromLldp, OtherFilesAreAnError) {
  EXPECT_EQ(message({{"a", "a.json", "{}"}}),
            "a.json: found no key lldp, expected the output of lldpcli show neighbors -f json");
  EXPECT_EQ(message({{"a", "a.json", R"({"lldp": {}})"}}),
            "a.json: lldp: found no key interface, expected a neighbour or more");
  EXPECT_EQ(message({{"a", "a.json", R"({"lldp": {"interface": {"e1": {"port": {}}}}})"}}),
            "a.json: lldp.interface.e1: found no chassis, expected chassis and port");
  EXPECT_EQ(message({small_fabric()[0], small_fabric()[0]}),
            "leaf1.json: found a duplicate of leaf1, expected one file for each switch");
}

}  // namespace
}  // namespace railyard::importing
