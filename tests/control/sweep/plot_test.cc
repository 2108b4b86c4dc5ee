#include "control/sweep/plot.h"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/picture/well_formed.h"

namespace railyard::sweep {
namespace {

using testing::HasSubstr;

// Rates times two policies, one figure, two seeds.
Table rates() {
  Table t;
  t.spec = "x.yaml";
  t.dimensions = {{"rate", {"10Gbps", "20Gbps", "40Gbps"}}, {"path", {"ecmp", "<spray>"}}};
  t.seeds = {1, 2};
  t.metrics = {"goodput"};
  for (std::size_t x = 0; x < 3; ++x)
    for (std::size_t p = 0; p < 2; ++p) t.rows.push_back({{x, p}, {{{10e9, 30e9}}}, 2, {}});
  return t;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(SweepPlot, HasACurveForEachOfTheOtherDimensions) {
  const std::string svg = plot_svg(rates());
  EXPECT_EQ(picture::read_xml(svg).error, "");
  EXPECT_EQ(count(svg, "<path "), 2u);
  EXPECT_EQ(count(svg, "<circle "), 6u);
  EXPECT_THAT(svg, HasSubstr("path=&lt;spray&gt;"));
  EXPECT_THAT(svg, HasSubstr(">goodput<"));
  EXPECT_THAT(svg, HasSubstr("20 Gb/s</title>")) << "the median of 10 and 30";
}

// 760 wide, 90 left and 24 right of the panel: 646 between the least and the most rate, of which 20Gbps is a third.
TEST(SweepPlot, PlacesQuantitiesToScale) {
  const std::string svg = plot_svg(rates());
  EXPECT_THAT(svg, HasSubstr("M90.0 "));
  EXPECT_THAT(svg, HasSubstr("L305.3 "));
  EXPECT_THAT(svg, HasSubstr("L736.0 "));
}

// 10, 100 and 1000 are equally far from each other.
TEST(SweepPlot, PlacesWideRangesByTheirLogarithm) {
  Table t = rates();
  t.dimensions[0].values = {"1KB", "10KB", "100KB"};
  EXPECT_THAT(plot_svg(t), HasSubstr("L413.0 "));
}

TEST(SweepPlot, PlacesWordsAtEqualSteps) {
  Table t = rates();
  t.dimensions[0].values = {"ecmp", "spray", "40Gbps"};
  EXPECT_THAT(plot_svg(t), HasSubstr("L413.0 "));
}

TEST(SweepPlot, LeavesOutWhatFailed) {
  Table t = rates();
  t.rows[0].cells[0].values.clear();
  const std::string svg = plot_svg(t);
  EXPECT_EQ(count(svg, "<circle "), 5u);
  EXPECT_EQ(picture::read_xml(svg).error, "");
}

TEST(SweepPlot, NeedsTwoValues) {
  Table t = rates();
  t.dimensions[0].values.resize(1);
  EXPECT_THROW(plot_svg(t), std::invalid_argument);
  t.dimensions.clear();
  EXPECT_THROW(plot_svg(t), std::invalid_argument);
}

}  // namespace
}  // namespace railyard::sweep
