// How PDCs begin, what is said on them, and how they end (uet §5.3, §5.6, §5.10, §5.11), as it is seen on the wire.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

TEST(Pdc, TheFirstPacketCarriesDataAndAllSaySynUntilTheFirstAck) {
  Pair pair;
  pair.fill(0, 0, 8000);
  pair.post(0, pair.write(0, 1, 0, 0, 8000));
  pair.run();
  Instant acked = Instant::never();
  for (const Seen& s : pair.log())
    if (s.from == 1 && s.ack() != nullptr) acked = std::min(acked, s.at + Pair::kDelay);
  std::uint16_t offset = 0;
  std::size_t with_syn = 0;
  for (const Seen& s : pair.log()) {
    const PdsRequestValues* const request = s.request();
    if (s.from != 0 || request == nullptr) continue;
    EXPECT_EQ(request->syn, s.at < acked);
    if (!request->syn) continue;
    ++with_syn;
    EXPECT_EQ(request->psn_offset, offset++);
  }
  EXPECT_EQ(pair.log()[0].at, Instant{}) << "no round trip before data";
  EXPECT_EQ(with_syn, 8u);
  const auto& first = std::get<PdsRequestValues>(pair.log()[0].packet.pds);
  const std::uint32_t start = first.psn;
  EXPECT_GE(start, 1u << 16);
  EXPECT_LT(start, 1u << 31);
  EXPECT_EQ(first.clear_psn(), start - 1);
  pair.expect_clean();
}

TEST(Pdc, IsClosedWhenItHasHadNothingToDo) {
  Pair pair;
  pair.post(0, pair.write(0, 1, 0, 0, 10));
  pair.run();
  EXPECT_EQ(pair.trace(0), "RUD_REQ 0, CP CLOSE_CMD 1");
  EXPECT_EQ(pair.trace(1), "ACK_CC 0, ACK_CC 1");
  EXPECT_EQ(pair.log()[2].at - pair.log()[1].at, Pair::kDelay + test_config().idle_close);
  pair.expect_clean();
}

TEST(Pdc, MessagesOfOnePeerModeAndLaneShareOne) {
  Pair pair;
  for (std::uint64_t i = 0; i < 8; ++i) {
    SendWr wr = pair.write(0, i, 0, 0, 100);
    wr.mode = i % 2 == 0 ? DeliveryMode::kRud : DeliveryMode::kRod;
    wr.lane = static_cast<std::uint8_t>(i / 4);
    pair.post(0, wr);
  }
  EXPECT_EQ(pair.engine(0).pdcs(), 4u);
  pair.run();
  EXPECT_EQ(pair.counters(0).pdcs_opened.read(), 4u);
  pair.expect_clean();
}

TEST(Pdc, StartPsnsWithOnePeerAreFarApart) {
  Pair pair;
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::size_t before = pair.log().size();
    pair.post(0, pair.write(0, i, 0, 0, 10));
    pair.run();
    const std::uint32_t start = std::get<PdsRequestValues>(pair.log()[before].packet.pds).psn;
    if (i > 0) {
      EXPECT_GE(std::abs(static_cast<std::int64_t>(start) - last), 1 << 16);
    }
    last = start;
  }
  pair.expect_clean();
}

TEST(Pdc, AcksAreCoalescedToOneFor16KiB) {
  Pair pair;
  pair.post(0, pair.write(0, 1, 0, 0, 512 * 1024));
  pair.run();
  // One for 16 packets, and as many that the sender asks for when its window is used up.
  const std::size_t acks = pair.count(1, "ACK_CC");
  EXPECT_GE(acks, 33u);
  EXPECT_LE(acks, 66u);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
}

