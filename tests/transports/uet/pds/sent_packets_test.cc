// What a sender knows of its packets: which transmission an answer is of.
#include "transports/uet/pds/sent_packets.h"

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

class Sent : public testing::Test {
 protected:
  Sent() {
    sent_.start(kFirst);
    sent_.add({.transmissions = 1});
  }
  void lose_and_send_again(bool told) {
    EXPECT_TRUE(sent_.mark_lost(kFirst, told));
    sent_.sent_again(kFirst, Instant{}, 0);
  }
  bool is_of_last(bool retx) { return sent_.at(kFirst).is_of_last(retx); }

  static constexpr Psn kFirst{100};
  SentPackets sent_;
};

TEST_F(Sent, AnAnswerIsOfTheOnlyTransmission) {
  EXPECT_TRUE(is_of_last(false));
  EXPECT_FALSE(is_of_last(true)) << "nobody sent one";
}

TEST_F(Sent, OfTwoTransmissionsTheAnswerSaysWhich) {
  lose_and_send_again(false);
  EXPECT_TRUE(is_of_last(true));
  EXPECT_FALSE(is_of_last(false));
}

TEST_F(Sent, OfManyItIsTheLastIfAllBeforeAreKnownToHaveBeenCut) {
  lose_and_send_again(false);
  for (int i = 0; i < 5; ++i) lose_and_send_again(true);
  EXPECT_TRUE(is_of_last(true));
  EXPECT_FALSE(is_of_last(false));
}

TEST_F(Sent, ElseItMayBeOfAny) {
  lose_and_send_again(true);
  lose_and_send_again(false);
  EXPECT_FALSE(is_of_last(true));
  lose_and_send_again(true);
  EXPECT_FALSE(is_of_last(true)) << "that one may come yet";
}

}  // namespace
}  // namespace railyard::uet
