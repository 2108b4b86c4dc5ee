#include "control/spec/column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum Column::Kind;

TEST(Column, IsWordsInAnyOrderAndSettingsBehindThem) {
  const Parsed<Column> c = parse_column("ecmp/roce/pfc/gbn, hosts.default.roce.window=64, qos.x={ a: 1, b: 2 }");
  ASSERT_TRUE(c) << c.error();
  EXPECT_EQ(c->name, "ecmp/roce/pfc/gbn");
  EXPECT_EQ(c->word(kTransport), "roce");
  EXPECT_EQ(c->word(kRecovery), "gbn");
  EXPECT_EQ(c->word(kPath), "ecmp");
  EXPECT_EQ(c->word(kLoss), "pfc");
  EXPECT_EQ(c->word(kCongestion), "") << "as the file has it";
  EXPECT_FALSE(c->is_uet());
  EXPECT_THAT(c->sets, ElementsAre("hosts.default.roce.window=64", "qos.x={ a: 1, b: 2 }"));
  EXPECT_TRUE(parse_column("uet/rud/nscc/spray/trim")->is_uet());
  EXPECT_EQ(parse_column("roce/uc/ecmp")->word(kService), "uc");
}

TEST(Column, SaysWhatIsWrongWithIt) {
  const auto error = [](const char* text) {
    return parse_column(text) ? std::string("nothing") : parse_column(text).error();
  };
  EXPECT_THAT(error("roce/gbm"), HasSubstr("unknown word 'gbm' in a column; did you mean 'gbn'?"));
  EXPECT_THAT(error("roce//pfc"), HasSubstr("unknown word ''"));
  EXPECT_THAT(error(""), HasSubstr("unknown word ''"));
  EXPECT_THAT(error("gbn/ecmp"), HasSubstr("has no transport; expected roce or uet"));
  EXPECT_THAT(error("roce/gbn/sr"), HasSubstr("'sr' and 'gbn' exclude each other"));
  EXPECT_THAT(error("roce/uet"), HasSubstr("'uet' and 'roce' exclude each other"));
  EXPECT_THAT(error("uet/gbn"), HasSubstr("'gbn' does not apply to uet"));
  EXPECT_THAT(error("roce/uc/sr"), HasSubstr("'sr' does not apply to uc, which has no retransmission"));
  EXPECT_THAT(error("roce/uc/rc"), HasSubstr("'rc' and 'uc' exclude each other"));
  EXPECT_THAT(error("uet/uc"), HasSubstr("'uc' does not apply to uet"));
  EXPECT_THAT(error("roce/rud"), HasSubstr("'rud' does not apply to roce"));
  EXPECT_THAT(error("roce, window"), HasSubstr("'window': expected settings such as"));
}

TEST(Column, WhatAFileSearchesForIsCheckedWhereItStands) {
  const auto lab = [](const std::string& compare) {
    return "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\ncompare: { " + compare + " }\n";
  };
  const Lab l = parse(lab("search: traffic.a.rate=1Gbps..9Gbps, until: drops=0 and accepted>0.9, resolution: 5%"), "x");
  const CompareSpec& c = l.compare;
  EXPECT_EQ(c.search, "traffic.a.rate=1Gbps..9Gbps");
  EXPECT_EQ(c.until, "drops=0 and accepted>0.9");
  EXPECT_EQ(c.resolution, (Ratio{1, 20}));
  const auto error = [&](const std::string& compare) -> std::string {
    try {
      parse(lab(compare), "x.yaml");
      return "nothing";
    } catch (const SpecError& e) {
      return e.what();
    }
  };
  EXPECT_THAT(error("search: traffic.a.rate=1Gbps"),
              HasSubstr("x.yaml:3:20: compare.search: 'traffic.a.rate=1Gbps': no range"));
  EXPECT_THAT(error("search: a=1..2, until: drops"), HasSubstr("compare.until: 'drops': no comparison"));
  EXPECT_THAT(error("search: a=1..2, resolution: 150%"), HasSubstr("compare.resolution: expected a fraction"));
  EXPECT_THAT(error("method: T6.9"), HasSubstr("compare.method: is not a test that compares transports"));
  EXPECT_THAT(error("profile: ci"), HasSubstr("compare.profile: needs method (a test of the benchmark draft)"));
  EXPECT_THAT(error("method: T6.4, profile: smoke"), HasSubstr("expected ci, lab or full"));
  EXPECT_THAT(error("until: drops=0"), HasSubstr("compare.until: needs search"));
}

TEST(Column, OfAFileIsCheckedWhereItStands) {
  const std::string lab = "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n";
  EXPECT_THAT(parse(lab + "compare: { columns: [roce/gbn/ecmp, roce/sr/ecmp], over: topology.leaves=1, seeds: 1-3 }\n",
                    "x.yaml")
                  .compare.columns,
              ElementsAre("roce/gbn/ecmp", "roce/sr/ecmp"));
  try {
    parse(lab + "compare:\n  columns: [roce/gbn, roce/ecpm]\n", "x.yaml");
    FAIL() << "was taken";
  } catch (const SpecError& e) {
    EXPECT_THAT(e.what(), HasSubstr("x.yaml:4:"));
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'ecmp'?"));
  }
}

}  // namespace
}  // namespace railyard::spec