TEST(Pdc, AGuaranteedResponseIsClearedAtTheTargetsRequest) {
  Pair pair;
  pair.post(0, pair.read(0, 1, 0, 0, 8));
  pair.run();
  EXPECT_EQ(pair.trace(0), "RUD_REQ 0, CP CLEAR_CMD " + pair.trace(0).substr(pair.trace(0).find("CLEAR_CMD ") + 10));
  EXPECT_EQ(pair.count(1, [](const Seen& s) { return s.ack() != nullptr && s.ack()->req == AckRequest::kReqClear; }),
            1u);
  EXPECT_EQ(pair.count(0, "CP CLEAR_CMD"), 1u);
  EXPECT_EQ(pair.text(0), "1:success");
  pair.expect_clean();
}

TEST(Pdc, AnEndClosesAllAndAsksForTheCloseOfOthers) {
  EngineConfig config = test_config();
  config.idle_close = Duration{1'000'000'000'000};
  for (const std::size_t who : {0u, 1u}) {
    Pair pair(config);
    pair.post(0, pair.write(0, 1, 0, 0, 5000));
    pair.run_for(Duration{100'000'000});
    pair.engine(who).close_all(pair.now());
    pair.run_for(Duration{100'000'000});
    EXPECT_EQ(pair.count(1, "CP CLOSE_REQ"), who);
    EXPECT_EQ(pair.count(0, "CP CLOSE_CMD"), 1u);
    EXPECT_EQ(pair.counters(1).pdcs_failed.read(), 0u);
    pair.expect_clean();
  }
}

