#include "control/spec/congestion_default.h"

#include <gtest/gtest.h>

#include "control/spec/spec_error.h"
#include "control/spec/load.h"

namespace railyard::spec {
namespace {

// Two hosts and RoCE between them; `keys` of the file, `traffic` of that.
std::size_t congestion(const std::string& keys, const std::string& traffic = "transport: roce") {
  const Lab lab = parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\ntraffic: [{ name: t, "
                        "from: h1, to: h2, " +
                            traffic + " }]\nrun: { duration: 1ms }\n" + keys,
                        "x.yaml");
  return lab.hosts.at("default").roce.congestion;
}
constexpr std::size_t kDcqcn = roce::congestion_number<roce::Dcqcn>();

TEST(CongestionDefault, IsDcqcnWhereTheClassMarks) {
  EXPECT_EQ(congestion(""), kDcqcn) << "class 3 of the built-in QoS profile marks";
  EXPECT_EQ(roce::DcqcnConfig{}, roce::DcqcnConfig::of(roce::DcqcnConfig::Profile::kVendor)) << "as firmware has it";
  EXPECT_EQ(congestion("hosts: { default: { roce: { congestion: auto } } }"), kDcqcn);
}

TEST(CongestionDefault, IsNoneWhereNothingMarks) {
  EXPECT_EQ(congestion("qos: { default: { classes: { 3: { ecn: off } } } }"), 0u);
  EXPECT_EQ(congestion("", "transport: roce, ecn: false"), 0u) << "packets that are not ECN-capable";
  EXPECT_EQ(congestion("", "transport: roce, dscp: 0"), 0u) << "class 0 does not mark";
  EXPECT_EQ(congestion("qos: { default: { classes: { 0: { ecn: auto } } } }", "transport: roce, dscp: 0"), kDcqcn);
}

TEST(CongestionDefault, NoneIsAskedFor) {
  EXPECT_EQ(congestion("hosts: { default: { roce: { congestion: none } } }"), 0u);
  EXPECT_EQ(congestion("hosts: { default: { roce: { congestion: swift } } }"), roce::congestion_number<roce::Swift>());
}

TEST(CongestionDefault, IsLeftAloneWithoutRoce) {
  EXPECT_EQ(congestion("", "rate: greedy"), roce::kAutomaticCongestion);
}

TEST(CongestionDefault, HoldsForCollectives) {
  const Lab lab = parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
                        "collectives: [{ name: c, size: 1MB }]\n",
                        "x.yaml");
  EXPECT_TRUE(lab.hosts.at("default").roce.is_controlled_by<roce::Dcqcn>());
}

}  // namespace
}  // namespace railyard::spec
