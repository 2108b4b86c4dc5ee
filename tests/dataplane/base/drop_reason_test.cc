#include "dataplane/base/drop_reason.h"

#include <cstddef>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(DropReason, EveryReasonHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kDropReasons; ++i) {
    const std::string_view its_name = name(static_cast<DropReason>(i));
    EXPECT_FALSE(its_name.empty()) << "reason " << i;
    EXPECT_EQ(its_name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos) << its_name;
    EXPECT_TRUE(names.insert(its_name).second) << its_name << " names two reasons";
  }
  EXPECT_EQ(names.size(), kDropReasons);
}

// The first and the last of each group: a name left out or doubled would shift those after it.
TEST(DropReason, NamesStandWhereTheirReasonsDo) {
  EXPECT_EQ(name(DropReason::kTooShort), "too_short");
  EXPECT_EQ(name(DropReason::kGiant), "giant");
  EXPECT_EQ(name(DropReason::kNotForUs), "not_for_us");
  EXPECT_EQ(name(DropReason::kNotUnderstood), "not_understood");
  EXPECT_EQ(name(DropReason::kIngressFull), "ingress_full");
  EXPECT_EQ(name(DropReason::kNicReceiveFull), "nic_receive_full");
  EXPECT_EQ(name(DropReason::kLinkDown), "link_down");
  EXPECT_EQ(name(DropReason::kTrunkFull), "trunk_full");
}

}  // namespace
}  // namespace railyard
