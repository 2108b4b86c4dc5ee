// Who may have how many PDCs.
#include "transports/uet/pds/pdc_table.h"

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

}  // namespace
}  // namespace railyard::uet
