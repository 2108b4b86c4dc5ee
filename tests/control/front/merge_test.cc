// The answers of several sites as one.
#include <gtest/gtest.h>

#include "control/front/merge.h"

namespace railyard::front {
namespace {

using nlohmann::json;

json trunk(const char* name, std::int64_t offset, std::int64_t error, bool up = true) {
  return {{"name", name}, {"up", up}, {"clock_offset_ns", offset}, {"clock_error_ns", error}};
}

// a - b twice, b - c; what is said of clocks by a's trunks and by c's.
SitePlan plan() {
  SitePlan p;
  p.sites = {"a", "b", "c"};
  p.trunks["a"] = {{"t1", {"a", "b"}}, {"t2", {"a", "b"}}};
  p.trunks["b"] = {};
  p.trunks["c"] = {{"t3", {"c", "b"}}};
  for (const char* host : {"h1", "h2", "h3"}) {
    p.lab.nodes.emplace_back().name = host;
    p.lab.nodes.back().kind = spec::NodeSpec::Kind::kHost;
  }
  p.site_of = {{"h1", "a"}, {"h2", "b"}, {"h3", "c"}};
  return p;
}

json status(json trunks) {
  return {{"size", {{"flows", 1}, {"collectives", 0}}},
          {"held", false},
          {"engine",
           {{"modelled_seconds", 1.0}, {"wall_seconds", 2.0}, {"busy_seconds", 0.5}, {"slip_ns", 3}, {"slips", 0},
            {"lateness_ns", {{"p50", 1}, {"p99", 2}, {"max", 3}}}}},
          {"hosts", json::array()},
          {"ports", json::array({json{{"node", "leaf"}, {"port", 1}}})},
          {"attachments", json::array()},
          {"applications", json::array()},
          {"trunks", std::move(trunks)}};
}

TEST(ClockOffsets, AddUpOverTheTrunksWithTheSmallestErrors) {
  const Answers answers{{"a", status(json::array({trunk("t1", 5000, 400), trunk("t2", 5100, 100)}))},
                        {"b", status(json::array())},
                        {"c", status(json::array({trunk("t3", -700, 50)}))}};
  const auto clocks = clock_offsets(plan(), answers, "a");
  EXPECT_EQ(clocks.at("a").offset_ns, 0);
  EXPECT_EQ(clocks.at("b").offset_ns, 5100);
  EXPECT_EQ(clocks.at("b").error_ns, 100);
  EXPECT_EQ(clocks.at("c").offset_ns, 5800) << "b is 700 ns behind c";
  EXPECT_EQ(clocks.at("c").error_ns, 150);
}

TEST(ClockOffsets, ATrunkThatIsDownSaysNothing) {
  const Answers answers{{"a", status(json::array({trunk("t1", 5000, 400, false), trunk("t2", 5100, 100, false)}))}};
  EXPECT_FALSE(clock_offsets(plan(), answers, "a").contains("b"));
}

TEST(MergedStatus, NamesASiteThatIsAwayAndItsHosts) {
  const Answers answers{{"a", status(json::array({trunk("t1", 0, 1), trunk("t2", 0, 1)}))}, {"c", status(json::array({trunk("t3", 0, 1)}))}};
  const json s = merged_status("x", plan(), answers, {{"a", "x-a", ""}, {"b", "x-b", "its daemon has ended"}, {"c", "x-c", ""}});
  EXPECT_EQ(s["name"], "x");
  EXPECT_EQ(s["size"]["hosts"], 3);
  EXPECT_EQ(s["size"]["flows"], 2);
  EXPECT_EQ(s["ports"].size(), 2u);
  EXPECT_EQ(s["ports"][1]["site"], "c");
  EXPECT_EQ(s["sites"][1]["up"], false);
  EXPECT_EQ(s["sites"][1]["why"], "its daemon has ended");
  ASSERT_EQ(s["hosts"].size(), 1u);
  EXPECT_EQ(s["hosts"][0]["name"], "h2");
  EXPECT_EQ(s["hosts"][0]["state"], "down");
  EXPECT_EQ(s["trunks"][0]["to_site"], "b");
}

}  // namespace
}  // namespace railyard::front
