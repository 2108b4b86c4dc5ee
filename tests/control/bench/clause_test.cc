// Definitions of clauses: ours are all read, and each mistake in one is said at its place.
#include "control/bench/clause.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/spec_error.h"

namespace railyard::bench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPair = R"(schema: fabric-bench-clause/1
id: T5.1
category: C1
title: A pair
section: "5.1"
status: implemented
lab:
  topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }
  traffic: [{ name: pair, from: h1, to: h2, transport: roce, bytes: 1MB }]
sweep:
  - { name: size, key: traffic.pair.bytes, draft: [1MB, 4MB, 1GB], ci: [1MB, 2MB], lab: [1MB, 4MB, 1GB] }
kpis:
  - { name: goodput, unit: Gb/s, figure: goodput, scale: 1e-9, observed: a, primary: true }
profiles:
  ci: { seeds: "1-2", deviations: ["one pair"] }
  lab: {}
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read_clause(text, "mine.yaml"));
  } catch (const spec::SpecError& error) {
    return error.what();
  }
  ADD_FAILURE() << "it was read:\n" << text;
  return {};
}

TEST(Clauses, AllOfTheDraftAreThereInItsOrder) {
  std::vector<std::string> ids;
  for (const Clause& c : clauses()) ids.push_back(c.id);
  EXPECT_THAT(ids, testing::ElementsAre("T5.1", "T5.2", "T5.3", "T6.1", "T6.2", "T6.3", "T6.4", "T6.5a", "T6.5b",
                                        "T6.5c", "T6.6", "T6.7", "T7.1", "T7.2", "T7.3", "T7.4", "T8.1", "T8.2", "T8.3",
                                        "T8.4", "T9.1", "T9.2", "T9.3", "T9.4", "T10.1", "T10.2", "T10.3", "T11.1",
                                        "T11.2", "T11.3", "T12.1", "T12.2"));
}

TEST(Clauses, OneThatDoesNotRunSaysWhy) {
  for (const Clause& c : clauses()) EXPECT_EQ(c.status == Status::kImplemented, c.reason.empty()) << c.id;
}

TEST(Clauses, UetAndRoceStandSideBySideInCategoryTwo) {
  for (const Clause& c : clauses()) {
    if (c.category != "C2" || !c.runs() || c.id == "T6.5b") continue;  // trimming itself is UET's
    EXPECT_THAT(c.columns, Contains(StartsWith("roce/"))) << c.id;
    EXPECT_THAT(c.columns, Contains(StartsWith("uet/"))) << c.id;
  }
}

TEST(Clauses, ADefinitionIsRead) {
  const Clause c = read_clause(kPair, "mine.yaml");
  EXPECT_EQ(c.sweep[0].ci[1].value, "2MB");
  EXPECT_DOUBLE_EQ(c.kpis[0].scale, 1e-9);
  EXPECT_EQ(c.kpis[0].observed, Observed::kBoundary);
  EXPECT_EQ(c.lab_profile.seeds, "1-3");
  EXPECT_THAT(c.lab, HasSubstr("name: t5-1"));
}

TEST(Clauses, ReducedValuesAreDeviations) {
  const Clause c = read_clause(kPair, "mine.yaml");
  EXPECT_THAT(deviations_of(c, Profile::kCi),
              testing::ElementsAre("one pair", "size: 1 of the draft's 3 values (1MB, 2MB instead of 1MB, 4MB, 1GB)"));
  EXPECT_TRUE(deviations_of(c, Profile::kLab).empty());
}

TEST(Clauses, AValueMayHaveAName) {
  const Clause c = read_clause(with(kPair, "ci: [1MB, 2MB]", "ci: [\"small => 1KB\"]"), "mine.yaml");
  EXPECT_EQ(c.sweep[0].ci[0].name, "small");
  EXPECT_EQ(c.sweep[0].ci[0].value, "1KB");
}

TEST(Clauses, AValueMayBeSeveralSettings) {
  const char* const values = "[\"two => { traffic.pair.bytes: 2MB, topology: { preset: leaf-spine, leaves: 1, spines: 0 } }\"]";
  const Clause c = read_clause(
      with(kPair, "key: traffic.pair.bytes, draft: [1MB, 4MB, 1GB], ci: [1MB, 2MB], lab: [1MB, 4MB, 1GB]",
           std::string("key: settings, ci: ") + values + ", lab: " + values),
      "mine.yaml");
  EXPECT_THAT(c.sweep[0].sets(c.sweep[0].ci[0]),
              testing::ElementsAre("traffic.pair.bytes=2MB", "topology={ preset: leaf-spine, leaves: 1, spines: 0 }"));
}

