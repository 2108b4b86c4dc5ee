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
  s.columns = {{"roce/gbn", {"a.b=1"}}, {"roce/sr", {"a.b=2"}}, {"uet/rud", {"a.b=<3>"}}};
  s.metrics = {"fct_p99", "busbw", "ecn_marked"};
  s.blocks = {{{"topology.spines=2"},
               {{{{200'000, 220'000}}, {{100'000, 110'000}}, {{50'000}}},
                {{{40e9, 40e9}}, {{60e9, 60e9}}, {{80e9}}},
                {{{5, 5}}, {{0, 0}}, {{}}}},
               {{}, {}, {"seed 2: out of memory"}}}};
  return s;
}

TEST(SideBySide, ShowsChangesAgainstTheFirstColumn) {
  const SideBySide s = sample();
  EXPECT_FALSE(SideBySide::change(s.blocks[0], 0, 0));
  EXPECT_NEAR(*SideBySide::change(s.blocks[0], 0, 1), -0.5, 1e-9);
  EXPECT_NEAR(*SideBySide::change(s.blocks[0], 1, 1), 0.5, 1e-9);
  EXPECT_FALSE(SideBySide::change(s.blocks[0], 2, 2)) << "it has none";
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

TEST(SideBySide, IsTextWithEveryColumnAndWhatItChanges) {
  const std::string text = sample().text();
  EXPECT_THAT(text, HasSubstr("topology.spines=2"));
  EXPECT_THAT(text, HasSubstr("105 us (100 us .. 110 us)  -50.0 % *"));
  EXPECT_THAT(text, HasSubstr("FAILED uet/rud: seed 2: out of memory"));
  EXPECT_THAT(text, HasSubstr("  roce/sr: a.b=2\n"));
  EXPECT_THAT(text, HasSubstr("per cent against roce/gbn"));
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

TEST(SideBySide, IsAPageWithEverythingEscaped) {
  const std::string page = sample().html();
  EXPECT_THAT(page, HasSubstr("<h1>x: transports compared</h1>"));
  EXPECT_THAT(page, HasSubstr("a.b=&lt;3&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace railyard::compare
