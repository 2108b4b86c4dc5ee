#include "control/report/compare.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;
using AnyJson = nlohmann::ordered_json;

AnyJson of(const Report& r) { return AnyJson::parse(r.json()); }

const Comparison::Row& row(const Comparison& c, const std::string& name) {
  for (const Comparison::Row& r : c.rows)
    if (r.name == name) return r;
  throw std::out_of_range(name);
}

TEST(Compare, ARunWithItselfDiffersInNothing) {
  const Comparison c = compare(of(sample()), of(sample()), "a", "b");
  EXPECT_TRUE(c.comparable());
  EXPECT_TRUE(c.differences.empty());
  for (const Comparison::Row& r : c.rows) {
    EXPECT_EQ(r.change(), 0) << r.name;
    EXPECT_FALSE(r.better()) << r.name;
  }
  EXPECT_THAT(c.text(), HasSubstr("Same lab, seed, clock and version."));
}

TEST(Compare, NamesWhatMakesThemIncomparable) {
  Report other = sample();
  other.run.seed = 8;
  other.run.clock = "wall";
  other.run.scale = "1/100";
  other.run.version = "0.2.0";
  other.run.lab_digest = "ffff";
  other.run.workers = 4;
  const Comparison c = compare(of(sample()), of(other), "a", "b");
  EXPECT_FALSE(c.comparable());
  std::vector<std::string> incomparable;
  for (const Comparison::Difference& d : c.differences)
    if (d.incomparable) incomparable.push_back(d.what);
  EXPECT_THAT(incomparable, testing::ElementsAre("spec", "seed", "clock", "scale", "version"));
  EXPECT_THAT(c.text(), HasSubstr("NOT THE SAME EXPERIMENT: these conditions differ"));
  EXPECT_THAT(c.text(), HasSubstr("1 | 1/100"));
  EXPECT_EQ(c.json()["comparable"], false);
}

TEST(Compare, MoreWorkersAreTheSameExperiment) {
  Report other = sample();
  other.run.workers = 1;
  EXPECT_TRUE(compare(of(sample()), of(other), "a", "b").comparable());
}

TEST(Compare, SaysWhichIsBetterByWhatTheFigureIs) {
  Report other = sample();
  other.flows[0].fct_ns = 1'352'000;                     // twice as long: worse
  other.flows[0].goodput_ns /= 2;                        // more: better
  other.ports[0].counters.classes[3].ecn_marked = 1000;  // neither
  const Comparison c = compare(of(sample()), of(other), "a", "b");
  EXPECT_EQ(row(c, "fct_p99").change(), 1);
  EXPECT_EQ(row(c, "fct_p99").better(), false);
  EXPECT_EQ(row(c, "goodput_p50").better(), std::nullopt) << "of the slower of two: as it was";
  EXPECT_EQ(row(c, "ecn_marked").change(), 3);
  EXPECT_FALSE(row(c, "ecn_marked").better());
  EXPECT_THAT(c.text(), HasSubstr("+100.0 %   a"));
}

TEST(Compare, WhoDeliveredLessIsBetterNowhere) {
  Report dead = sample();
  for (FlowReport& f : dead.flows) {
    f.delivered_bytes /= 10;
    f.latency_ns = {100, 100, 100, 100, 100, 100};
    f.lost = 0;
  }
  dead.latency_ns = dead.flows[0].latency_ns;
  const Comparison c = compare(of(sample()), of(dead), "a", "b");
  EXPECT_LT(*row(c, "latency_p99").b, *row(c, "latency_p99").a);
  for (const Comparison::Row& r : c.rows) EXPECT_NE(r.better(), true) << r.name;
  EXPECT_EQ(row(c, "delivered").better(), false);
  EXPECT_THAT(c.text(), HasSubstr("b delivered less (completed 0.500, delivered 0.100; a: completed 0.500, delivered "
                                  "1.000): it is never called better."));
}

TEST(Compare, AFigureThatOneHasNotIsShownAsMissing) {
  Report other = sample();
  other.flows[0].fct_ns.reset();
  const Comparison c = compare(of(sample()), of(other), "a", "b");
  EXPECT_TRUE(row(c, "fct_p99").a);
  EXPECT_FALSE(row(c, "fct_p99").b);
  EXPECT_FALSE(row(c, "fct_p99").change());
}

TEST(Compare, FiguresAreFoundByNameOrByPointer) {
  const AnyJson r = of(sample());
  EXPECT_EQ(figure_of(r, "fct_p99"), 676'000);
  EXPECT_EQ(figure_of(r, "/engine/windows"), 500);
  EXPECT_EQ(figure_of(r, "/flows/0/marked"), 250);
  EXPECT_EQ(figure_of(r, "/audit/balanced"), 1);
  for (const char* none : {"fct", "/engine/none", "/run/name", "/flows/7/marked", "//~", ""})
    EXPECT_FALSE(figure_of(r, none)) << none;
}

TEST(Compare, WhatIsNoReportIsRefusedByName) {
  const std::filesystem::path dir = std::filesystem::path(testing::TempDir()) / "railyard-compare-test";
  std::filesystem::create_directories(dir);
  const auto message = [&](const std::string& text) {
    std::ofstream(dir / "report.json") << text;
    try {
      read_report(dir);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("{ \"run\": "), HasSubstr("report.json: not valid JSON"));
  EXPECT_THAT(message(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(message("[1, 2]"), HasSubstr("JSON, but not a report"));
  EXPECT_THAT(message(R"({"run": {}, "flows": []})"), HasSubstr("no 'summary'"));
  EXPECT_EQ(message(sample().json()), "");
  std::filesystem::remove_all(dir);
  EXPECT_THROW(read_report(dir), std::runtime_error);
}

// A list of hosts does not fit into a table.
TEST(Compare, ALongValueStandsBelowItsKey) {
  Comparison c = compare(of(sample()), of(sample()), "a", "b");
  const std::string hosts = "[h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13]";
  c.settings = {{"run.seed", "1", "2"}, {"traffic.t.from", "h1", hosts}};
  EXPECT_THAT(c.text(), HasSubstr("Settings that differ\n  setting   a  b\n  run.seed  1  2\n"
                                  "  traffic.t.from\n    a: h1\n    b: " +
                                  hosts + "\n\n"));
}

TEST(Compare, SaysWhyTheLabOfARunIsNotKnown) {
  const std::expected<spec::Lab, std::string> unknown = std::unexpected("a.json: no lab.yaml in its directory");
  Comparison same = compare(of(sample()), of(sample()), "a.json", "b.json");
  compare_labs(same, unknown, spec::Lab{});
  EXPECT_THAT(same.text(), testing::Not(HasSubstr("unknown"))) << "both have the digest of one lab";
  Report other = sample();
  other.run.lab_digest = "ffff";
  Comparison c = compare(of(sample()), of(other), "a.json", "b.json");
  compare_labs(c, unknown, spec::Lab{});
  EXPECT_FALSE(c.settings);
  EXPECT_THAT(c.text(), HasSubstr("Settings that differ: unknown\n  a.json: no lab.yaml in its directory\n"));
  EXPECT_THAT(c.html(), HasSubstr("a.json: no lab.yaml in its directory"));
  EXPECT_EQ(c.json()["unknown_labs"][0], "a.json: no lab.yaml in its directory");
}

}  // namespace
}  // namespace railyard::report
