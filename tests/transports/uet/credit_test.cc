// Credit of receivers on the wire (RCCC, uet §9.6): asked for, granted and lost.
#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

// Three packets without being asked, then by grants of two.
EngineConfig credited(bool with_window = false) {
  EngineConfig config = test_config();
  if (!with_window) config.congestion = NoCongestionControl{};
  config.credit = RcccConfig{.max_credit = 3 * 1084, .packet = 1084, .base_rtt = 4_us};
  config.grants = {.grant = 2048, .max_ahead = 3 * 1084, .on_wire = 1156.0 / 1084};
  return config;
}

std::uint64_t units(const Seen& s) {
  if (s.is_cp(CtlType::kCredit)) return s.cp()->credit();
  const bool acks = s.ack() != nullptr && s.ack()->type == PdsType::kAckCc &&
                    s.ack()->cc_type == static_cast<std::uint8_t>(CcType::kCredit);
  return acks ? credit_state(s.ack()->cc_state).credit : 0;
}

TEST(Credit, AMessageIsSentByWhatIsGranted) {
  for (const DeliveryMode mode : {DeliveryMode::kRud, DeliveryMode::kRod}) {
    Pair pair(credited());
    pair.fill(0, 0, 100'000);
    SendWr wr = pair.write(0, 1, 0, kTo, 100'000);
    wr.mode = mode;
    pair.post(0, wr);
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 100'000));
    EXPECT_EQ(pair.counters(0).speculative_packets.read(), 3u);
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
    EXPECT_EQ(pair.counters(0).credit_requests_sent.read(), 0u) << "each packet asks";
    EXPECT_GT(pair.counters(0).credits_received.read(), 30u);
    // No packet without credit: what was granted when it left is as much as what had left before.
    std::int64_t sent = 0, granted = 0;
    std::size_t requests = 0;
    for (const Seen& s : pair.log()) {
      if (s.from == 1) granted = std::max(granted, static_cast<std::int64_t>(units(s)) * 256);
      if (s.request() == nullptr || s.from != 0) continue;
      EXPECT_EQ(s.request()->mode(), mode);
      EXPECT_TRUE(s.request()->has_cc());
      EXPECT_LT(sent, granted + 3 * 1084) << "packet " << requests;
      sent += static_cast<std::int64_t>(s.packet.octets());
      ++requests;
    }
    EXPECT_EQ(requests, 98u);
    pair.expect_clean();
  }
}

TEST(Credit, WithAWindowAcksAreForTheWindowAndCreditsComeAlone) {
  Pair pair(credited(true));
  pair.post(0, pair.write(0, 1, 0, kTo, 50'000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_GT(pair.count(1, "CP CREDIT"), 10u);
  for (const Seen& s : pair.log())
    if (s.from == 1 && s.ack() != nullptr) EXPECT_EQ(s.ack()->cc_type, static_cast<std::uint8_t>(CcType::kNscc));
  pair.expect_clean();
}

TEST(Credit, DataOfAReadIsSentByTheReadersCredit) {
  Pair pair(credited());
  pair.fill(1, 0, 60'000);
  pair.post(0, pair.read(0, 1, kTo, 0, 60'000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, kTo, 1, 0, 60'000));
  EXPECT_GT(pair.counters(1).credits_received.read(), 10u) << "of the reader";
  pair.expect_clean();
}

// Everything that could grant is lost for a while.
TEST(Credit, ALostGrantIsAskedForAgain) {
  Pair pair(credited());
  bool lossy = true;
  pair.fate = [&](const Seen& s) { return Fate{.lost = lossy && s.from == 1 && units(s) > 0}; };
  pair.post(0, pair.write(0, 1, 0, kTo, 50'000));
  pair.run_for(300_us);
  EXPECT_EQ(pair.text(0), "");
  lossy = false;
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  pair.expect_clean();
}

// The last grant is lost, and with it all that the receiver owes: it believes that the sender has what it wants.
TEST(Credit, ARequestIsAnsweredByWhatWasGrantedBefore) {
  Pair pair(credited(true));
  std::size_t credits = 0;
  pair.fate = [&](const Seen& s) {
    return Fate{.lost = s.from == 1 && s.is_cp(CtlType::kCredit) && ++credits >= 3 && credits < 40 && s.at < Instant{} + 50_us};
  };
  pair.post(0, pair.write(0, 1, 0, kTo, 20'000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_GE(pair.counters(0).credit_requests_sent.read(), 1u);
  EXPECT_EQ(pair.counters(0).pdcs_failed.read(), 0u);
  pair.expect_clean();
}

TEST(Credit, AReceiverThatIsSilentFailsThePdcInTime) {
  Pair pair(credited(true));
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1 && s.at > Instant{} + 5_us}; };
  pair.post(0, pair.write(0, 1, 0, kTo, 50'000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:retry_exceeded");
}

// Nobody is known at the receiver: it can grant nothing.
TEST(Credit, FirstPacketsThatAreTrimmedGoAgainOneAtATime) {
  Pair pair(credited());
  std::size_t cut = 0;
  pair.fate = [&](const Seen& s) { return Fate{.trimmed = s.request() != nullptr && s.from == 0 && cut < 8 && ++cut > 0}; };
  pair.fill(0, 0, 20'000);
  pair.post(0, pair.write(0, 1, 0, kTo, 20'000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 20'000));
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
  pair.expect_clean();
}

TEST(Credit, WhatIsTrimmedGoesAgainByCredit) {
  for (const bool with_window : {false, true}) {
    Pair pair(credited(with_window));
    std::size_t n = 0;
    pair.fate = [&](const Seen& s) { return Fate{.trimmed = s.request() != nullptr && ++n % 3 == 0}; };
    pair.fill(0, 0, 100'000);
    pair.post(0, pair.write(0, 1, 0, kTo, 100'000));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 100'000));
    EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
    pair.expect_clean();
  }
}

// Three senders to one receiver, each with far more than its share of the link.
TEST(Credit, SendersShareTheirReceiversLink) {
  Pair pair(std::vector<EngineConfig>(4, credited()));
  for (const std::size_t from : {std::size_t{0}, std::size_t{2}, std::size_t{3}})
    pair.post(from, pair.write(from, 1, 0, kTo, 200'000));
  pair.run_for(30_us);
  std::vector<std::uint64_t> got;
  for (const std::size_t from : {std::size_t{0}, std::size_t{2}, std::size_t{3}})
    got.push_back(pair.counters(from).sent_payload_octets.read());
  for (const std::uint64_t octets : got) {
    EXPECT_GT(octets, 80'000u);
    EXPECT_NEAR(static_cast<double>(octets), static_cast<double>(got[0]), 0.15 * static_cast<double>(got[0]));
  }
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  pair.expect_clean();
}

// Its initiator closes the PDC when it has sent what it has, and needs credit for that.
TEST(Credit, ATargetThatAsksForACloseStillGrants) {
  Pair pair(credited(true));
  pair.post(0, pair.write(0, 1, 0, kTo, 100'000));
  pair.run_for(5_us);
  pair.engine(1).close_all(pair.now());
  pair.run();
  EXPECT_EQ(pair.count(1, "CP CLOSE_REQ"), 1u);
  EXPECT_EQ(pair.text(0), "1:success");
  pair.expect_clean();
}

TEST(Credit, GrantsToWhoNeedsNoneAreDropped) {
  Pair pair({test_config(), credited()});
  // End 1 sends by credit that end 0 grants; what end 0 sends needs none, and asks for none.
  pair.post(1, pair.write(1, 1, 0, kTo, 20'000));
  pair.post(0, pair.write(0, 2, 0, kTo, 20'000));
  pair.run();
  EXPECT_EQ(pair.text(0), "2:success");
  EXPECT_EQ(pair.text(1), "1:success");
  EXPECT_EQ(pair.counters(1).credits_sent.read(), 0u);
  for (const Seen& s : pair.log())
    if (s.request() != nullptr) EXPECT_EQ(s.request()->has_cc(), s.from == 1);
  pair.expect_clean();
}

}  // namespace
}  // namespace railyard::uet
