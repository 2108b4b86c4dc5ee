#include "control/base/json_text.h"

#include <string>

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(json_text(nlohmann::json{{"a", "x\xff"}}), "{\"a\":\"x\xEF\xBF\xBD\"}");
  EXPECT_EQ(json_text(nlohmann::json{{"\xfe", 1}}), "{\"\xEF\xBF\xBD\":1}");
  EXPECT_EQ(json_text(nlohmann::json{{"a", "\u00e9"}}), "{\"a\":\"\u00e9\"}");
}

TEST(JsonText, CountsBracketsOutsideOfStrings) {
  EXPECT_FALSE(is_nested_too_deeply("[[[]]]", 3));
  EXPECT_TRUE(is_nested_too_deeply("[{\"a\":[[", 3));
  EXPECT_FALSE(is_nested_too_deeply("[],[],[],[]", 1));
  EXPECT_FALSE(is_nested_too_deeply(R"(["[[[[", "\"[[["])", 1));
  EXPECT_FALSE(is_nested_too_deeply("]]]][", 1));
  EXPECT_FALSE(is_nested_too_deeply("\"\\", 1));
  EXPECT_TRUE(is_nested_too_deeply(std::string(60'000, '[')));
}

}  // namespace
}  // namespace railyard
