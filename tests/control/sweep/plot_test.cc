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

// 760 wide, 90 left and 24 right of the panel, 40 free at both ends: 566 between the least and the most rate, of which
// 20Gbps is a third.
TEST(SweepPlot, PlacesQuantitiesToScale) {
  const std::string svg = plot_svg(rates());
  EXPECT_THAT(svg, HasSubstr("M130.0 "));
  EXPECT_THAT(svg, HasSubstr("L318.7 "));
  EXPECT_THAT(svg, HasSubstr("L696.0 "));
}

TEST(SweepPlot, CurvesThatCoincideStayVisible) {
  const std::string svg = plot_svg(rates());  // both policies have the same goodputs
  EXPECT_THAT(svg, HasSubstr("stroke-width=\"3\" stroke-dasharray=\"none\" d="));
  EXPECT_THAT(svg, HasSubstr("stroke-width=\"2.6\" stroke-dasharray=\"9 4\" d="));
}

// 30 Gb/s at most: ticks every 10 Gb/s, the last at the top of the panel (34 above the panels, 40 of legend, 30 of title).
TEST(SweepPlot, TheAxisHasUnitsAndEndsAtATick) {
  Table t = rates();
  EXPECT_THAT(plot_svg(t), HasSubstr("y1=\"104.0\" x2=\"736\" y2=\"104.0\"/><text x=\"84\" y=\"108.0\" text-anchor=\"end\">30 Gb/s<"));
  t.metrics = {"drops"};
  for (Row& row : t.rows) row.cells[0].values = {0, 0};
  const std::string none = plot_svg(t);
  EXPECT_THAT(none, HasSubstr(">drops (count)<"));
  EXPECT_THAT(none, HasSubstr(">1<"));
  EXPECT_EQ(none.find(">0.2"), none.npos) << "there are no parts of a frame";
  t.metrics = {"jain"};
  for (Row& row : t.rows) row.cells[0].values = {0.9, 0.9};
  EXPECT_THAT(plot_svg(t), HasSubstr(">jain (share, 0..1)<"));
  EXPECT_THAT(plot_svg(t), HasSubstr(">0.2<"));
}

TEST(SweepPlot, SaysWhatItLeftOut) {
  Table t = rates();
  EXPECT_EQ(plot_svg(t).find("are drawn"), std::string::npos);
  t.dimensions[1].values.resize(12, "x");
  t.metrics.assign(9, "goodput");
  t.rows.clear();
  for (std::size_t x = 0; x < 3; ++x)
    for (std::size_t p = 0; p < 12; ++p) t.rows.push_back({{x, p}, std::vector<Cell>(9, Cell{{1e9}}), 1, {}});
  EXPECT_THAT(plot_svg(t), HasSubstr("8 of 12 combinations are drawn."));
  EXPECT_THAT(plot_svg(t), HasSubstr("8 of 9 figures are drawn."));
}

// 10, 100 and 1000 are equally far from each other.
TEST(SweepPlot, PlacesWideRangesByTheirLogarithm) {
  Table t = rates();
  t.dimensions[0].values = {"1KB", "10KB", "100KB"};
  EXPECT_THAT(plot_svg(t), HasSubstr("L413.0 "));
  EXPECT_THAT(plot_svg(t), HasSubstr("rate (logarithmic)"));
}

// Nothing lies between words: no lines, and the marks of the two curves stand 9 beside each other.
TEST(SweepPlot, PlacesWordsAtEqualSteps) {
  Table t = rates();
  t.dimensions[0].values = {"ecmp", "spray", "40Gbps"};
  const std::string svg = plot_svg(t);
  EXPECT_EQ(count(svg, "<path "), 0u);
  EXPECT_EQ(count(svg, "<circle "), 6u);
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"408.5\""));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"417.5\""));
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
