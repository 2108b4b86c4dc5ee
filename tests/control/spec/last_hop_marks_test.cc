#include "control/spec/last_hop_marks.h"

#include <string>

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::spec {
namespace {

// Class 3, to hosts of profile `default`.
bool marks(const std::string& congestion, const std::string& ecn, const std::string& more_traffic = "") {
  const Lab lab = parse("name: marks\n"
                        "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
                        "hosts: { default: { uet: { congestion: " + congestion + " } } }\n"
                        "qos: { default: { classes: { 3: { ecn: " + ecn + " } } } }\n"
                        "traffic:\n"
                        "  - { name: u, from: h1, to: h3, transport: uet, message: 1MB, bytes: 1MB }\n" + more_traffic,
                        "marks.yaml");
  return marks_last_hop(lab, lab.qos.at("default"), 3, lab.hosts.at("default"));
}

TEST(LastHopMarks, AreThereUnlessReceiversGrantCredit) {
  EXPECT_TRUE(marks("nscc", "auto"));
  EXPECT_FALSE(marks("rccc", "auto"));
  EXPECT_FALSE(marks("both", "auto"));
}

TEST(LastHopMarks, OfAClassThatOthersUseStay) {
  EXPECT_TRUE(marks("both", "auto", "  - { name: r, from: h2, to: h4, transport: roce, message: 1MB, bytes: 1MB }\n"));
  EXPECT_FALSE(marks("both", "auto", "  - { name: r, from: h2, to: h4, transport: roce, message: 1MB, bytes: 1MB, dscp: 8 }\n"));
}

TEST(LastHopMarks, AreAsTheFileSays) {
  EXPECT_TRUE(marks("both", "{ kmin: 40KB, kmax: 160KB, last-hop: true }"));
  EXPECT_FALSE(marks("nscc", "{ kmin: 40KB, kmax: 160KB, last-hop: false }"));
}

}  // namespace
}  // namespace railyard::spec
