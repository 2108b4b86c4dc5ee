// The table of nccl-tests, line by line.
#include "control/report/nccl_table.h"

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

TEST(NcclTable, HasTheColumnsOfNcclTests) {
  NcclTable t{.title = "# all-reduce\n", .type = "uint32", .redop = "sum", .root = -1};
  t.rows.push_back({.bytes = 1024, .elements = 256, .time_us = 10.5, .algbw_bps = 0.78e9, .busbw_bps = 1.365e9,
                    .share_of_limit = 0.005, .wrong = 0});
  t.rows.push_back({.bytes = 1 << 30, .elements = 1 << 28, .time_us = 23456.7, .algbw_bps = 366.2e9, .busbw_bps = 640.9e9,
                    .share_of_limit = 0.98, .wrong = 0});
  t.rows.push_back({.bytes = 4096, .elements = 1024});
  EXPECT_EQ(t.text(),
            "# all-reduce\n"
            "#       size         count      type   redop    root     time   algbw   busbw  #wrong     busbw  of limit\n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (Gb/s)          \n"
            "        1024           256    uint32     sum      -1    10.50    0.10    0.17       0      1.36     0.5 %\n"
            "  1073741824     268435456    uint32     sum      -1    23457   45.77   80.11       0    640.90    98.0 %\n"
            "        4096          1024    uint32     sum      -1      N/A     N/A     N/A     N/A       N/A       N/A\n"
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : 40.14 GB/s\n");
}

TEST(NcclTable, AnEstimateComparesNoData) {
  NcclTable t{.title = "", .type = "uint32", .redop = "sum"};
  t.rows.push_back({.bytes = 64, .elements = 16, .time_us = 1});
  t.estimated = true;
  EXPECT_EQ(t.text().find("Out of bounds"), std::string::npos);
  EXPECT_NE(t.text().find("N/A"), std::string::npos);
}

TEST(NcclTable, SaysThatElementsAreWrong) {
  NcclTable t{.title = "", .type = "uint32", .redop = "none", .root = 3};
  t.rows.push_back({.bytes = 64, .elements = 16, .time_us = 1, .wrong = 2});
  EXPECT_NE(t.text().find("# Out of bounds values : 2 FAILED\n"), std::string::npos);
  EXPECT_EQ(NcclTable{}.mean_busbw_bps(), std::nullopt);
}

}  // namespace
}  // namespace railyard::report
