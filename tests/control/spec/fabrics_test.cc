// Several fabrics in one lab (control/spec/fabrics.h).
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;

const std::string kTwo =
    "name: two\nfabrics:\n"
    "  scale-out: { preset: rail-optimized, hosts: 4, rails: 2, spines: 1 }\n"
    "  storage: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 3, host-link: { rate: 25Gbps } }\n";

TEST(Fabrics, ShareHostsByName) {
  const Lab lab = parse(kTwo, "x.yaml");
  EXPECT_EQ(lab.find("h1")->nics.size(), 3u);  // two rails, and storage
  EXPECT_EQ(lab.find("h6")->nics.size(), 1u);  // storage only
  ASSERT_NE(lab.find("storage-leaf1"), nullptr);
  EXPECT_EQ(lab.find("storage-leaf1")->role, "leaf");
  EXPECT_EQ(lab.find("leaf1"), nullptr);
  const auto link = std::ranges::find(lab.links, PortName{"h1", 3}, &LinkSpec::a);
  ASSERT_NE(link, lab.links.end());
  EXPECT_EQ(link->b, (PortName{"storage-leaf1", 1}));
  EXPECT_EQ(link->rate.bps, 25'000'000'000);
}

TEST(Fabrics, AreTheSameWhenExpanded) {
  const Lab lab = parse(kTwo, "x.yaml");
  EXPECT_EQ(parse(to_yaml(lab), "y.yaml"), lab);
}

TEST(Fabrics, NodesCanBeChangedAfterwards) {
  const Lab lab = parse(kTwo + "nodes: { storage-spine1: { loopback: 192.0.2.7 } }\n", "x.yaml");
  EXPECT_EQ(to_string(*lab.find("storage-spine1")->loopback_v4), "192.0.2.7");
}

TEST(Fabrics, SayWhatIsWrong) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse(text, "x.yaml");
      return "";
    } catch (const SpecError& e) {
      return e.what();
    }
  };
  EXPECT_THAT(error(kTwo + "topology: { preset: ring, switches: 3, hosts-per-switch: 1 }\n"),
              HasSubstr("found with topology; expected one of the two"));
  EXPECT_THAT(error("name: x\nfabrics: { 'a b': { preset: ring, switches: 3 } }\n"), HasSubstr("'a b'"));
  EXPECT_THAT(error("name: x\nfabrics: { a: { preset: rong } }\n"), HasSubstr("rong"));
  EXPECT_THAT(error("name: x\nfabrics:\n  a: { preset: rail-optimized, hosts: 2, rails: 40, spines: 0 }\n"
                    "  b: { preset: rail-optimized, hosts: 2, rails: 40, spines: 0 }\n"),
              HasSubstr("h1 would have 80 NICs; expected at most 64"));
  EXPECT_THAT(error("name: x\nfabrics: [ring]\n"), HasSubstr("a map of presets by the name of the fabric"));
}

// Where both fabrics have a host, the rack is that of the first.
TEST(Fabrics, HostsStayInTheirRacks) {
  const Lab lab = parse("name: x\nfabrics:\n"
                        "  a: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
                        "  b: { preset: leaf-spine, leaves: 3, spines: 1, hosts-per-leaf: 2 }\n",
                        "x.yaml");
  EXPECT_EQ(lab.find("h1")->rack, "rack1");
  EXPECT_EQ(lab.find("a-leaf1")->rack, "rack1");
  EXPECT_EQ(lab.find("b-leaf2")->rack, "rack2");
  EXPECT_EQ(lab.find("h5")->rack, "b-rack3") << "in the second fabric only";
  EXPECT_EQ(lab.find("b-leaf3")->rack, "b-rack3");
}

// Two fabrics with addresses by rail: those of the second are automatic.
TEST(Fabrics, DoNotShareAddresses) {
  const Lab lab = parse("name: x\nfabrics:\n"
                        "  a: { preset: rail-optimized, hosts: 2, rails: 2, rails-per-switch: all }\n"
                        "  b: { preset: rail-optimized, hosts: 2, rails: 2, rails-per-switch: all }\n",
                        "x.yaml");
  const NodeSpec& h2 = *lab.find("h2");
  ASSERT_EQ(h2.nics.size(), 4u);
  EXPECT_EQ(to_string(*h2.nics[1].address_v4), "10.2.0.2");
  EXPECT_EQ(to_string(*h2.nics[3].address_v4), "10.0.1.4");
}

// No way leads from one fabric to the other.
TEST(Fabrics, TrafficStaysInItsFabric) {
  EXPECT_NO_THROW(parse(kTwo + "traffic: [{ name: t, pattern: pairs, from: 'h1:3', to: 'h4:3', bytes: 1MB }]\n", "x.yaml"));
  EXPECT_THROW(parse(kTwo + "traffic: [{ name: t, pattern: pairs, from: 'h1:3', to: 'h4:1', bytes: 1MB }]\n", "x.yaml"),
               SpecError);
}

}  // namespace
}  // namespace railyard::spec
