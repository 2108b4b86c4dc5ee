#include "control/base/text_table.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(text_table({{"name", "n", "much"}, {"a", "100", "x"}}, 1),
            "name    n  much\n"
            "a     100     x\n");
  EXPECT_EQ(text_table({{"name", "n", "much"}, {"a", "100", "x"}}, 3, "  "),
            "  name  n    much\n"
            "  a     100  x\n");
}

TEST(TextTable, NothingIsPrintedBehindTheLastCell) {
  EXPECT_EQ(text_table({{"a", "long", ""}, {"b"}, {}}, 2), "a  long\nb\n\n");
  EXPECT_EQ(text_table({}, 1), "");
}

}  // namespace
}  // namespace railyard
