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
  EXPECT_THAT(error("name: x\nfabrics: [ring]\n"), HasSubstr("a map of presets by the name of the fabric"));
}

// No way leads from one fabric to the other.
TEST(Fabrics, TrafficStaysInItsFabric) {
  EXPECT_NO_THROW(parse(kTwo + "traffic: [{ name: t, pattern: pairs, from: 'h1:3', to: 'h4:3', bytes: 1MB }]\n", "x.yaml"));
  EXPECT_THROW(parse(kTwo + "traffic: [{ name: t, pattern: pairs, from: 'h1:3', to: 'h4:1', bytes: 1MB }]\n", "x.yaml"),
               SpecError);
}

}  // namespace
}  // namespace railyard::spec
