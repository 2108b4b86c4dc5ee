#include "dataplane/packet/dpdk_log.h"

#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <rte_log.h>

namespace railyard {
namespace {

void dpdk_says(const char* text) { rte_log(RTE_LOG_ERR, RTE_LOGTYPE_EAL, "EAL: %s\n", text); }

TEST(DpdkLog, KeepsWhatIsSaidInOneLine) {
  DpdkLog log;
  EXPECT_EQ(log.said(), "");
  dpdk_says("no such device");
  dpdk_says("giving up");
  EXPECT_EQ(log.said(), "; DPDK says: EAL: no such device | EAL: giving up");
}

TEST(DpdkLog, LetsNothingThroughToStandardErrorWhileItLives) {
  testing::internal::CaptureStderr();
  {
    const DpdkLog log;
    dpdk_says("kept");
    std::fputs("past the log\n", stderr);
  }
  std::fputs("after it\n", stderr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "after it\n");
}

TEST(DpdkLog, HasOnlyWhatIsSaidInItsTime) {
  { const DpdkLog before; }
  DpdkLog log;
  dpdk_says("now");
  EXPECT_EQ(log.said(), "; DPDK says: EAL: now");
}

}  // namespace
}  // namespace railyard
