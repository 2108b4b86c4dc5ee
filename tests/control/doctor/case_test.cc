#include "control/doctor/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/input_error.h"
#include "tests/control/doctor/report_of.h"

namespace railyard::doctor {
namespace {

using testing::HasSubstr;

TEST(Case, EachPortKnowsTheOtherEnd) {
  const Case c(test::healthy(), "a.json");
  ASSERT_EQ(c.ports().size(), 4u);
  EXPECT_EQ(c.ports()[0].other, &c.ports()[2]);
  EXPECT_TRUE(c.ports()[0].is_switch);
  EXPECT_FALSE(c.ports()[2].is_switch);
  EXPECT_EQ(c.ports()[0].link(), "leaf1:1-h1:1");
  EXPECT_EQ(c.ports()[2].link(), "leaf1:1-h1:1") << "the switch first";
  EXPECT_EQ(Case::missing(c.ports()[2]), 0u);
}

TEST(Case, WhatIsNoReportIsNamed) {
  EXPECT_THAT([] { Case(nlohmann::ordered_json::object(), "a.json"); },
              testing::ThrowsMessage<InputError>(HasSubstr("a.json: is no report of this version: it has no 'run'")));
  auto broken = test::healthy();
  broken["ports"][0]["classes"][0]["class"] = "three";
  EXPECT_THAT([&] { Case(broken, "b.json"); },
              testing::ThrowsMessage<InputError>(HasSubstr("b.json: is no report of this version")));
}

}  // namespace
}  // namespace railyard::doctor
