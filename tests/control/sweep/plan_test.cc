#include "control/sweep/plan.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::sweep {
namespace {

using testing::ElementsAre;

template <class F>
std::string refused(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(SweepPlan, CommasInsideOfBracketsAndQuotesSeparateNothing) {
  const Dimension d = parse_dimension("a.b=ecmp, spray ,{ policy: adaptive, per: flowlet },[1, 2],'x,y',");
  EXPECT_EQ(d.path, "a.b");
  EXPECT_THAT(d.values, ElementsAre("ecmp", "spray", "{ policy: adaptive, per: flowlet }", "[1, 2]", "'x,y'", ""));
}

TEST(SweepPlan, KeysWithAPlusBetweenThemTakeTheSame) {
  const Dimension d = parse_dimension("traffic.a.message+traffic.a.bytes=64B,4KB");
  EXPECT_THAT(d.sets(1), ElementsAre("traffic.a.message=4KB", "traffic.a.bytes=4KB"));
  EXPECT_THAT(parse_dimension("a.b=1,2").sets(0), ElementsAre("a.b=1"));
  EXPECT_NE(refused([] { parse_dimension("a.b+=1,2"); }).find("expected paths on both sides of '+'"),
            std::string::npos);
  EXPECT_NE(refused([] {
              points({parse_dimension("a+b=1"), parse_dimension("b=2")}, 1);
            }).find("b is given twice"),
            std::string::npos);
}

TEST(SweepPlan, TheLastDimensionVariesFastest) {
  const std::vector<Dimension> two{parse_dimension("a=1,2"), parse_dimension("b=x,y,z")};
  EXPECT_THAT(points(two, 1),
              ElementsAre(Point{0, 0}, Point{0, 1}, Point{0, 2}, Point{1, 0}, Point{1, 1}, Point{1, 2}));
  EXPECT_THAT(points({}, 3), ElementsAre(Point{})) << "one point, run with each seed";
}

TEST(SweepPlan, Seeds) {
  EXPECT_THAT(parse_seeds("7"), ElementsAre(7u));
  EXPECT_THAT(parse_seeds("3-5"), ElementsAre(3u, 4u, 5u));
  EXPECT_EQ(parse_seeds("18446744073709551615").size(), 1u) << "no run past the end";
}

TEST(SweepPlan, WhatIsWrongIsSaid) {
  using testing::HasSubstr;
  EXPECT_THAT(refused([] { parse_dimension("topology.spines"); }), HasSubstr("expected PATH=VALUE,VALUE"));
  EXPECT_THAT(refused([] { parse_dimension("=1"); }), HasSubstr("expected PATH=VALUE,VALUE"));
  EXPECT_THAT(refused([] { parse_dimension("a="); }), HasSubstr("a: no value"));
  EXPECT_THAT(refused([] { parse_dimension("a=1,2,1"); }), HasSubstr("'1' is given twice"));
  for (const char* seeds : {"", "x", "5-3", "1-", "-1", "1-99999"})
    EXPECT_THAT(refused([&] { parse_seeds(seeds); }), HasSubstr("--seeds")) << seeds;
  EXPECT_THAT(refused([] {
                points({parse_dimension("a=1,2"), parse_dimension("a=3")}, 1);
              }),
              HasSubstr("a is given twice"));
  std::string many = "a=0";
  for (int i = 1; i < 400; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(refused([&] {
                points({parse_dimension(many), parse_dimension("b" + many)}, 1);
              }),
              HasSubstr("more than 100000 runs"));
}

}  // namespace
}  // namespace railyard::sweep
