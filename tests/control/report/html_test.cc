// report.html: whole, escaped, needing nothing else, bounded.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/report/html/chart.h"
#include "control/report/html/markup.h"
#include "control/report/html/page.h"
#include "control/spec/load.h"
#include "tests/control/picture/well_formed.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// The page is well-formed XML behind its first line.
picture::Document read_page(const std::string& page) { return picture::read_xml(page.substr(page.find('\n') + 1)); }

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Html, IsWellFormedAndHasEverySection) {
  const std::string page = html(sample());
  ASSERT_TRUE(page.starts_with("<!DOCTYPE html>\n"));
  const picture::Document doc = read_page(page);
  EXPECT_EQ(doc.error, "");
  for (const char* id : {"traffic", "flows", "links", "queues", "drops", "engine", "repeat"})
    EXPECT_THAT(page, HasSubstr(fmt::format("<section id=\"{}\">", id)));
  EXPECT_THAT(page, HasSubstr("railyard run labs/incast.yaml"));
  EXPECT_THAT(page, HasSubstr("0.1.0+abc"));
  EXPECT_THAT(page, HasSubstr("egress_full"));
  EXPECT_THAT(page, HasSubstr("676 us"));
  EXPECT_THAT(page, HasSubstr("<span class=\"pill fail\">fail</span><b>completion</b>"));
  EXPECT_THAT(page, HasSubstr("none: the clock is virtual and exact"));
}

