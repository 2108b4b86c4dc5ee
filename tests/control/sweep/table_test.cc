#include "control/sweep/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Three policies, two figures, three seeds; the last policy failed once.
Table sample_table() {
  Table t;
  t.spec = "x.yaml";
  t.dimensions = {{"path", {"ecmp", "spray", "adaptive"}}};
  t.seeds = {1, 2, 3};
  t.metrics = {"fct_p99", "goodput"};
  t.rows = {{{0}, {{{300'000, 900'000, 400'000}}, {{50e9, 60e9, 55e9}}}, 3, {}},
            {{1}, {{{200'000, 210'000, 220'000}}, {{40e9, 45e9, 42e9}}}, 3, {}},
            {{2}, {{{100'000, 100'000}}, {{99e9, 99e9}}}, 3, {"path=adaptive seed 2: out of memory"}}};
  return t;
}

TEST(SweepTable, SeveralSeedsAreAMedianBetweenTheirEnds) {
  const Cell odd{{3, 1, 2}};
  EXPECT_EQ(odd.median(), 2);
  EXPECT_EQ(odd.min(), 1);
  EXPECT_EQ(odd.max(), 3);
  EXPECT_EQ((Cell{{4, 1}}).median(), 2.5);
  EXPECT_FALSE(Cell{}.median());
}

TEST(SweepTable, CsvHasMediansAndTheirRange) {
  Table t = sample_table();
  t.metrics[0] = "-fct_p99";
  t.dimensions[0].values[2] = "{ policy: adaptive, per: flowlet }";
  t.rows[1].incomplete = "1 of 8";
  t.rows[2].cells[1].values.clear();
  EXPECT_EQ(t.csv(),
            "path,fct_p99,fct_p99.min,fct_p99.max,goodput,goodput.min,goodput.max,runs,failed,incomplete\n"
            "ecmp,400000,300000,900000,55000000000,50000000000,60000000000,3,0,\n"
            "spray,210000,200000,220000,42000000000,40000000000,45000000000,3,0,1 of 8\n"
            "\"{ policy: adaptive, per: flowlet }\",100000,100000,100000,,,,3,1,\n");
}

TEST(SweepTable, EachFigureHasAWinnerAndWhatFailedWinsNothing) {
  EXPECT_THAT(sample_table().winners(), ElementsAre(ElementsAre(1u), ElementsAre(0u)));
}

TEST(SweepTable, WhereNotAllWasCompletedTheTimesOfTheRestWinNothing) {
  Table t = sample_table();
  t.rows[1].incomplete = "1 of 8";
  EXPECT_THAT(t.winners()[0], IsEmpty()) << "of the other two one has failed";
  EXPECT_THAT(t.text(), HasSubstr("210 us (200 us .. 220 us) (1 of 8)"));
  EXPECT_THAT(t.text(), HasSubstr("(n of m): n of m flows and collective iterations completed"));
  EXPECT_THAT(t.winners()[1], ElementsAre(0u)) << "goodput is of what arrived";
  t.rows[2].failures.clear();
  t.metrics[0] = "drops";
  t.rows[1].cells[0].values = {0, 0, 0};
  EXPECT_THAT(t.winners()[0], ElementsAre(2u)) << "no drops of what was not sent are no merit";
}

TEST(SweepTable, ZerosAreNotStarredBecauseAWorseRunStandsBesideThem) {
  Table t = sample_table();
  t.metrics = {"xoff_sent", "drops"};
  t.rows[0].cells = {{{0, 0, 0}}, {{0, 0, 0}}};
  t.rows[1].cells = {{{0, 0, 0}}, {{0, 0, 0}}};
  t.rows[2] = {{2}, {{{292, 292, 292}}, {{0, 0, 0}}}, 3, {}, {}, {{}, {0.6, 0.6, 0.6}}};
  t.rows[0].delivery = t.rows[1].delivery = {{}, {1, 1, 1}};
  EXPECT_THAT(t.winners(), ElementsAre(IsEmpty(), IsEmpty())) << "the two that delivered all are alike";
}

TEST(SweepTable, ARowWithFailedFlowsOrWithoutAnyDeliveryWinsNothing) {
  Table t = sample_table();
  t.rows[2].failures.clear();
  t.rows[0].delivery = {{}, {1, 1, 1}, {0, 0, 0}};
  t.rows[1].delivery = {{}, {1, 1, 1}, {0, 0, 0}};
  t.rows[2].delivery = {{}, {0.999, 0.999, 0.999}, {1, 0, 1}};
  EXPECT_THAT(t.winners(), ElementsAre(ElementsAre(1u), ElementsAre(0u)));
  EXPECT_THAT(t.text(), HasSubstr("adaptive delivered less than another (delivered 0.999, failed flows 0.667): no star"));
  for (Row& row : t.rows) row.delivery = {{}, {0, 0, 0}};
  EXPECT_THAT(t.winners(), ElementsAre(IsEmpty(), IsEmpty())) << "all are dead";
}

TEST(SweepTable, ValuesWithinAThousandthShareTheStar) {
  Table t = sample_table();
  t.rows[2].failures.clear();
  t.rows[0].cells[1].values = {99.95e9};
  t.rows[2].cells[1].values = {100e9};
  EXPECT_THAT(t.winners()[1], ElementsAre(0u, 2u));
}

// Public reports of dead transports: few drops, short queues, low latencies, and nothing carried.
TEST(SweepTable, ARowThatDeliveredLessWinsNothing) {
  Table t = sample_table();
  t.rows[0].delivery = {{1, 1, 1}, {0.98, 0.98, 0.98}};
  t.rows[1].delivery = {{1, 1, 1}, {0.05, 0.05, 0.05}};
  EXPECT_THAT(t.winners()[0], IsEmpty()) << "of the others one has failed";
  EXPECT_THAT(t.winners()[1], ElementsAre(0u)) << "it beats the one that delivered less, too";
  EXPECT_THAT(t.text(), HasSubstr("spray delivered less than another (completed 1.000, delivered 0.050): no star"));
  EXPECT_EQ(t.json()["rows"][1]["delivered_less"], true);
  EXPECT_EQ(t.json()["rows"][0]["delivered_less"], false);
  t.rows[1].delivery = {{1, 1, 1}, {0.975, 0.975, 0.975}};
  EXPECT_THAT(t.winners()[0], ElementsAre(1u)) << "within a hundredth they are alike";
  t.rows[1].delivery = {{1, 0.99, 1}, {0.98, 0.98, 0.98}};
  EXPECT_THAT(t.winners()[0], IsEmpty()) << "a flow did not complete";
}

TEST(SweepTable, NobodyWinsWhereAllAreAlikeOrNeitherEndIsBetter) {
  Table t = sample_table();
  t.metrics = {"ecn_marked", "drops"};
  for (Row& r : t.rows) r.cells[1].values = {0, 0, 0};
  EXPECT_THAT(t.winners(), ElementsAre(IsEmpty(), IsEmpty()));
  t.metrics[0] = "-ecn_marked";
  EXPECT_THAT(t.winners()[0], ElementsAre(1u)) << "a metric may say which end is better";
  t.metrics[0] = "+ecn_marked";
  EXPECT_THAT(t.winners()[0], ElementsAre(0u));
  t.rows.resize(1);
  EXPECT_THAT(t.winners()[0], IsEmpty());
}

TEST(SweepTable, IsTextWithMedianEndsWinnerAndFailures) {
  const std::string text = sample_table().text();
  EXPECT_THAT(text, HasSubstr("400 us (300 us .. 900 us)"));
  EXPECT_THAT(text, HasSubstr("210 us (200 us .. 220 us) *"));
  EXPECT_THAT(text, HasSubstr("400 us (300 us .. 900 us)    ")) << "figures stand below each other, with a star or without";
  EXPECT_THAT(text, HasSubstr("1 of 3"));
  EXPECT_THAT(text, HasSubstr("FAILED path=adaptive seed 2: out of memory"));
}

TEST(SweepTable, IsJson) {
  const auto j = sample_table().json();
  EXPECT_EQ(j["rows"].size(), 3u);
  EXPECT_EQ(j["rows"][1]["set"]["path"], "spray");
  EXPECT_EQ(j["rows"][1]["figures"]["fct_p99"]["median"], 210'000);
  EXPECT_EQ(j["rows"][1]["figures"]["fct_p99"]["winner"], true);
  EXPECT_EQ(j["rows"][2]["failed"][0], "path=adaptive seed 2: out of memory");
}

}  // namespace
}  // namespace railyard::sweep
