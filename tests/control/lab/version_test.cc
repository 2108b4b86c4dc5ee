#include "control/lab/version.h"

#include <regex>

#include <gtest/gtest.h>

namespace railyard::lab {
namespace {

TEST(Version, IsThreeNumbersAndTheCommit) {
  EXPECT_TRUE(std::regex_match(version(), std::regex(R"(\d+\.\d+\.\d+(\+[0-9a-f]{7,40}(-dirty)?)?)"))) << version();
}

}  // namespace
}  // namespace railyard::lab
