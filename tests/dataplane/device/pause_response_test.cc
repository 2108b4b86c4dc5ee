#include "dataplane/device/pause_response.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

// roce-and-lossless.md §10.3, from IEEE 802.3 annex 31B: quanta of 512 bit times.
TEST(PauseResponse, TheStandardsTable) {
  struct Row {
    BitRate rate;
    std::int64_t quanta;
  };
  for (const Row& row :
       {Row{100_Mbps, 1}, Row{1_Gbps, 2}, Row{10_Gbps, 67}, Row{25_Gbps, 80}, Row{40_Gbps, 118}, Row{50_Gbps, 147},
        Row{100_Gbps, 394}, Row{200_Gbps, 453}, Row{400_Gbps, 905}, Row{800_Gbps, 905}})
    EXPECT_EQ(standard_pause_response(row.rate), 64_B * row.quanta / row.rate) << row.rate.bps;
  // "In nanoseconds: 100G 2017, 400G 1158, 800G 579."
  EXPECT_EQ(nanoseconds(standard_pause_response(100_Gbps)), 2017);
  EXPECT_EQ(nanoseconds(standard_pause_response(400_Gbps)), 1158);
  EXPECT_EQ(nanoseconds(standard_pause_response(800_Gbps)), 579);
}

TEST(PauseResponse, RatesInBetweenTakeTheNextHigherOnesQuanta) {
  EXPECT_EQ(standard_pause_response(56_Gbps), 64_B * 394 / 56_Gbps);
  EXPECT_EQ(standard_pause_response(10_Mbps), 64_B * 1 / 10_Mbps);
  EXPECT_EQ(standard_pause_response(1600_Gbps), 64_B * 905 / 1600_Gbps) << "beyond the table: its last row";
}

}  // namespace
}  // namespace railyard
