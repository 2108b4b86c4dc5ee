// Conditions held against a report: figures, counters by place, flows and collectives; what a lab does not have.
#include "control/report/judge.h"

#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/report/measure.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;

Report run() {
  Report r = sample();
  CollectiveReport slow;
  slow.name = "flat";
  slow.median_ns = 100'000;
  slow.busbw_bps = 40e9;
  slow.iterations = {{0, 100'000}, {0, std::nullopt}};
  CollectiveReport quick = slow;
  quick.name = "phases";
  quick.busbw_bps = 90e9;
  r.collectives = {slow, quick};
  return r;
}

Expectation held(const std::string& text) { return hold(run(), {text, {}}); }

TEST(Judge, FiguresOfTheSummary) {
  EXPECT_TRUE(held("drops == 100").met);
  const Expectation missed = held("drops == 0");
  EXPECT_FALSE(missed.met);
  EXPECT_EQ(missed.found, 100);
  EXPECT_EQ(missed.where, "leaf1:1 class 1");
  EXPECT_EQ(miss_text(missed), "found 100 (leaf1:1 class 1), expected drops == 0");
  EXPECT_TRUE(held("fct_p99 <= 676us").met);
  EXPECT_FALSE(held("fct_p99 < 676us").met);
  EXPECT_EQ(held("failed_verdicts == 0").where, "completion");
  EXPECT_EQ(held("deadlocks == 0").met, true);
}

TEST(Judge, WhatWasNotMeasuredMisses) {
  Report r = run();
  r.collectives.clear();
  for (const char* text :
       {"busbw >= 0", "busbw == 0", "busbw != 7", "busbw of flat >= 0", "busbw < 1 * busbw of flat"}) {
    const Expectation e = hold(r, {text, {}});
    EXPECT_FALSE(e.met) << text;
    EXPECT_EQ(e.found, std::nullopt);
    EXPECT_THAT(e.found_text, testing::StartsWith("not measured"));
  }
}

TEST(Judge, CountersByReasonNodePortAndClass) {
  EXPECT_TRUE(held("drops(egress_full) at leaf1 == 100").met);
  EXPECT_TRUE(held("drops(egress_full) at leaf*:1/1 == 100").met);
  EXPECT_TRUE(held("drops(egress_full) at leaf1/3 == 0").met);
  EXPECT_TRUE(held("drops(ingress_full) == 0").met);
  EXPECT_TRUE(held("xoff_sent at leaf1:2/3 == 12").met);
  EXPECT_TRUE(held("xoff_sent at h* == 0").met);
  EXPECT_TRUE(held("paused at h2:1 == 340us").met);
  EXPECT_EQ(held("max_queue at leaf1 <= 1MB").where, "leaf1:1 class 3") << "the deepest, not the sum";
  EXPECT_EQ(held("max_queue at leaf1 <= 1MB").found, 1'250'000);
  EXPECT_EQ(held("jain_link at leaf1 > 0.9").found, 0.8);
  EXPECT_TRUE(held("ecn_marked at leaf1 > xoff_sent at leaf1").met);
}

TEST(Judge, FlowsTrafficAndCollectives) {
  EXPECT_EQ(held("lost of in == 0").found, 100) << "of both flows";
  EXPECT_EQ(held("lost of in == 0").where, "in/h3->h1");
  EXPECT_TRUE(held("lost of in/h2->h1 == 0").met);
  EXPECT_TRUE(held("completed of in == 50%").met);
  EXPECT_TRUE(held("goodput_min of in/* > 48.4Gbps and goodput_min of in/* < 48.6Gbps").met) << "4,096,000 B in 676 us";
  EXPECT_TRUE(held("busbw of flat < 0.5 * busbw of phases").met);
  EXPECT_FALSE(held("busbw of flat < 0.4 * busbw of phases").met);
  EXPECT_EQ(held("busbw of * >= 50Gbps").where, "flat") << "every one must";
  EXPECT_TRUE(held("completed of flat == 0.5").met);
}

TEST(Judge, AllTermsMustHoldAndAllThatMissAreNamed) {
  const Expectation e = held("ecn_marked > 0 and drops == 0");
  EXPECT_FALSE(e.met);
  EXPECT_EQ(e.found, 100);
  EXPECT_EQ(miss_text(e), "found drops 100 (leaf1:1 class 1), expected ecn_marked > 0 and drops == 0");
  const Expectation both = held("busbw of flat >= 380Gbps and ecn_marked > 0 and drops > 300");
  EXPECT_EQ(both.found, 40e9);
  EXPECT_EQ(miss_text(both),
            "found busbw of flat 40 Gb/s (flat) and drops 100 (leaf1:1 class 1), expected busbw of flat >= 380Gbps and "
            "ecn_marked > 0 and drops > 300");
  EXPECT_EQ(held("ecn_marked > 0 and drops > 0").found, 250);
}

// Of a mean, what is at fault; of a median or percentile, none.
TEST(Judge, TheOneThatIsNamedIsAtFault) {
  EXPECT_EQ(held("completed of in == 1").where, "in/h3->h1");
  EXPECT_EQ(held("completed of in/h2->h1 == 1").where, "");
  EXPECT_EQ(held("completed of * == 1").where, "in/h3->h1");
  EXPECT_EQ(held("completed of phases == 1").where, "phases");
  EXPECT_EQ(held("fct_p50 of in < 1ns").where, "");
  EXPECT_EQ(held("fct_p99 of in < 1ns").where, "");
  EXPECT_EQ(held("fct_mean of in < 1ns").where, "");
  EXPECT_EQ(held("fct_max of in < 1ns").where, "in/h2->h1");
  EXPECT_EQ(held("completed == 1").where, "in/h3->h1");
  Report r = run();
  r.flows[1].fct_ns = 1;
  EXPECT_EQ(hold(r, {"completed == 1", {}}).where, "flat") << "all flows completed; a collective did not";
  r.collectives.clear();
  EXPECT_EQ(hold(r, {"completed == 1", {}}).where, "");
}

TEST(Judge, TheDocumentationHasEveryNameOnce) {
  std::ifstream in(RAILYARD_SOURCE_DIR "/docs/expectations.md");
  std::ostringstream text;
  text << in.rdbuf();
  const std::string page = text.str();
  constexpr const char* kUnits[] = {"time", "rate", "size", "count", "ratio", "share", "time"};
  constexpr const char* kCombines[] = {"sum", "together", "largest", "smallest", "mean", "median", "99th percentile"};
  std::size_t rows = 0;
  for (const auto& kinds : {port_measures(), flow_measures(), collective_measures()})
    for (const MeasureKind& k : kinds) {
      ++rows;
      EXPECT_THAT(page, HasSubstr("| `" + std::string(k.name) + "` | " + kUnits[static_cast<int>(k.unit)] + " | " +
                                  kCombines[static_cast<int>(k.combine)] + " | " + std::string(k.meaning) + " |\n"));
    }
  constexpr std::size_t kVerdicts = 10;  // which have a table of their own
  std::size_t found = 0;
  for (std::size_t at = page.find("\n| `"); at != page.npos; at = page.find("\n| `", at + 1)) ++found;
  EXPECT_EQ(found, rows + kVerdicts) << "and no others";
}

// By the names that docs/metrics.md has.
TEST(Judge, FieldsOfTheReport) {
  EXPECT_EQ(held("flows.in/h2->h1.marked == 250").found, 250);
  EXPECT_TRUE(held("flows.in/h2->h1.ce_share <= 25%").met);
  EXPECT_TRUE(held("traffic.in.fct_ns.p50 <= 676us").met);
  EXPECT_TRUE(held("traffic.in.fct_ns.p50 <= 676000").met) << "in the unit that the name says";
  EXPECT_FALSE(held("ports.leaf1:1.utilisation < 0.9").met);
  EXPECT_EQ(held("ports.leaf1:1.utilisation < 0.9").found_text, "0.987");
  EXPECT_TRUE(held("engine.windows == 500 and audit.balanced == 1").met);
  EXPECT_FALSE(held("flows.in/h3->h1.fct_ns < 1s").met) << "it is null";
}

TEST(Judge, JsonPointersReachEverything) {
  EXPECT_TRUE(held("/engine/windows == 500").met);
  EXPECT_FALSE(held("/engine/nothing == 0").met);
}

spec::Lab lab(const std::string& more) {
  return spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
      "traffic: [ { name: bulk, from: h1, to: h2, bytes: 1MB } ]\n"
      "collectives: [ { name: sum, size: 1MiB } ]\n" +
          more,
      "x.yaml");
}

std::string refused(const std::string& condition) {
  try {
    check_conditions(lab("expect: \"" + condition + "\"\n"), true);
    return "nothing";
  } catch (const spec::SpecError& error) {
    return error.what();
  }
}

TEST(Judge, WhatALabDoesNotHaveIsRefusedWithItsPlaceAndASuggestion) {
  EXPECT_EQ(refused("busbw >= 380Gbps"), "nothing");
  EXPECT_EQ(refused("goodput of bulk/h1->h2 >= 1Gbps"), "nothing");
  EXPECT_EQ(refused("drops(wred) at leaf1:1/3 == 0"), "nothing");
  EXPECT_EQ(refused("busbv >= 380Gbps"),
            "x.yaml:5:9: 'busbv >= 380Gbps': there is no figure 'busbv'; did you mean 'busbw'?");
  EXPECT_THAT(refused("goodput of bluk >= 1Gbps"),
              HasSubstr("no flow, traffic or collective is called 'bluk'; did you mean 'bulk'?"));
  EXPECT_THAT(refused("busbw of bulk >= 1Gbps"), HasSubstr("there is no figure 'busbw' of a flow or traffic"));
  EXPECT_THAT(refused("drops of bulk == 0"), HasSubstr("there is no figure 'drops' of a flow or traffic"));
  EXPECT_THAT(refused("drops(wredd) == 0"), HasSubstr("there is no drop reason 'wredd'; did you mean 'wred'?"));
  EXPECT_THAT(refused("trimmed(wred) == 0"), HasSubstr("trimmed takes no reason"));
  EXPECT_THAT(refused("drops at leaf2 == 0"), HasSubstr("there is no node 'leaf2'; did you mean 'leaf1'?"));
  EXPECT_THAT(refused("drops at leaf1:9 == 0"), HasSubstr("leaf1 has no linked port 9"));
}

TEST(Judge, AFieldThatReportsDoNotHaveIsRefusedWithASuggestion) {
  for (const char* right :
       {"flows.bulk/h1->h2.share >= 0.9", "traffic.bulk.goodput_bps.p50 >= 1Gbps", "engine.windows > 0",
        "collectives.sum.busbw_bps >= 1Gbps", "ports.leaf1:1.drops.too_big == 0",
        "flows.bulk/h1->h2.roce.cnp_sent == 0", "collectives.sum.time_ns.median < 1ms"})
    EXPECT_EQ(refused(right), "nothing");
  EXPECT_EQ(refused("flows.bulk/h1->h2.shrae >= 0.9"),
            "x.yaml:5:9: 'flows.bulk/h1->h2.shrae >= 0.9': there is no field 'shrae' in flows; did you mean 'share'?");
  EXPECT_THAT(refused("flow.bulk/h1->h2.share >= 0.9"),
              HasSubstr("there is no 'flow' in reports; did you mean 'flows'?"));
  EXPECT_THAT(refused("flows.bulk/h1->h9.share >= 0.9"),
              HasSubstr("there is no 'bulk/h1->h9' in flows; did you mean 'bulk/h1->h2'?"));
  EXPECT_THAT(refused("traffic.bulk.goodput_bps.p5 >= 1Gbps"),
              HasSubstr("there is no field 'goodput_bps.p5' in traffic; did you mean 'goodput_bps.p50'?"));
  EXPECT_THAT(refused("engine.window > 0"), HasSubstr("there is no field 'window' in engine; did you mean 'windows'?"));
  EXPECT_THAT(refused("ports.leaf1:9.utilisation < 1"), HasSubstr("there is no 'leaf1:9' in ports"));
  EXPECT_THAT(refused("run.name == 1"), HasSubstr("run.name is not a number"));
  EXPECT_THAT(refused("traffic.bulk.fct_ns.p50 < 1Gbps"), HasSubstr("is a time; expected a value such as 2ms"));
  EXPECT_THAT(refused("engine.windows at leaf1 == 0"), HasSubstr("expected nothing after it"));
}

TEST(Judge, APointerThatReportsDoNotHaveIsRefusedWithASuggestion) {
  for (const char* right :
       {"/engine/windows > 0", "/summary/drops == 0", "/flows/0/roce/cnp_sent == 0", "/ports/1/drops/wred == 0",
        "/traffic/0/goodput_bps/p50 > 0", "/ports/0/classes/1/max_depth_bytes < 1000"})
    EXPECT_EQ(refused(right), "nothing");
  EXPECT_THAT(refused("/engine/windws > 0"),
              HasSubstr("there is no field 'windws' in engine; did you mean 'windows'?"));
  EXPECT_THAT(refused("/engin/windows > 0"), HasSubstr("there is no 'engin' in reports; did you mean 'engine'?"));
  EXPECT_THAT(refused("/flows/0/shrae > 0"), HasSubstr("there is no field 'shrae' in flows; did you mean 'share'?"));
  EXPECT_THAT(refused("/flows/share > 0"), HasSubstr("flows is a list; expected /flows/NUMBER/FIELD"));
  EXPECT_THAT(refused("/summary/drop == 0"), HasSubstr("there is no field 'drop' in summary; did you mean 'drops'?"));
  EXPECT_THAT(refused("/traffic/0/goodput_bps/p5 > 0"), HasSubstr("there is no field 'goodput_bps.p5' in traffic"));
  EXPECT_THAT(refused("/run/name == 1"), HasSubstr("/run/name is no number"));
  EXPECT_THAT(refused("/engine == 1"), HasSubstr("/engine is no number"));
}

TEST(Judge, ValuesAreInTheUnitOfTheirFigure) {
  EXPECT_THAT(refused("busbw >= 380"), HasSubstr("busbw is a rate; expected a value such as 380Gbps"));
  EXPECT_THAT(refused("busbw >= 2ms"), HasSubstr("busbw is a rate"));
  EXPECT_THAT(refused("busbw >= 1gbps"), HasSubstr("unknown unit 'gbps'; did you mean 'Gbps'?"));
  EXPECT_THAT(refused("drops >= inf"), HasSubstr("there is no figure 'inf'"));
  EXPECT_THAT(refused("drops >= nan"), HasSubstr("there is no figure 'nan'"));
  EXPECT_THAT(refused("drops == 0Gbps"), HasSubstr("drops is a count; expected a number such as 0"));
  EXPECT_THAT(refused("fct_p99 <= 2"), HasSubstr("fct_p99 is a time; expected a value such as 2ms"));
  EXPECT_THAT(refused("max_queue <= 2ms"), HasSubstr("max_queue is a size; expected a value such as 64KiB"));
  EXPECT_THAT(refused("completed >= 2ms"), HasSubstr("completed is a share; expected a value such as 0.95 or 95%"));
  EXPECT_EQ(refused("fct_p99 > 0"), "nothing") << "0 of anything";
  EXPECT_EQ(refused("completed == 1"), "nothing");
  EXPECT_THAT(refused("busbw of sum > max_queue at leaf1"), HasSubstr("busbw of sum is a rate"));
}

TEST(Judge, ADiagnosisIsThereOnlyWithItsSignature) {
  Report r = run();
  spec::Lab diagnosed = lab("diagnosis: { signature: [drops > 0, xoff_sent > 0], symptom: a, cause: b, fix: c }\n");
  judge(r, diagnosed);
  EXPECT_EQ(r.run.diagnosis.symptom, "a");
  ASSERT_EQ(r.evidence.size(), 2u);
  EXPECT_EQ(r.evidence[0].found, 100);
  r.ports.clear();
  judge(r, diagnosed);
  EXPECT_TRUE(r.run.diagnosis.empty());
  EXPECT_TRUE(r.evidence.empty());
}

TEST(Judge, ADiagnosisIsThereOnlyWithTheSettingsThatItSpeaksOf) {
  Report r = run();
  const std::string diagnosis = "diagnosis: { signature: drops > 0, symptom: a, cause: b, fix: c, settings: [";
  judge(r, lab(diagnosis + "hosts.default.pfc=auto, traffic.bulk.bytes=1000KB] }\n"));
  EXPECT_EQ(r.run.diagnosis.symptom, "a") << "however they are written";
  EXPECT_NO_THROW(check_conditions(lab(diagnosis + "hosts.default.pfc=auto] }\n"), true));
  for (const char* other : {"hosts.default.pfc=off", "traffic.bulk.bytes=2MB"}) {
    const spec::Lab l = lab(diagnosis + other + "] }\n");
    judge(r, l);
    EXPECT_TRUE(r.run.diagnosis.empty()) << other;
    EXPECT_NO_THROW(check_conditions(l, true)) << "somebody has changed the file";
  }
  for (const char* none : {"traffic.bulk.bites=2MB", "nothing"}) {
    const spec::Lab l = lab(diagnosis + none + "] }\n");
    judge(r, l);
    EXPECT_TRUE(r.run.diagnosis.empty()) << none;
    EXPECT_THROW(check_conditions(l, true), spec::SpecError) << none;
    EXPECT_NO_THROW(check_conditions(l, false)) << none;
  }
}

TEST(Judge, AnInterruptedRunMeetsNoExpectation) {
  Report r = run();
  const spec::Lab l = lab("expect: [ failed_flows == 0 ]\n");
  judge(r, l);
  EXPECT_TRUE(r.expectations[0].met);
  r.run.interrupted = true;
  judge(r, l);
  EXPECT_FALSE(r.expectations[0].met);
  EXPECT_EQ(miss_text(r.expectations[0]).substr(0, 61),
            "found 0 when the run was interrupted, expected failed_flows =");
}

}  // namespace
}  // namespace railyard::report
