// Cables and rates against a plan, and probes that are slow over one link.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/doctor/rule.h"
#include "control/doctor/table.h"
#include "tests/control/doctor/report_of.h"

namespace railyard::doctor {
namespace {

using test::Json;
using test::named;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// `a` is a host's.
Json link(const char* a, const char* b, double gbps) {
  return {{"a", a}, {"b", b}, {"a_is_host", true}, {"b_is_host", false}, {"rate_bps", gbps * 1e9}};
}

Json with_rates() {
  Json r = test::healthy();
  for (Json& p : r["ports"]) p["rate_bps"] = 100e9;
  return r;
}

TEST(Plan, AHostAtAnotherSwitchIsNamedAndAnotherPortIsNot) {
  Json r = with_rates();
  r["plan"] = Json::array({link("h1:1", "leaf1:7", 100), link("h2:1", "leaf1:2", 100)});
  EXPECT_THAT(named(r), IsEmpty());
  r["plan"][0]["b"] = "leaf2:1";
  EXPECT_THAT(named(r), ElementsAre("wrong-switch at leaf1:1-h1:1"));
}

TEST(Plan, ALinkThatIsSlowerThanPlannedIsNamedOnce) {
  Json r = with_rates();
  r["plan"] = Json::array({link("h1:1", "leaf1:1", 400), link("h2:1", "leaf1:2", 50)});
  EXPECT_THAT(named(r), ElementsAre("slower-than-planned at leaf1:1-h1:1"));
}

TEST(Plan, NobodyMissesAPlanWhoHasNone) {
  const Case c(test::healthy(), "a.json");
  EXPECT_THAT(text(c, "a", {}, 5), Not(HasSubstr("a plan")));
}

Json pair_of(const char* from, const char* to, double gbps) {
  return {{"src", from}, {"dst", to}, {"median_bps", gbps * 1e9}, {"last_bps", gbps * 1e9}};
}

TEST(Probes, TheLinkThatSlowPairsShareIsNamed) {
  Json r = with_rates();
  r["ports"].push_back(test::port_of("leaf1", 3, "h3:1", true));
  r["ports"].push_back(test::port_of("h3", 1, "leaf1:3", false));
  for (Json& p : r["ports"]) {
    p["rate_bps"] = 100e9;
    p["utilisation"] = 0.0;
  }
  const auto measured = [&](double to_h1) {
    Json j = r;
    j["probes"]["pairs"] = Json::array({pair_of("h1:1", "h2:1", 97), pair_of("h2:1", "h1:1", to_h1), pair_of("h1:1", "h3:1", 97),
                                        pair_of("h3:1", "h1:1", to_h1), pair_of("h2:1", "h3:1", 97), pair_of("h3:1", "h2:1", 97)});
    return j;
  };
  EXPECT_THAT(named(measured(97)), IsEmpty());
  EXPECT_THAT(named(measured(48)), ElementsAre("slow-probes at leaf1:1-h1:1"));
  // The lab itself uses the rest.
  Json busy = measured(48);
  busy["ports"][0]["utilisation"] = 0.5;
  EXPECT_THAT(named(busy), IsEmpty());
}

}  // namespace
}  // namespace railyard::doctor