TEST(Pdc, ATargetThatHearsNothingMoreAsksForTheCloseAndGoes) {
  Pair pair;
  bool cut = false;
  pair.fate = [&](const Seen& s) { return Fate{.lost = cut && s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run_for(Duration{20'000'000});
  cut = true;
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_GT(pair.count(1, "CP CLOSE_REQ"), 0u);
  pair.expect_clean();
}

TEST(Pdc, WithoutAnswerAMessageFailsAfterItsRetries) {
  EngineConfig config = test_config();
  config.infer_loss = false;  // the timer alone
  Pair pair(config);
  pair.fate = [](const Seen&) { return Fate{.lost = true}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:retry_exceeded");
  EXPECT_EQ(pair.count(0, "RUD_REQ"), 9u);
  // 0.1 ms, doubling.
  EXPECT_EQ(pair.log()[2].at - pair.log()[1].at, Duration{200'000'000});
  EXPECT_EQ(pair.log()[8].at - pair.log()[7].at, Duration{12'800'000'000});
  pair.expect_clean();
}

// Each path has a delay of its own; a target that is told to close before its data are acknowledged closes in error.
TEST(Pdc, ACloseDoesNotOvertakeTheLastAcknowledgement) {
  EngineConfig config = test_config();
  config.idle_close = Duration{100'000};
  std::get<NsccConfig>(config.congestion).base_rtt = Duration{17'000'000};
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.late = Duration{s.entropy * 7919 % 16 * 500'000}}; };
  for (std::uint64_t i = 0; i < 40; ++i) {
    pair.post(0, pair.read(0, i, kTo, 0, 3000));
    pair.run();
  }
  EXPECT_EQ(pair.completions(0).size(), 40u);
  EXPECT_EQ(pair.counters(1).sent(NackCode::kClosingInErr), 0u);
  for (std::size_t end = 0; end < 2; ++end) {
    EXPECT_EQ(pair.counters(end).pdcs_failed.read(), 0u);
    EXPECT_EQ(pair.counters(end).retransmitted_packets.read(), 0u);
  }
  pair.expect_clean();
}

// A NIC serves its classes in its own order: what must not overtake ACKs is in theirs.
TEST(Pdc, ACloseIsInTheClassOfAcknowledgementsFirstAndAgain) {
  Pair pair;
  Engine& engine = pair.engine(0);
  pair.post(0, pair.read(0, 1, kTo, 0, 3000));
  pair.run_for(Duration{50'000'000});
  ASSERT_EQ(pair.text(0), "1:success");
  engine.close_idle(pair.now());
  EXPECT_EQ(engine.ready(pair.now()).classes, bit(engine.config().control));
  pair.fate = [](const Seen& s) { return Fate{.lost = s.is_cp(CtlType::kCloseCmd)}; };
  pair.run_for(Duration{1'000'000});
  OutPacket again;
  Instant at = pair.now();
  while (engine.ready(at).classes == 0) at = engine.ready(at).until;
  EXPECT_FALSE(engine.send(at, engine.config().data, again));
  ASSERT_TRUE(engine.send(at, engine.config().control, again));
  EXPECT_EQ(std::get<PdsCpValues>(again.packet.pds).ctl_type, CtlType::kCloseCmd);
  EXPECT_TRUE(std::get<PdsCpValues>(again.packet.pds).retx);
}

TEST(Pdc, AReadThatIsAcknowledgedAndNeverAnsweredFails) {
  Pair pair;
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1 && s.request() != nullptr}; };
  pair.post(0, pair.read(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:pdc_failed");
  pair.expect_clean();
}

TEST(Pdc, AnInitiatorThatWaitsForDataAsksWhetherItsTargetIsStillThere) {
  EngineConfig config = test_config();
  config.retries = 0;
  config.infer_loss = false;  // or the target would find out, and send again
  Pair pair(config);
  bool lost = false;
  pair.fate = [&](const Seen& s) {
    return Fate{.lost = s.from == 1 && s.request() != nullptr && !std::exchange(lost, true)};
  };
  pair.fill(1, 0, 3000);
  pair.post(0, pair.read(0, 1, kTo, 0, 3000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, kTo, 1, 0, 3000));
  EXPECT_GE(pair.count(0, "CP NOOP"), 1u);
  EXPECT_EQ(pair.count(1, "NACK INV_DPDCID"), 1u);
  EXPECT_EQ(pair.counters(0).pdcs_opened.read(), 2u);
  EXPECT_LT(pair.log().back().at - Instant{}, config.rto_init * 8);
  pair.expect_clean();
}

// More than may be asked for at a time: the rest waits for data that never comes.
TEST(Pdc, AReadOfManyPacketsThatItsTargetGaveUpGoesAgain) {
  EngineConfig config = test_config();
  config.retries = 0;
  config.ack_trigger = 0;
  config.most_reads_in_flight = 4;
  Pair pair(config);
  unsigned data = 0;
  pair.fate = [&](const Seen& s) {
    const bool of_read = s.from == 1 && s.request() != nullptr;
    return Fate{.lost = of_read && ++data > 6 && data <= 10};
  };
  pair.fill(1, 0, 20'000);
  pair.post(0, pair.read(0, 1, kTo, 0, 20'000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, kTo, 1, 0, 20'000));
  pair.expect_clean();
}

TEST(Pdc, AReadThatEveryTargetGivesUpFailsInTheEnd) {
  EngineConfig config = test_config();
  config.retries = 0;
  config.pdc_retries = 3;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1 && s.request() != nullptr}; };
  pair.post(0, pair.read(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:pdc_failed");
  EXPECT_EQ(pair.counters(0).pdcs_opened.read(), 4u);
  pair.expect_clean();
}

TEST(Pdc, ATargetWithoutRoomIsAskedAgain) {
  EngineConfig config = test_config();
  config.most_pdcs = 2;
  Pair pair(config, 5);
  for (std::size_t from = 0; from < 5; ++from) {
    if (from == 1) continue;
    pair.fill(from, from * 4000, 3000, from);
    pair.post(from, pair.write(from, 1, from * 4000, from * 4000, 3000));
  }
  pair.run();
  EXPECT_GT(pair.counters(1).sent(NackCode::kNoPdcAvail), 0u);
  for (std::size_t from = 0; from < 5; ++from) {
    if (from == 1) continue;
    EXPECT_EQ(pair.text(from), "1:success");
    EXPECT_TRUE(pair.same(from, from * 4000, 1, from * 4000, 3000));
  }
  pair.expect_clean();
}

// Its initiator has gone, and nobody told the target. A peer that wants one has it within a few timeouts, not after the
// five seconds for which a target listens.
TEST(Pdc, ATargetWithoutRoomAsksBackWhatNobodyUses) {
  EngineConfig config = test_config();
  config.most_pdcs = 2;
  config.setup_retries = 0xFFFF;
  config.retries = 1;
  Pair pair(config, 3);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0 && s.is_cp(CtlType::kCloseCmd)}; };
  pair.fill(0, 0, 3000, 0);
  pair.post(0, pair.write(0, 1, 0, 0, 3000));
  while (pair.engine(0).pdcs() > 0) pair.run_for(Duration{100'000'000});
  ASSERT_EQ(pair.engine(1).pdcs(), 1u);

  const Instant began = pair.now();
  pair.fill(2, 8000, 3000, 2);
  pair.post(2, pair.write(2, 1, 8000, 8000, 3000));
  pair.run_for(config.rto_init * 4);
  EXPECT_EQ(pair.text(2), "1:success");
  EXPECT_TRUE(pair.same(2, 8000, 1, 8000, 3000));
  EXPECT_EQ(pair.count(1, "CP CLOSE_REQ"), 1u);
  pair.run();
  pair.expect_clean();
  EXPECT_LT(began - Instant{}, config.target_idle);
}

// Each end has more to send than it has PDCs for: some of them are left for the other end.
TEST(Pdc, EndsThatSendToEachOtherDoNotTakeAllPdcsForThemselves) {
  for (const std::uint16_t most : {std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{8}}) {
    EngineConfig config = test_config();
    config.most_pdcs = most;
    Pair pair(config);
    constexpr unsigned kLanes = 20;
    for (std::size_t end = 0; end < 2; ++end)
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        SendWr wr = pair.write(end, lane, 0, 4000 * lane, 3000);
        wr.lane = static_cast<std::uint8_t>(lane);
        pair.post(end, wr);
      }
    pair.run();
    for (std::size_t end = 0; end < 2; ++end) {
      const std::vector<Completion> all = pair.completions(end);
      EXPECT_EQ(all.size(), kLanes);
      EXPECT_TRUE(std::ranges::all_of(all, &Completion::ok)) << most;
    }
    EXPECT_LT(pair.log().back().at - Instant{}, Duration{50'000'000'000});
    pair.expect_clean();
  }
}

// One waits for a PDC; another is posted at the very time at which there is one again.
TEST(Pdc, WhoWaitsForAPdcIsNotOvertaken) {
  EngineConfig config = test_config();
  config.most_pdcs = 2;
  Pair pair(config, 3);
  const auto post = [&](std::uint64_t wr_id, std::size_t to) {
    SendWr wr = pair.send(0, wr_id, 0, 100);
    wr.mode = DeliveryMode::kRod;
    wr.peer = pair.end(0).peers[to];
    pair.post(0, wr);
  };
  for (std::uint64_t i = 0; i < 100; ++i) pair.receive(1, i, kTo, 100);
  pair.receive(2, 1, kTo, 100);
  post(1000, 2);
  for (std::uint64_t i = 0; i < 100; ++i) {
    post(i, 1);
    pair.run_for(Duration{5'000'000});
  }
  pair.run();
  std::vector<std::uint64_t> order;
  for (const Completion& c : pair.completions(0))
    if (c.wr_id < 1000) order.push_back(c.wr_id);
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  pair.expect_clean();
}

TEST(Pdc, MessagesWaitForAPdcIfThisEndHasNone) {
  EngineConfig config = test_config();
  config.most_pdcs = 2;
  Pair pair(config, 4);
  for (std::size_t to = 1; to < 4; ++to) {
    SendWr wr = pair.write(0, to, 0, 0, 3000);
    wr.peer = pair.end(0).peers[to];
    pair.post(0, wr);
  }
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:success 3:success");
  EXPECT_EQ(pair.counters(0).pdcs_opened.read(), 3u);
  pair.expect_clean();
}

// Nothing comes back from the target, whose halves of the PDCs are there until it gives them up itself.
TEST(Pdc, APdcidThatFailedIsNotUsedAgainWhileItsTargetMayHaveIt) {
  EngineConfig config = test_config();
  config.most_pdcs = 3;  // two of which are an initiator's
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1}; };
  for (std::uint8_t lane = 0; lane < 2; ++lane) {
    SendWr wr = pair.write(0, lane, 0, 0, 100);
    wr.lane = lane;
    pair.post(0, wr);
  }
  while (pair.engine(0).open_messages() > 0) pair.run_for(Duration{1'000'000'000});
  EXPECT_EQ(pair.text(0), "0:retry_exceeded 1:retry_exceeded");
  EXPECT_EQ(pair.engine(1).pdcs(), 2u);
  pair.run_for(config.pdcid_quiet * 2);

  pair.fate = nullptr;
  const Instant posted = pair.now();
  pair.fill(0, 0, 3000);
  pair.post(0, pair.write(0, 2, 0, kTo, 3000));
  pair.run();
  EXPECT_EQ(pair.text(0), "2:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
  EXPECT_EQ(pair.counters(1).sent(NackCode::kInvalidSyn), 0u);
  const auto again = std::ranges::find_if(
      pair.log(), [&](const Seen& s) { return s.from == 0 && s.at > posted && s.request() != nullptr; });
  ASSERT_NE(again, pair.log().end());
  EXPECT_GT(again->at - posted, config.target_idle / 2);
  EXPECT_LE(again->at - posted, config.target_keeps());
  pair.expect_clean();
}

// A target that says that it does not have it does not keep its PDCID from being used.
TEST(Pdc, APdcidThatItsTargetDoesNotKnowIsSoonUsedAgain) {
  EngineConfig config = test_config();
  config.most_pdcs = 2;
  Pair pair(config);
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run_for(Duration{20'000'000});
  const auto first = std::ranges::find_if(pair.log(), [](const Seen& s) { return s.ack() != nullptr; });
  ASSERT_NE(first, pair.log().end());
  const PdsAckValues ack = *first->ack();
  pair.fate = [&](const Seen& s) { return Fate{.lost = s.from == 0 && s.index == 1}; };
  pair.post(0, pair.write(0, 2, 0, 0, 100));
  pair.run_for(Duration{1'000'000});
  pair.inject(
      1, 0, {.pds = PdsNackValues{.code = NackCode::kInvDpdcid, .nack_psn = ack.ack_psn() + 1, .dpdcid = ack.dpdcid}});
  const Instant told = pair.now();
  pair.run_for(config.pdcid_quiet * 3);
  ASSERT_EQ(pair.counters(0).pdcs_failed.read(), 1u);
  const auto again = std::ranges::find_if(
      pair.log(), [&](const Seen& s) { return s.from == 0 && s.at > told && s.request() != nullptr; });
  ASSERT_NE(again, pair.log().end());
  EXPECT_LE(again->at - told, config.pdcid_quiet * 2);
}

TEST(Pdc, ThousandsComeAndGoAndNoneIsLeft) {
  EngineConfig config = test_config();
  config.idle_close = Duration{1'000'000};
  config.pdcid_quiet = Duration{1'000'000};
  config.most_pdcs = 300;
  Pair pair(config, 3);
  std::uint64_t posted = 0;
  for (int round = 0; round < 30; ++round) {
    for (unsigned lane = 0; lane < 128; ++lane) {
      SendWr wr = pair.write(0, posted++, 0, lane * 64, 64);
      wr.lane = static_cast<std::uint8_t>(lane);
      wr.peer = pair.end(0).peers[1 + lane % 2];
      wr.memory_key = pair.end(1 + lane % 2).key;
      pair.post(0, wr);
    }
    pair.run_for(Duration{300'000'000});
  }
  pair.run();
  EXPECT_EQ(pair.completions(0).size(), posted);
  EXPECT_GE(pair.counters(0).pdcs_opened.read(), posted);
  EXPECT_EQ(pair.counters(0).pdcs_failed.read(), 0u);
  pair.expect_clean();
}

}  // namespace
}  // namespace railyard::uet
