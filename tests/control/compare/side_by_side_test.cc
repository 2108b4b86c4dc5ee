#include "control/compare/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Three columns over two seeds; the last failed once.
SideBySide sample() {
  SideBySide s;
  s.spec = "x";
  s.seeds = {1, 2};
  s.columns = {{"roce/gbn"}, {"roce/sr"}, {"uet/rud"}};
  s.metrics = {"fct_p99", "busbw", "ecn_marked"};
  s.blocks = {{{"topology.spines=2"},
               {{{{200'000, 220'000}}, {{100'000, 110'000}}, {{50'000}}},
                {{{40e9, 40e9}}, {{60e9, 60e9}}, {{80e9}}},
                {{{5, 5}}, {{0, 0}}, {{}}}},
               {{}, {}, {"seed 2: out of memory"}}}};
  s.blocks[0].setups = {
      {{"a.b=1"}}, {{"a.b=2"}, {"RoCEv2 RC", "dcqcn (vendor)", "selective-repeat", "ecmp", "3 lossy"}}, {{"a.b=<3>"}}};
  s.blocks[0].settings = {{"a.b", {"1", "2", "<3>"}}};
  return s;
}

TEST(SideBySide, ShowsChangesAgainstTheFirstColumn) {
  const SideBySide s = sample();
  EXPECT_FALSE(s.change(s.blocks[0], 0, 0));
  EXPECT_NEAR(*s.change(s.blocks[0], 0, 1), -0.5, 1e-9);
  EXPECT_NEAR(*s.change(s.blocks[0], 1, 1), 0.5, 1e-9);
  EXPECT_FALSE(s.change(s.blocks[0], 2, 2)) << "it has none";
}

TEST(SideBySide, TheBestIsOfThoseThatDidNotFail) {
  const SideBySide s = sample();
  EXPECT_THAT(s.best(s.blocks[0], 0), ElementsAre(1u));
  EXPECT_THAT(s.best(s.blocks[0], 1), ElementsAre(1u));
  EXPECT_THAT(s.best(s.blocks[0], 2), IsEmpty()) << "neither end is better";
  EXPECT_TRUE(s.failed());
  SideBySide alike = s;
  alike.blocks[0].cells[0][1] = alike.blocks[0].cells[0][0];
  EXPECT_THAT(alike.best(alike.blocks[0], 0), IsEmpty());
}

TEST(SideBySide, TimesOfWhatWasCompletedWinNothingWhereNotAllWas) {
  SideBySide s = sample();
  s.metrics[1] = "goodput";
  s.blocks[0].incomplete = {"", "1 of 8", ""};
  EXPECT_THAT(s.best(s.blocks[0], 0), IsEmpty()) << "of the others one has failed";
  EXPECT_THAT(s.best(s.blocks[0], 1), ElementsAre(1u)) << "goodput is of what arrived";
  EXPECT_FALSE(s.change(s.blocks[0], 0, 1));
  EXPECT_TRUE(s.change(s.blocks[0], 1, 1));
  EXPECT_THAT(s.text(), HasSubstr("105 us (100 us .. 110 us) (1 of 8)"));
  EXPECT_THAT(s.text(), HasSubstr("(n of m): n of m flows and collective iterations completed"));
  EXPECT_THAT(s.html(), HasSubstr("(1 of 8)"));
  EXPECT_EQ(s.json()["blocks"][0]["incomplete"][1], "1 of 8");
}

// A dead transport has short queues and low latencies, and is not the best.
TEST(SideBySide, AColumnThatDeliveredLessIsTheBestOfNothing) {
  SideBySide s = sample();
  s.blocks[0].failures[2].clear();
  s.blocks[0].delivery = {{{1}, {0.9}}, {{1}, {0.9}}, {{1}, {0.05}}};
  EXPECT_THAT(s.best(s.blocks[0], 0), ElementsAre(1u)) << "the third had half of its time";
  EXPECT_THAT(s.best(s.blocks[0], 1), ElementsAre(1u));
  for (const std::string& out : {s.text(), s.html()})
    EXPECT_THAT(out, HasSubstr("uet/rud delivered less than another column (completed 1.000, delivered 0.050): no star"));
  EXPECT_EQ(s.json()["blocks"][0]["delivered_less"][2], true);
  s.blocks[0].delivery = {{{1}, {}}, {{0.875}, {}}, {{1}, {}}};
  EXPECT_THAT(s.best(s.blocks[0], 0), ElementsAre(2u)) << "of the second a flow did not complete";
  s.blocks[0].delivery = {{{1}, {}}, {{0.5}, {}}, {{0.5}, {}}};
  s.metrics[1] = "completed";
  for (std::size_t c = 0; c < 3; ++c) s.blocks[0].cells[1][c].values = {c == 0 ? 1.0 : 0.5};
  EXPECT_THAT(s.best(s.blocks[0], 1), ElementsAre(0u)) << "alone, and better than the others";
}

TEST(SideBySide, SaysWhatItIsOfTheBenchmarkDraft) {
  SideBySide s = sample();
  EXPECT_THAT(s.text(), Not(HasSubstr("draft")));
  EXPECT_FALSE(s.json().contains("method"));
  s.method = {"T6.6", spec::MethodProfile::kCi, {"N = 16"}};
  for (const std::string& out : {s.text(), s.html()}) {
    EXPECT_THAT(out,
                HasSubstr("T6.6 of draft-calabria-bmwg-ai-fabric-training-bench-04, profile ci: smoke, not a draft "
                          "result"));
    EXPECT_THAT(out, HasSubstr("Deviations: the platform is software"));
    EXPECT_THAT(out, HasSubstr("; N = 16"));
    EXPECT_THAT(out, HasSubstr("UET security (TSS): none"));
  }
  const auto j = s.json()["method"];
  EXPECT_EQ(j["test"], "T6.6");
  EXPECT_EQ(j["methodology"]["rev"], "04");
  EXPECT_EQ(j["label"], "smoke, not a draft result");
  EXPECT_EQ(j["tss"], "none");
  EXPECT_EQ(j["platform"]["deviations"].back(), "N = 16");
  EXPECT_TRUE(j["verdict"].is_null());
}

TEST(SideBySide, APageLinksReportsExplainsRowsAndDrawsDistributions) {
  SideBySide s = sample();
  s.blocks[0].reports = {{"roce-gbn-seed1", "roce-gbn-seed2"}, {}, {}};
  s.blocks[0].distributions = {{"short: time of a message", {{{0, 1000}, {0.99, 9000}}, {{0, 2000}, {1, 3000}}, {}}}};
  s.notes = {"a < b"};
  const std::string page = s.html();
  EXPECT_THAT(page, HasSubstr("<a href=\"roce-gbn-seed2/report.html\">roce/gbn (seed 2)</a>"));
  EXPECT_THAT(page, HasSubstr("Figures explained"));
  EXPECT_THAT(page, HasSubstr("flow completion time"));
  EXPECT_THAT(page, HasSubstr("short: time of a message: distribution"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("Note: a &lt; b"));
  EXPECT_THAT(s.text(), HasSubstr("Note: a < b\n"));
  EXPECT_EQ(s.json()["blocks"][0]["distributions"][0]["points"][0][1][1], 9000);
}

TEST(SideBySide, IsTextWithEveryColumnAndWhatItChanges) {
  const std::string text = sample().text();
  EXPECT_THAT(text, HasSubstr("topology.spines=2"));
  EXPECT_THAT(text, HasSubstr("105 us (100 us .. 110 us)  -50.0 % *"));
  EXPECT_THAT(text, HasSubstr("FAILED uet/rud: seed 2: out of memory"));
  EXPECT_THAT(text, HasSubstr("Settings that differ\n  setting  roce/gbn  roce/sr  uet/rud\n  a.b      1         2        <3>\n"));
  EXPECT_THAT(text, testing::ContainsRegex("roce/sr +RoCEv2 RC +dcqcn .vendor. +selective-repeat +ecmp +3 lossy"));
  EXPECT_THAT(text, HasSubstr("percentages relative to roce/gbn"));
}

TEST(SideBySide, IsJson) {
  const auto j = sample().json();
  EXPECT_EQ(j["columns"][1]["set"][0], "a.b=2");
  EXPECT_EQ(j["blocks"][0]["figures"]["fct_p99"][1]["median"], 105'000);
  EXPECT_EQ(j["blocks"][0]["figures"]["fct_p99"][1]["best"], true);
  EXPECT_TRUE(j["blocks"][0]["figures"]["fct_p99"][0]["change"].is_null());
  EXPECT_TRUE(j["blocks"][0]["figures"]["ecn_marked"][2].is_null());
  EXPECT_EQ(j["blocks"][0]["failed"][2][0], "seed 2: out of memory");
}

// What a comparison is made over may be what columns are: congestion control, recovery, the class.
TEST(SideBySide, EveryBlockHasFactsAndSettingsOfItsOwn) {
  SideBySide s = sample();
  s.blocks.push_back(s.blocks.front());
  EXPECT_THAT(s.text(), testing::StartsWith("Columns\n")) << "said once, if they are the same";
  EXPECT_EQ(s.json()["columns"][1]["congestion"], "dcqcn (vendor)");
  s.blocks[1].over = {"hosts.default.roce.congestion=swift"};
  s.blocks[1].setups[1].facts.congestion = "swift";
  s.blocks[1].settings[0].values[1] = "7";
  for (const std::string& out : {s.text(), s.html()}) {
    EXPECT_LT(out.find("dcqcn (vendor)"), out.find("congestion=swift"));
    EXPECT_GT(out.rfind("swift"), out.find("congestion=swift") + 20);
    EXPECT_EQ(out.find("dcqcn (vendor)"), out.rfind("dcqcn (vendor)"));
    EXPECT_LT(out.find("Settings that differ"), out.rfind("Settings that differ"));
  }
  EXPECT_THAT(s.text(), testing::ContainsRegex("a.b +1 +7 +<3>"));
  const auto j = s.json();
  EXPECT_TRUE(j["columns"][1]["congestion"].is_null());
  EXPECT_TRUE(j["settings"].is_null());
  EXPECT_EQ(j["blocks"][0]["columns"][1]["congestion"], "dcqcn (vendor)");
  EXPECT_EQ(j["blocks"][1]["columns"][1]["congestion"], "swift");
  EXPECT_EQ(j["blocks"][1]["settings"][0]["values"][1], "7");
}

TEST(SideBySide, ALongValueStandsBelowItsKey) {
  SideBySide s = sample();
  std::string hosts = "[h1";
  for (int i = 2; i < 40; ++i) hosts += ", h" + std::to_string(i);
  hosts += "]";
  s.blocks[0].settings.push_back({"traffic.t.from", {"h1", hosts, "h2"}});
  EXPECT_THAT(s.text(),
              HasSubstr("  a.b      1         2        <3>\n  traffic.t.from\n    roce/gbn: h1\n    roce/sr: " + hosts +
                        "\n    uet/rud: h2\n"));
}

TEST(SideBySide, IsAPageWithEverythingEscaped) {
  const std::string page = sample().html();
  EXPECT_THAT(page, HasSubstr("<h1>x: transports compared</h1>"));
  EXPECT_THAT(page, HasSubstr("&lt;3&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace railyard::compare