TEST(Clauses, AValueMayBeAPhaseOfAnIteration) {
  const std::string text =
      with(kPair, "key: traffic.pair.bytes, draft: [1MB, 4MB, 1GB], ci: [1MB, 2MB], lab: [1MB, 4MB, 1GB]",
           "key: faults.f.at, iteration: 4, ci: [\"early => communication 1/10\"], lab: [gap 1/2]");
  const Clause c = read_clause(text, "mine.yaml");
  EXPECT_EQ(c.sweep[0].iteration, 4u);
  EXPECT_TRUE(c.sweep[0].sets(c.sweep[0].ci[0]).empty()) << "the instant is not known yet";
  EXPECT_THAT(error_of(with(text, "gap 1/2", "later 1/2")),
              AllOf(HasSubstr("later 1/2"), HasSubstr("expected computing, communication or gap")));
  EXPECT_THAT(error_of(with(text, "iteration: 4", "iteration: 1")), HasSubstr("expected 3 or more"));
}

TEST(Clauses, AnUnknownKpiIsNamedWithItsPlace) {
  EXPECT_THAT(error_of(with(kPair, "figure: goodput", "figure: goodputt")),
              AllOf(StartsWith("mine.yaml:13:"), HasSubstr("no report has the figure 'goodputt'"),
                    HasSubstr("did you mean 'goodput'")));
  EXPECT_THAT(error_of(with(kPair, "figure: goodput", "function: goodness")),
              AllOf(StartsWith("mine.yaml:13:"), HasSubstr("there is no function 'goodness'"), HasSubstr("busbw")));
}

TEST(Clauses, AnUnknownCounterIsNamed) {
  EXPECT_THAT(error_of(with(kPair, "figure: goodput", "function: class-counter, of: storms_detectd")),
              HasSubstr("did you mean 'storms_detected'"));
}

TEST(Clauses, AMissingFieldIsNamed) {
  for (const char* line : {"title: A pair\n", "section: \"5.1\"\n", "id: T5.1\n"})
    EXPECT_THAT(error_of(with(kPair, line, "")),
                AllOf(StartsWith("mine.yaml:"), HasSubstr(std::string(line, std::string(line).find(':'))),
                      HasSubstr("is missing")));
  EXPECT_THAT(error_of(with(kPair, ", observed: a", "")), HasSubstr("kpis.0: 'observed' is missing"));
}

TEST(Clauses, AnotherSchemaIsRefused) {
  EXPECT_THAT(
      error_of(with(kPair, "clause/1", "clause/2")),
      AllOf(StartsWith("mine.yaml:1:"), HasSubstr("found 'fabric-bench-clause/2'; expected fabric-bench-clause/1")));
}

TEST(Clauses, OtherMistakesAreSaidWhereTheyAre) {
  EXPECT_THAT(error_of(with(kPair, "primary: true", "primary: false")), HasSubstr("primary: true"));
  EXPECT_THAT(error_of(with(kPair, "observed: a", "observed: d")), HasSubstr("no observation point"));
  EXPECT_THAT(error_of(with(kPair, "title:", "tilte:")), HasSubstr("did you mean 'title'"));
  EXPECT_THAT(error_of(with(kPair, "ci: [1MB, 2MB]", "ci: []")), HasSubstr("no value in a profile"));
  EXPECT_THAT(error_of(with(kPair, "figure: goodput", "function: ratio, of: busbw, against: { size: 1MB }")),
              HasSubstr("expected a KPI that stands before it"));
  EXPECT_THAT(error_of("[1, 2]"), StartsWith("mine.yaml:"));
  EXPECT_THAT(error_of(""), StartsWith("mine.yaml:"));
}

TEST(Clauses, AnUnknownIdIsRefusedWithTheKnownOnes) {
  try {
    static_cast<void>(clauses({"T99"}));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'T99' is no clause"), HasSubstr("T12.1")));
  }
}

}  // namespace
}  // namespace railyard::bench
