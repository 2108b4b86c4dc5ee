// Who may have how many PDCs.
#include "transports/uet/pds/pdc_table.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

TEST(PdcTable, NeitherThisEndNorOthersTakeAllPdcs) {
  for (const bool initiator : {false, true}) {
    SCOPED_TRACE(initiator);
    PdcTable table(8, Duration{1}, Duration{1});
    const auto take = [&](bool own) {
      Pdc* const pdc = table.take({}, own);
      if (pdc != nullptr) pdc->initiator = own;
      return pdc != nullptr;
    };
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(take(initiator));
    EXPECT_FALSE(take(initiator));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(take(!initiator)) << "a quarter is for the other kind";
    EXPECT_FALSE(take(!initiator));
  }
}

// A PDCID rests for seconds after a failure. That takes no PDC from anybody.
TEST(PdcTable, ANumberThatRestsTakesNoPdc) {
  PdcTable table(2, Duration{1'000}, Duration{1'000'000});
  std::set<std::uint16_t> used;
  Instant now{};
  for (int i = 0; i < 10; ++i, now = now + Duration{1}) {
    SCOPED_TRACE(i);
    Pdc* const own = table.take(now, true);
    Pdc* const of_peer = table.take(now, false);
    ASSERT_TRUE(own != nullptr && of_peer != nullptr);
    EXPECT_EQ(table.take(now, true), nullptr);
    EXPECT_EQ(table.take(now, false), nullptr);
    for (Pdc* const pdc : {own, of_peer}) {
      EXPECT_TRUE(used.insert(pdc->id.value).second) << "used again too soon";
      pdc->initiator = pdc == own;
      pdc->state = PdcState::kEstablished;
      EXPECT_EQ(table.find(pdc->id.value), pdc);
      pdc->state = PdcState::kFree;
      table.give_back(now, *pdc, PdcTable::Rest::kTarget);
    }
  }
}

// All 65,535 numbers come in turn, and none before it has rested.
TEST(PdcTable, NumbersComeAgainWhenTheyHaveRested) {
  PdcTable table(2, Duration{100'000}, Duration{1'000'000});
  std::map<std::uint16_t, Instant> last;
  Instant now{};
  for (int i = 0; i < 200'000; ++i, now = now + Duration{2}) {
    Pdc* const pdc = table.take(now, false);
    ASSERT_NE(pdc, nullptr) << i;
    pdc->initiator = false;
    const auto [at, first] = last.try_emplace(pdc->id.value, now);
    ASSERT_TRUE(first || now - at->second >= Duration{100'000});
    at->second = now;
    table.give_back(now, *pdc, PdcTable::Rest::kPackets);
  }
  EXPECT_EQ(last.size(), 65'535u);
}

}  // namespace
}  // namespace railyard::uet
