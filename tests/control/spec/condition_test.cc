// Conditions on what a run has measured: what is read, and what is refused.
#include "control/spec/condition.h"

#include <string>

#include <gtest/gtest.h>

namespace railyard::spec {
namespace {

using Comparison = Condition::Comparison;
using ValueUnit = Condition::ValueUnit;

Condition::Term term(const std::string& text) {
  const auto parsed = parse_condition(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error());
  return parsed && parsed->terms.size() == 1 ? parsed->terms[0] : Condition::Term{};
}

TEST(Condition, TermsHaveAFigureAComparisonAndAValueWithItsUnit) {
  EXPECT_EQ(term("busbw >= 380Gbps").what.figure, "busbw");
  EXPECT_EQ(term("busbw >= 380Gbps").comparison, Comparison::kAtLeast);
  EXPECT_EQ(term("busbw >= 380Gbps").value, 380e9);
  EXPECT_EQ(term("busbw >= 380Gbps").unit, ValueUnit::kRate);
  EXPECT_EQ(term("fct_p99<=2ms").value, 2e6) << "ns";
  EXPECT_EQ(term("max_queue < 64KiB").value, 65536);
  EXPECT_EQ(term("completed == 100%").value, 1);
  EXPECT_EQ(term("drops = 0"), term("drops=0"));
  EXPECT_EQ(term("drops == 0").comparison, term("drops = 0").comparison);
  EXPECT_EQ(term("/engine/windows > 1e3").what.figure, "/engine/windows");
}

TEST(Condition, CountersHaveReasonsAndPlaces) {
  const Condition::Term t = term("drops(ingress_full) at leaf*:3/5 != 0");
  EXPECT_EQ(t.what.figure, "drops");
  EXPECT_EQ(t.what.reason, "ingress_full");
  ASSERT_TRUE(t.what.at);
  EXPECT_EQ(t.what.at->node, "leaf*");
  EXPECT_EQ(t.what.at->port, 3);
  EXPECT_EQ(t.what.at->traffic_class, 5);
  EXPECT_EQ(format(t.what), "drops(ingress_full) at leaf*:3/5");
  EXPECT_FALSE(t.what.of_whole_run());
  EXPECT_TRUE(term("drops > 0").what.of_whole_run());
}

TEST(Condition, FiguresAreOfFlowsWhoseNamesHaveArrows) {
  const Condition::Term t = term("goodput of t/h1->h2 >= 90Gbps");
  EXPECT_EQ(t.what.of, "t/h1->h2");
  EXPECT_EQ(t.comparison, Comparison::kAtLeast);
  EXPECT_EQ(t.value, 90e9);
}

TEST(Condition, FiguresAreComparedWithEachOther) {
  const Condition::Term t = term("busbw of flat < 0.5 * busbw of two-phases");
  ASSERT_TRUE(t.other);
  EXPECT_EQ(t.other->of, "two-phases");
  EXPECT_EQ(t.value, 0.5);
  EXPECT_TRUE(t.holds(49, 0.5 * 100));
  EXPECT_FALSE(t.holds(50, 0.5 * 100));
  EXPECT_EQ(term("xoff_sent at s1 > ecn_marked at s1").value, 1);
}

TEST(Condition, TermsStandBesideEachOther) {
  const auto all = parse_condition("drops=0 and retransmitted=0 and accepted>=0.995 and fct_p99<500us");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->terms.size(), 4u);
}

TEST(Condition, WhatIsWrongIsNamed) {
  const auto wrong = [](const std::string& text) {
    const auto parsed = parse_condition(text);
    return parsed ? "nothing" : parsed.error().substr(0, parsed.error().find("; expected terms"));
  };
  EXPECT_EQ(wrong("drops"), "'drops': no comparison");
  EXPECT_EQ(wrong("= 0"), "'= 0': no figure");
  EXPECT_EQ(wrong("drops ="), "'drops =': no value");
  EXPECT_EQ(wrong("drops = 5 apples"), "'drops = 5 apples': unknown unit 'apples'");
  EXPECT_EQ(wrong("two words = 5"), "'two words = 5': no figure");
  EXPECT_EQ(wrong("drops() > 0"), "'drops() > 0': nothing between '(' and ')'; expected a reason for drops");
  EXPECT_EQ(wrong("drops at leaf1:3 in > 0"),
            "'drops at leaf1:3 in > 0': 'leaf1:3 in' has no counters; expected a node, a port or a class, such as "
            "leaf1, leaf1:3 or leaf1:3/3");
  EXPECT_EQ(wrong("drops of t at leaf1 > 0"), "'drops of t at leaf1 > 0': has both 'of' and 'at'; expected one of them");
  EXPECT_EQ(wrong("goodput of a > much * goodput of b"),
            "'goodput of a > much * goodput of b': expected a number before '*'");
  EXPECT_EQ(wrong(""), "'': no comparison");
}

}  // namespace
}  // namespace railyard::spec
