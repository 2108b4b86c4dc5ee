// In-band telemetry in the fabric file.
#include <gtest/gtest.h>

#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

//   8  traffic: ...
//   the run of kSmall is replaced by overrides
const std::string kIntTraffic = "traffic: [ { name: incast, from: h1, to: h2 }, { name: other, from: h2, to: h1 } ]\n";

// What is said of it, behind the place.
std::string int_error(const std::string& said) {
  const std::string error = error_of(small_with(kIntTraffic), {"run.int=" + said});
  const std::string place = "--set run.int=" + said + ": ";
  return error.starts_with(place) ? error.substr(place.size()) : error;
}

TEST(InBand, IsOffUnlessAsked) {
  EXPECT_EQ(parse(kSmall, "x.yaml").run.in_band, std::nullopt);
  EXPECT_EQ(parse_small_with(kIntTraffic, {"run.int.one-in=10"}).run.in_band, (IntSpec{.one_in = 10}));
  EXPECT_EQ(parse_small_with(kIntTraffic, {"run.int={}"}).run.in_band, IntSpec{});
}

TEST(InBand, EveryKey) {
  const Lab lab = parse_small_with(
      kIntTraffic, {"run.int={ one-in: 7, classes: [3, 4], flows: [incast, other/h2->h1], packets: 50 }"});
  EXPECT_EQ(lab.run.in_band,
            (IntSpec{.one_in = 7, .classes = {3, 4}, .flows = {"incast", "other/h2->h1"}, .packets = 50}));
  EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << to_yaml(lab);
  EXPECT_EQ(parse_small_with(kIntTraffic, {"run.int={ classes: 3, flows: incast }"}).run.in_band,
            (IntSpec{.classes = {3}, .flows = {"incast"}}));
}

TEST(InBand, WhatCannotBeIsRefused) {
  EXPECT_EQ(int_error("{ one-in: 0 }"), "run.int.one-in: 0 is out of range; expected 1..1000000000");
  EXPECT_EQ(int_error("{ classes: [3, 8] }"), "run.int.classes.1: 8 is out of range; expected 0..7");
  EXPECT_EQ(int_error("{ flows: incats }"), "run.int.flows: there is no traffic 'incats'; did you mean 'incast'?");
  EXPECT_EQ(int_error("{ flows: [incast, no/h1->h2] }"),
            "run.int.flows.1: there is no traffic 'no'; expected one of incast, other");
  EXPECT_EQ(int_error("{ packets: 0 }"), "run.int.packets: 0 is out of range; expected 1..1048576");
  EXPECT_NE(int_error("{ one-of: 5 }").find("unknown key 'one-of'; did you mean 'one-in'?"), std::string::npos);
}

// As a lab that is up is asked.
TEST(InBand, OfALabThatIsThere) {
  const Lab lab = parse_small_with(kIntTraffic);
  EXPECT_EQ(parse_int(lab, "{ one-in: 5, flows: [\"incast\"], }", "int"), (IntSpec{.one_in = 5, .flows = {"incast"}}));
  EXPECT_EQ(parse_int(lab, "", "int"), IntSpec{});
  EXPECT_EQ(parse_int(lab, "{ }", "int"), IntSpec{});
  try {
    static_cast<void>(parse_int(lab, "{ flows: x }", "int"));
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_STREQ(error.what(), "int:1:10: flows: there is no traffic 'x'; expected one of incast, other");
  }
}

}  // namespace
}  // namespace railyard::spec