TEST(Html, NeedsNothingFromElsewhere) {
  const std::string page = html(sample());
  for (const char* outside : {"http://", "https://", "<script", "<link", "<img", "@import", "url(", "<iframe"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
}

TEST(Html, EscapesWhatOthersHaveWritten) {
  Report r = sample();
  const std::string evil = "<script>alert('x')</script>&\"";
  r.run.name = r.run.spec = r.run.command = r.run.version = evil;
  r.flows[0].name = r.traffic[0].name = r.ports[0].node = r.ports[0].peer = evil;
  r.link_tiers[0].name = r.link_tiers[0].busiest = evil;
  r.path_groups[0].node = r.path_groups[0].members[0].port = evil;
  r.flows[0].roce = sample_roce();
  r.flows[0].roce->status = evil;
  r.attachments.push_back({evil, 1, evil, 1, 2, 3, 4, 5});
  fault::FaultStatus fault;
  fault.name = fault.what = fault.where = evil;
  r.faults.push_back(fault);
  const std::string page = html(r);
  EXPECT_EQ(read_page(page).error, "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
}

TEST(Html, OfAWallClockSaysWhatTheEmulatorAdds) {
  Report r = sample();
  r.run.clock = "wall";
  r.engine.lateness_ns = Percentiles{100, 200, 1300, 400, 500, 45'000};
  r.engine.slip_ns = 7000;
  const std::string page = html(r);
  EXPECT_THAT(page, HasSubstr("100 ns / 1.30 us / 45 us"));
  EXPECT_THAT(page, HasSubstr("7 us"));
}

TEST(Html, OfALargeLabIsBounded) {
  Report r = sample();
  FlowReport flow = r.flows[0];
  PortReport port = r.ports[0];
  r.flows.clear();
  for (int i = 0; i < 20'000; ++i) {
    flow.name = fmt::format("in/h{}->h1", i);
    flow.fct_ns = 400'000 + i;
    r.flows.push_back(flow);
  }
  for (int i = 0; i < 5'000; ++i) {
    port.node = fmt::format("leaf{}", i);
    port.counters.classes[3].paused = Duration{1000};
    r.ports.push_back(port);
    r.path_groups.push_back(r.path_groups[0]);
  }
  const std::string page = html(r);
  EXPECT_LT(page.size(), 120'000u);
  EXPECT_THAT(page, HasSubstr("The worst 64 of 20,000 flows"));
  EXPECT_THAT(page, HasSubstr("in/h19999-&gt;h1")) << "the slowest is among them";
  EXPECT_EQ(read_page(page).error, "");
}

TEST(Html, OfAnEmptyReportIsAPageToo) {
  const std::string page = html(Report{});
  EXPECT_EQ(read_page(page).error, "");
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(Html, ShowsQueuesOverTimeIfThereIsASeries) {
  const std::string file = testing::TempDir() + "railyard-series-test.csv";
  std::ofstream(file) << "time_ns,port,class,depth_bytes,held_cells,tx_bytes,ecn_marked,paused_ns,xoff_sent,dropped\n"
                         "10000,leaf1:1,3,4158,0,0,0,0,0,0\n"
                         "20000,leaf1:1,3,1250000,0,41580,12,0,2,0\n"
                         "20000,leaf1:2,3,4158,0,41580,0,0,0,0\n"
                         "a line that is broken\n"
                         "30000,leaf1:1,3,0,0,41580,0,0,0,0\n";
  const std::string page = html(sample(), {.series_file = file});
  EXPECT_EQ(read_page(page).error, "");
  EXPECT_THAT(page, HasSubstr("<section id=\"series\">"));
  EXPECT_THAT(page, HasSubstr("leaf1:1 class 3"));
  EXPECT_THAT(page, HasSubstr("The deepest 2 of 2 queues that held a frame."));
  std::remove(file.c_str());
  EXPECT_THROW(html(sample(), {.series_file = file}), std::runtime_error);
}

TEST(Html, ShowsRatesOverTimeIfThereAreSeries) {
  const std::string queues = testing::TempDir() + "railyard-rates-test.csv";
  const std::string flows = testing::TempDir() + "railyard-flow-rates-test.csv";
  std::ofstream(queues) << "time_ns,port,class,depth_bytes,held_cells,tx_bytes,ecn_marked,paused_ns,xoff_sent,dropped\n"
                           "10000,leaf1:1,3,0,0,40000,0,0,0,0\n"
                           "10000,leaf1:1,6,0,0,10000,0,0,0,0\n"
                           "20000,leaf1:2,3,0,0,25000,0,0,0,0\n"
                           "40000,leaf1:3,3,0,0,0,0,0,0,0\n";
  std::ofstream(flows) << "time_ns,flow,sent_bytes,delivered_bytes\n"
                          "10000,t/h1->h2,9000,5000\n"
                          "30000,t/h2->h1,90000,50000\n"
                          "40000,t/h1->h2,0,5000\n";
  const std::string page = html(sample(), {.series_file = queues, .flow_series_file = flows});
  EXPECT_EQ(read_page(page).error, "");
  EXPECT_THAT(page, HasSubstr("<section id=\"rates\">"));
  EXPECT_THAT(page, HasSubstr("All 2 flows, the largest first."));
  EXPECT_THAT(page, HasSubstr("All 2 ports (frames sent, without preamble and gap), the largest first."));
  EXPECT_THAT(page, HasSubstr("rate, means of each 10 us"));
  EXPECT_LT(page.find("<b>t/h2-&gt;h1</b>"), page.find("<b>t/h1-&gt;h2</b>")) << "the largest first";
  // 50,000 bytes of both classes in the first of four 10 us: 40 Gb/s, as far up as it goes; half of that in the second.
  // Each has an area of its own, with one scale for both.
  EXPECT_THAT(page, HasSubstr("<b>leaf1:1</b> up to 40 Gb/s"));
  EXPECT_THAT(page, HasSubstr("<path class=\"fill c0\" d=\"M0.0 1000L0.0 0.0H250.0V1000.0H500.0V1000.0H750.0V1000.0"
                              "H1000.0V1000.0V1000\"><title>leaf1:1</title>"));
  EXPECT_THAT(page, HasSubstr("<b>leaf1:2</b> up to 20 Gb/s"));
  EXPECT_THAT(page, HasSubstr("<path class=\"fill c1\" d=\"M0.0 1000L0.0 1000.0H250.0V500.0H500.0V1000.0H750.0V1000.0"
                              "H1000.0V1000.0V1000\"><title>leaf1:2</title>"));
  std::remove(queues.c_str());
  std::remove(flows.c_str());
  EXPECT_THROW(html(sample(), {.flow_series_file = flows}), std::runtime_error);
}

TEST(Html, TablesEscapeAndAlign) {
  Table t({{"name", true}, {"n", false, "how <many>"}});
  EXPECT_EQ(t.html(), "");
  t.row({"a<b", "1"});
  t.row({"c", "2"}, "bad");
  EXPECT_THAT(t.html(), HasSubstr("<td class=\"t\">a&lt;b</td><td>1</td>"));
  EXPECT_THAT(t.html(), HasSubstr("title=\"how &lt;many&gt;\""));
  EXPECT_THAT(t.html(), HasSubstr("<tr class=\"bad\">"));
}

TEST(Html, TablesOfNamesAndValuesHaveNoHeadings) {
  Table t({{"", true}, {"", true}});
  t.row({"seed", "1"});
  EXPECT_THAT(t.html(), Not(HasSubstr("<thead>")));
}

std::string plain(double v) { return fmt::format("{:g}", v); }

Chart chart_of(std::vector<Line> lines) { return {"a <title>", {"x", false, plain}, {"y", false, plain}, lines, "", 0}; }

TEST(Html, ChartsStayInsideTheirPicture) {
  Chart c = chart_of({{"a", {{1, 0}, {1e6, 5}, {1e9, 1e12}}, false}});
  c.x.logarithmic = true;
  EXPECT_EQ(picture::read_xml(chart_html(c)).error, "");
  EXPECT_THAT(chart_html(c), HasSubstr("<path class=\"line c0\" d=\"M0.0 1000.0L666.7 1000.0L1000.0 0.0\">"));
  EXPECT_THAT(chart_html(c), Not(HasSubstr("nan")));
  c.lines = {{"a", {{5, 5}}, true}};  // one point: no span on either axis
  EXPECT_THAT(chart_html(c), Not(HasSubstr("nan")));
  c.lines = {{"a", {}, false}};
  EXPECT_EQ(chart_html(c), "");
  EXPECT_EQ(strips_html(c), "");
}

// Text inside a picture shrinks with it, and cannot be read on a phone.
TEST(Html, ChartsHaveTheirTextOutsideThePictureThatStretches) {
  const Chart c = chart_of({{"a&b", {{0, 0}, {10, 10}}, false}, {"c", {{0, 1}, {10, 1}}, false}});
  for (const std::string& figure : {chart_html(c), strips_html(c)}) {
    EXPECT_EQ(picture::read_xml(figure).error, "");
    EXPECT_EQ(count_of(figure, "<text"), 0u);
    EXPECT_THAT(figure, HasSubstr("preserveAspectRatio=\"none\""));
    EXPECT_THAT(figure, HasSubstr("aria-label=\"a &lt;title&gt;\""));
    EXPECT_THAT(figure, HasSubstr("<span style=\"left:0.0%\">0</span>"));
    EXPECT_THAT(figure, HasSubstr("style=\"left:100.0%\">10</span>"));
    EXPECT_THAT(figure, HasSubstr("a&amp;b"));
  }
  EXPECT_THAT(chart_html(c), HasSubstr("<span class=\"odd\" style=\"left:20.0%\">2</span>")) << "not on a phone";
  EXPECT_THAT(chart_html(c), HasSubstr("<span style=\"top:0.0%\">10</span>"));
}

TEST(Html, LinesThatShareAnAreaHaveALegendAndLooksOfTheirOwn) {
  const Line same{"a", {{0, 0}, {10, 10}}, false};
  const std::string html = chart_html(chart_of({same, same, same}));
  for (const char* look : {"line c0", "line c1", "line c2"}) EXPECT_EQ(count_of(html, look), 2u) << look << ", one is the legend's";
  const std::string page = report::html(Report{});
  for (int i = 1; i < 8; ++i)
    EXPECT_NE(page.find(fmt::format(".line.c{} {{ stroke-dasharray:", i)), page.npos) << i;
}

TEST(Html, StripsHaveAnAreaForEachLine) {
  const Chart c = chart_of({{"small", {{0, 1}, {10, 1}}, false, "1 in all"}, {"large", {{0, 100}, {10, 50}}, false}});
  const std::string shared = strips_html(c);
  EXPECT_EQ(count_of(shared, "<div class=\"area\">"), 2u);
  EXPECT_EQ(count_of(shared, "<div class=\"xs\">"), 1u);
  EXPECT_THAT(shared, HasSubstr("<b>small</b> 1 in all"));
  EXPECT_THAT(shared, HasSubstr("d=\"M0.0 1000L0.0 990.0L1000.0 990.0V1000\"")) << "1 of 100";
  EXPECT_THAT(strips_html(c, StripScale::kOwn), HasSubstr("d=\"M0.0 1000L0.0 0.0L1000.0 0.0V1000\"")) << "1 of 1";
}

TEST(Html, TimeLinesAreBarsInPartsOfTheWhole) {
  const std::string html = time_line_html("t", {{"f<", 0, 4, false, "4"}, {"g", 2, 5, true, "no end"}}, plain);
  EXPECT_EQ(picture::read_xml(html).error, "");
  EXPECT_THAT(html, HasSubstr("<span class=\"name\">f&lt;</span>"));
  EXPECT_THAT(html, HasSubstr("<i style=\"left:0.00%;width:80.00%\">"));
  EXPECT_THAT(html, HasSubstr("<i class=\"open\" style=\"left:40.00%;width:60.00%\">"));
  EXPECT_EQ(time_line_html("t", {}, plain), "");
}

TEST(Html, ShowsTheTopology) {
  const spec::Lab lab = spec::load(RAILYARD_SOURCE_DIR "/topologies/rails-4x8.yaml");
  const std::string page = html(sample(), {.lab = &lab});
  EXPECT_EQ(read_page(page).error, "");
  EXPECT_THAT(page, HasSubstr("<section id=\"topology\">"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#topology\">"));
  EXPECT_THAT(page, HasSubstr(">leaf-r4</text>"));
  EXPECT_THAT(page, Not(HasSubstr("http://"))) << "no name space: it is part of the page";
  EXPECT_THAT(page, HasSubstr("min-width:")) << "it scrolls where it would be too small to read";
  EXPECT_THAT(html(sample()), Not(HasSubstr("id=\"topology\"")));
}

TEST(Html, EscapesTheTopologyAndBoundsIt) {
  spec::Lab lab = spec::load(RAILYARD_SOURCE_DIR "/topologies/permutation-128.yaml");
  lab.description = lab.name = "<script>alert('x')</script>&\"";
  const std::string page = html(sample(), {.lab = &lab});
  EXPECT_EQ(read_page(page).error, "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_LT(page.size(), html(sample()).size() + 80'000) << "nodes that are alike share a box";
}

}  // namespace
}  // namespace railyard::report
