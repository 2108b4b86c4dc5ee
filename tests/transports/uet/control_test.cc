// Control packets in each state of a PDC, at the end that expects them and at the other (uet §3.7, §5.10, §5.11,
// §5.14).
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/transports/uet/established.h"

namespace railyard::uet {
namespace {

using namespace literals;

class ControlPackets : public Established {
 protected:
  // On the PDC, from its initiator (end 0) or its target.
  Packet cp(CtlType type, std::size_t from, std::uint32_t psn, std::uint32_t payload = 0) const {
    Packet p;
    p.pds = PdsCpValues{.ctl_type = type,
                        .ar = true,
                        .psn = psn,
                        .spdcid = from == 0 ? initiator_ : target_,
                        .dpdcid = from == 0 ? target_ : initiator_,
                        .payload = payload};
    return p;
  }
  static PdsCpValues& cp_of(Packet& p) { return std::get<PdsCpValues>(p.pds); }
  const Seen& last_of(std::size_t end) const {
    const auto& log = pair_.log();
    return *std::find_if(log.rbegin(), log.rend(), [&](const Seen& s) { return s.from == end; });
  }
  PdcState state(std::size_t end) {
    const Pdc* const pdc = pair_.engine(end).pdc(PdcId{end == 0 ? initiator_ : target_});
    return pdc == nullptr ? PdcState::kFree : pdc->state;
  }
  // What end 0 sends of these is lost from now on.
  void lose_from_initiator(CtlType type) {
    pair_.fate = [type](const Seen& s) { return Fate{.lost = s.from == 0 && s.is_cp(type)}; };
  }
  // Requests that end 0 sent from packet `since` of the log on.
  std::size_t requests(std::size_t since) const {
    return static_cast<std::size_t>(std::count_if(pair_.log().begin() + static_cast<std::ptrdiff_t>(since),
                                                  pair_.log().end(),
                                                  [](const Seen& s) { return s.from == 0 && s.request() != nullptr; }));
  }
};

// ---- NOOP, NEGOTIATION ----

constexpr CtlType kOpening[] = {CtlType::kNoop, CtlType::kNegotiation};

TEST_F(ControlPackets, NoopAndNegotiationOpenAPdcOfTheirMode) {
  std::uint16_t id = 50;
  for (const CtlType type : kOpening)
    for (const bool rod : {false, true}) {
      SCOPED_TRACE(static_cast<int>(type));
      Packet open;
      open.pds = PdsCpValues{
          .ctl_type = type, .isrod = rod, .ar = true, .syn = true, .psn = 0x1234'5678, .spdcid = ++id, .payload = 7};
      const std::size_t before = pair_.engine(1).pdcs();
      EXPECT_EQ(answer(open, 2), "ACK_CC");
      const PdsAckValues ack = *last_of(1).ack();
      EXPECT_EQ(ack.dpdcid, id);
      EXPECT_EQ(ack.cack_psn, 0x1234'5678u);
      EXPECT_EQ(ack.next_hdr, NextHdr::kNone);
      EXPECT_EQ(answer(open, 2), "ACK_CC") << "a duplicate";
      EXPECT_EQ(pair_.engine(1).pdcs(), before + 1);
      cp_of(open).isrod = !rod;
      EXPECT_EQ(answer(open, 2), "NACK PDC_MODE_MISMATCH");
      cp_of(open).isrod = rod;
      cp_of(open).psn_offset = 3;
      EXPECT_EQ(answer(open, 2), "NACK INVALID_SYN") << "with another Start_PSN";
      // What the PDC is for.
      Packet data = request();
      pds(data) = {.type = PdsType::kRodReq, .ar = true, .psn = 0x1234'5679, .spdcid = id, .dpdcid = ack.spdcid};
      EXPECT_EQ(answer(data, 2), rod ? "ACK_CC" : "NACK PDC_MODE_MISMATCH");
    }
}

TEST_F(ControlPackets, NoopAndNegotiationAreAcknowledgedOnAPdcByEitherEnd) {
  for (const std::size_t from : {0u, 1u}) {
    std::uint32_t psn = from == 0 ? next_ : start_;  // the reverse direction has had nothing
    for (const CtlType type : kOpening) {
      EXPECT_EQ(answer(cp(type, from, psn), from, 1 - from), "ACK_CC");
      EXPECT_EQ(last_of(1 - from).ack()->cack_psn, psn);
      EXPECT_EQ(last_of(1 - from).ack()->next_hdr, NextHdr::kNone);
      EXPECT_EQ(answer(cp(type, from, psn), from, 1 - from), "ACK_CC") << "a duplicate";
      EXPECT_EQ(answer(cp(type, from, psn + 513), from, 1 - from), "NACK PSN_OOR_WINDOW");
      ++psn;
    }
  }
  for (const CtlType type : kOpening) {
    Packet p = cp(type, 0, next_ + 2);
    cp_of(p).dpdcid = 999;
    EXPECT_EQ(answer(p), "NACK INV_DPDCID") << "of no PDC";
  }
}

TEST_F(ControlPackets, AndWhileEitherEndCloses) {
  lose_from_initiator(CtlType::kCloseCmd);
  pair_.engine(1).close_all(pair_.now());
  pair_.run_for(20_us);
  ASSERT_EQ(state(1), PdcState::kClosing);  // CLOSE_REQ sent
  ASSERT_EQ(state(0), PdcState::kClosing);  // CLOSE_CMD sent
  for (const CtlType type : kOpening) {
    // (The CLOSE_CMD that is lost has next_: these are behind it, and will stay there. It goes again meanwhile.)
    EXPECT_EQ(answer(cp(type, 0, next_ + 1 + (type == CtlType::kNoop))), "ACK_CC");
    EXPECT_TRUE(answer(cp(type, 1, start_ + 1 + (type == CtlType::kNoop)), 1, 0).starts_with("ACK_CC"));
  }
}

// Of a PDC that is gone only a first packet could still open another one.
TEST_F(ControlPackets, NoopAndNegotiationOfAClosedPdc) {
  pair_.engine(0).close_all(pair_.now());
  pair_.run_for(20_us);
  ASSERT_EQ(state(0), PdcState::kFree);
  for (const CtlType type : kOpening) {
    EXPECT_EQ(answer(cp(type, 0, next_)), "NACK INV_DPDCID");
    Packet late = cp(type, 0, start_);
    cp_of(late).syn = true;
    cp_of(late).dpdcid = 0;
    EXPECT_EQ(answer(late), "") << "it has closed";
  }
  EXPECT_EQ(drops(1, Drop::kClosedPdc), 2u);
  EXPECT_EQ(pair_.engine(1).pdcs(), 0u);
}

// ---- CLEAR_REQ, CLEAR_CMD ----

TEST_F(ControlPackets, AClearReqIsAnsweredWithWhatIsClear) {
  EXPECT_EQ(answer(cp(CtlType::kClearReq, 1, 0, next_ - 1), 1, 0), "CP CLEAR_CMD");
  EXPECT_EQ(last_of(0).cp()->payload, next_ - 1);
  EXPECT_EQ(last_of(0).cp()->psn, 0u);
  EXPECT_EQ(answer(cp(CtlType::kClearReq, 0, 0, next_ - 1)), "CP CLEAR_CMD") << "nothing asks a target for it; no harm";
  expect_alive();
}

TEST_F(ControlPackets, AClearReqIsAnsweredByARequestIfOneGoes) {
  pair_.post(0, pair_.write(0, 2, 10'000, kTo, 200'000));
  pair_.run_for(1_us);  // of two hundred packets some have gone
  const std::size_t before = pair_.log().size();
  pair_.inject(1, 0, cp(CtlType::kClearReq, 1, 0, next_ - 1));
  pair_.run_for(2_us);
  EXPECT_GT(requests(before), 0u);
  EXPECT_EQ(pair_.count(0, "CP CLEAR_CMD"), 0u) << "all of these say what is clear (uet §5.6)";
}

TEST_F(ControlPackets, AClearCmdLetsGoOfWhatWasKeptAndNoMore) {
  lose_from_initiator(CtlType::kClearCmd);
  pair_.post(0, pair_.read(0, 2, 10'000, 0, 8));
  pair_.run_for(20_us);
  const auto window = [&]() -> const ReceiveWindow& { return pair_.engine(1).pdc(PdcId{target_})->window; };
  ASSERT_EQ(window().cack(), Psn(next_ - 1)) << "not past the response that is guaranteed";
  const Packet clear = cp(CtlType::kClearCmd, 0, 0, next_);
  EXPECT_EQ(answer(cp(CtlType::kClearCmd, 0, 0, next_ + 1)), "") << "that one has not come";
  EXPECT_EQ(window().cack(), Psn(next_ - 1));
  EXPECT_EQ(answer(clear), "ACK_CC") << "others may have waited behind it";
  EXPECT_EQ(window().cack(), Psn(next_));
  EXPECT_TRUE(pair_.engine(1).pdc(PdcId{target_})->stored.empty());
  EXPECT_EQ(answer(clear), "") << "it is clear";
  EXPECT_EQ(answer(cp(CtlType::kClearCmd, 0, 0, start_)), "") << "and stays so";
  EXPECT_EQ(window().cack(), Psn(next_));
  EXPECT_EQ(answer(cp(CtlType::kClearCmd, 1, 0, start_ + 9), 1, 0), "") << "an initiator keeps nothing";
}

// ---- REQ_CLOSE, CLOSE_REQ ----

TEST_F(ControlPackets, ReqCloseInAnAckMakesAnInitiatorCloseWhenItIsDone) {
  Packet asks = ack();
  std::get<PdsAckValues>(asks.pds).req = AckRequest::kReqClose;
  EXPECT_EQ(answer(asks, 1, 0), "CP CLOSE_CMD");
  pair_.run();
  pair_.expect_clean();
}

TEST_F(ControlPackets, ReqCloseFromAnInitiatorMeansNothing) {
  // A READ's data are acknowledged by the initiator; so is what nobody asked for.
  Packet asks;
  asks.pds = PdsAckValues{.type = PdsType::kAckCc,
                          .next_hdr = NextHdr::kNone,
                          .req = AckRequest::kReqClose,
                          .cack_psn = start_ - 1,
                          .spdcid = initiator_,
                          .dpdcid = target_};
  EXPECT_EQ(answer(asks), "");
  std::get<PdsAckValues>(asks.pds).req = AckRequest::kReqClear;
  EXPECT_EQ(answer(asks), "");
  EXPECT_EQ(state(1), PdcState::kEstablished);
  expect_alive();
}

// What is under way goes on, what is new has another PDC.
TEST_F(ControlPackets, ACloseReqIsAcknowledgedAndObeyedWhenAllIsDone) {
  pair_.fill(0, 10'000, 200'000, 3);
  pair_.post(0, pair_.write(0, 2, 10'000, kTo, 200'000));
  pair_.run_for(3_us);
  pair_.engine(1).close_all(pair_.now());
  pair_.run_for(2_us);
  ASSERT_EQ(pair_.count(1, "CP CLOSE_REQ"), 1u);
  EXPECT_EQ(state(0), PdcState::kQuiesce);
  EXPECT_EQ(pair_.count(0, "CP CLOSE_CMD"), 0u);
  pair_.fill(0, 300'000, 3000, 4);
  pair_.post(0, pair_.write(0, 3, 300'000, 600'000, 3000));
  pair_.run_for(100_us);
  EXPECT_EQ(state(0), PdcState::kFree);
  EXPECT_EQ(pair_.counters(0).pdcs_opened.read(), 2u);
  pair_.run();
  EXPECT_EQ(pair_.text(0), "1:success 2:success 3:success");
  EXPECT_TRUE(pair_.same(0, 10'000, 1, kTo, 200'000));
  EXPECT_TRUE(pair_.same(0, 300'000, 1, 600'000, 3000));
  EXPECT_EQ(pair_.counters(1).pdcs_failed.read(), 0u);
  pair_.expect_clean();
}

TEST_F(ControlPackets, ASecondCloseReqIsADuplicateAndBringsNoSecondClose) {
  const Packet asks = cp(CtlType::kCloseReq, 1, start_);
  lose_from_initiator(CtlType::kCloseCmd);
  EXPECT_TRUE(answer(asks, 1, 0).starts_with("ACK_CC, CP CLOSE_CMD"));
  EXPECT_TRUE(answer(asks, 1, 0).starts_with("ACK_CC"));
  EXPECT_TRUE(answer(cp(CtlType::kCloseReq, 1, start_ + 1), 1, 0).starts_with("ACK_CC"))
      << "another one: it is closing";
  EXPECT_EQ(pair_.count(0, [](const Seen& s) { return s.is_cp(CtlType::kCloseCmd) && !s.cp()->retx; }), 1u);
  pair_.fate = nullptr;
  pair_.run();
  pair_.expect_clean();
}

TEST_F(ControlPackets, CloseCmdIsAnInitiatorsAndCloseReqATargets) {
  EXPECT_EQ(answer(cp(CtlType::kCloseReq, 0, next_)), "NACK UNEXP_EVENT");
  EXPECT_EQ(answer(cp(CtlType::kCloseCmd, 1, start_), 1, 0), "NACK UNEXP_EVENT");
  EXPECT_EQ(drops(0, Drop::kUnexpected), 1u);
  expect_alive();
}

// Its answers are lost: an initiator learns by it what the target calls the PDC, and its own answer finds its way.
TEST(ControlPacketsBeforeAnAck, ACloseReqTeachesTheTargetsPdcid) {
  EngineConfig config = test_config();
  config.idle_close = 1_s;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1 && s.ack() != nullptr}; };
  pair.fill(0, 0, 2000);
  pair.post(0, pair.write(0, 1, 0, kTo, 2000));
  pair.run_for(10_us);
  const std::uint16_t target = pair.engine(1).pdcs() == 1 ? std::uint16_t{1} : std::uint16_t{0};
  ASSERT_NE(pair.engine(1).pdc(PdcId{target}), nullptr);
  pair.engine(1).close_all(pair.now());
  pair.run_for(4_us);
  ASSERT_EQ(pair.count(1, "CP CLOSE_REQ"), 1u);
  const auto answer = std::ranges::find_if(pair.log(), [](const Seen& s) { return s.from == 0 && s.ack() != nullptr; });
  ASSERT_NE(answer, pair.log().end());
  EXPECT_EQ(answer->ack()->dpdcid, target);
  pair.fate = nullptr;
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_EQ(pair.counters(0).pdcs_opened.read(), 1u);
  EXPECT_EQ(pair.counters(1).pdcs_failed.read(), 0u);
  pair.expect_clean();
}

// ---- CLOSE_CMD ----

// It clears what was kept, and says so by its ACK.
TEST_F(ControlPackets, ACloseCmdClearsAllThatItCloses) {
  lose_from_initiator(CtlType::kClearCmd);
  pair_.post(0, pair_.read(0, 2, 10'000, 0, 8));
  pair_.run_for(20_us);
  EXPECT_EQ(answer(cp(CtlType::kCloseCmd, 0, next_ + 1)), "ACK_CC");
  EXPECT_EQ(last_of(1).ack()->cack_psn, next_ + 1);
  EXPECT_EQ(state(1), PdcState::kFree);
  EXPECT_EQ(answer(cp(CtlType::kCloseCmd, 0, next_ + 1)), "NACK INV_DPDCID") << "a copy: it is gone";
  EXPECT_EQ(pair_.counters(1).pdcs_failed.read(), 0u);
}

// Data of a READ are on their way: the close is one in error, which costs the PDC, and the READ goes again.
TEST_F(ControlPackets, ACloseCmdBeforeATargetsDataAreAcknowledgedIsAnError) {
  bool lost = true;
  pair_.fate = [&](const Seen& s) { return Fate{.lost = lost && s.from == 1 && s.request() != nullptr}; };
  pair_.fill(1, 10'000, 3000);
  pair_.post(0, pair_.read(0, 2, 500'000, 10'000, 3000));
  pair_.run_for(20_us);
  EXPECT_EQ(answer(cp(CtlType::kCloseCmd, 0, next_ + 3)), "NACK CLOSING_IN_ERR");
  EXPECT_EQ(last_of(1).nack()->payload, 3u) << "so many are outstanding";
  EXPECT_EQ(state(1), PdcState::kFree);
  EXPECT_EQ(pair_.counters(1).pdcs_failed.read(), 1u);
  lost = false;
  while (pair_.text(0).find("2:") == std::string::npos && pair_.now() < Instant{} + 1_s) pair_.run_for(1_ms);
  EXPECT_TRUE(pair_.same(0, 500'000, 1, 10'000, 3000));
  EXPECT_EQ(pair_.counters(0).pdcs_opened.read(), 2u);
}

TEST_F(ControlPackets, AnInitiatorWhoseCloseIsRefusedClosesInError) {
  lose_from_initiator(CtlType::kCloseCmd);
  pair_.engine(0).close_all(pair_.now());
  pair_.run_for(1_us);
  ASSERT_EQ(state(0), PdcState::kClosing);
  Packet refused = nack(NackCode::kClosingInErr, next_);
  std::get<PdsNackValues>(refused.pds).payload = 2;
  answer(refused, 1, 0);
  EXPECT_EQ(state(0), PdcState::kFree);
  EXPECT_EQ(pair_.counters(0).pdcs_failed.read(), 1u);
  EXPECT_EQ(pair_.text(0), "1:success") << "its messages were done";
}

// ---- A syn towards an initiator's PDC ----

TEST_F(ControlPackets, ASynTowardsAnInitiatorsPdcIsInvalid) {
  Packet p = request();
  pds(p).spdcid = target_;
  pds(p).dpdcid = 0;
  pds(p).syn = true;
  pds(p).psn = start_;
  EXPECT_EQ(answer(p, 1, 0), "NACK INVALID_SYN");
  Packet open = cp(CtlType::kNoop, 1, start_);
  cp_of(open).syn = true;
  cp_of(open).dpdcid = 0;
  EXPECT_EQ(answer(open, 1, 0), "NACK INVALID_SYN");
  EXPECT_EQ(drops(0, Drop::kInvalidSyn), 2u);
  EXPECT_EQ(pair_.engine(0).pdcs(), 1u);
  expect_alive();
}

// Its owner has given that half of the PDC up: it draws another Start_PSN when it uses the number again.
TEST_F(ControlPackets, UnlessItsTargetUsesThePdcidAgain) {
  Packet p = request();
  pds(p).spdcid = target_;
  pds(p).dpdcid = 0;
  pds(p).syn = true;
  pds(p).psn = start_ + 0x2'0000;
  EXPECT_EQ(answer(p, 1, 0), "ACK_CC");
  EXPECT_EQ(pair_.engine(0).pdcs(), 2u);
}

}  // namespace
}  // namespace railyard::uet
