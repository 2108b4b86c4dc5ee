// The engine around its QPs: who may do what in which state, queues that are shared or full, packets for nobody.
#include "transports/roce/engine.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

PairConfig small_packets() { return rc_config(PathMtu::k256, 1); }

// Of end `end`; whether there was such an event.
bool happened(Pair& pair, std::size_t end, AsyncEventType type) {
  const auto events = pair.engine(end).take_events();
  return std::ranges::find(events, type, &AsyncEvent::type) != events.end();
}

TEST(RoceEngine, AQpTakesWorkAsItsStateHasIt) {
  PairConfig config = small_packets();
  config.connect = false;
  Pair pair(config);
  Engine& engine = pair.engine(0);
  const QpNumber qp = pair.end(0).qp;
  const auto send = [&] { return engine.post_send({}, qp, pair.send(0, 1, 0, 10)); };
  const auto receive = [&] { return engine.post_recv({}, qp, {.wr_id = 2}); };
  EXPECT_EQ(send().error(), PostError::kWrongState);
  EXPECT_EQ(receive().error(), PostError::kWrongState) << "RESET";
  using enum QpAttribute;
  ASSERT_TRUE(engine.modify_qp({}, qp, QpState::kInit, {kAccessFlags, kPKeyIndex, kPort}, {}));
  EXPECT_EQ(send().error(), PostError::kWrongState);
  EXPECT_TRUE(receive()) << "INIT";
  ASSERT_TRUE(engine.modify_qp({}, qp, QpState::kErr, {}, {}));
  EXPECT_EQ(pair.received_text(0), "2:WR_FLUSH_ERR");
  EXPECT_TRUE(send());
  EXPECT_TRUE(receive());
  EXPECT_EQ(pair.sent_text(0), "1:WR_FLUSH_ERR") << "ERR takes it and gives it back";
  EXPECT_EQ(pair.received_text(0), "2:WR_FLUSH_ERR");
  ASSERT_TRUE(engine.modify_qp({}, qp, QpState::kReset, {}, {}));
  EXPECT_EQ(engine.state(qp), QpState::kReset);
  EXPECT_EQ(engine.post_send({}, QpNumber{99}, {}).error(), PostError::kUnknownQp);
}

TEST(RoceEngine, AModifyThatIsRefusedChangesNothing) {
  Pair pair(small_packets());
  QpAttributes a;
  a.min_rnr_timer = 40;
  const auto refused = pair.engine(0).modify_qp({}, pair.end(0).qp, QpState::kRts, {QpAttribute::kMinRnrTimer}, a);
  EXPECT_EQ(to_string(refused.error()), "RC RTS -> RTS: min_rnr_timer is out of range");
  EXPECT_EQ(pair.engine(0).qp(pair.end(0).qp)->info.attributes.min_rnr_timer, 12);
}

TEST(RoceEngine, ErrFlushesBothQueuesInOrder) {
  Pair pair(small_packets());
  pair.fate = [](const Seen&) { return Fate{.lost = true}; };
  for (std::uint64_t i = 1; i <= 3; ++i) {
    SendWr wr = pair.write(0, i, 0, 0, 1000);
    wr.signaled = false;
    pair.post(0, wr);
    pair.receive(0, 10 + i, 0, 10);
  }
  pair.run_until(Instant{1'000'000});
  ASSERT_TRUE(pair.engine(0).modify_qp(pair.now(), pair.end(0).qp, QpState::kErr, {}, {}));
  EXPECT_EQ(pair.sent_text(0), "1:WR_FLUSH_ERR 2:WR_FLUSH_ERR 3:WR_FLUSH_ERR") << "unsignaled ones, too";
  EXPECT_EQ(pair.received_text(0), "11:WR_FLUSH_ERR 12:WR_FLUSH_ERR 13:WR_FLUSH_ERR");
  const std::size_t before = pair.log().size();
  pair.run();
  EXPECT_EQ(pair.log().size(), before) << "and is silent";
}

TEST(RoceEngine, SqdFinishesWhatWasBegunAndHoldsTheRest) {
  Pair pair(small_packets());
  pair.fill(0, 0, 2000);
  pair.post(0, pair.write(0, 1, 0, 0, 2000));
  pair.run_until(Instant{50'000});
  ASSERT_TRUE(pair.engine(0).modify_qp(pair.now(), pair.end(0).qp, QpState::kSqd, {}, {}));
  pair.post(0, pair.write(0, 2, 0, 4000, 2000));
  EXPECT_FALSE(happened(pair, 0, AsyncEventType::kSqDrained));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  EXPECT_TRUE(happened(pair, 0, AsyncEventType::kSqDrained));
  EXPECT_FALSE(happened(pair, 0, AsyncEventType::kSqDrained)) << "once";
  ASSERT_TRUE(pair.engine(0).modify_qp(pair.now(), pair.end(0).qp, QpState::kRts, {}, {}));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "2:SUCCESS");
}

TEST(RoceEngine, AResponderAnswersInRtrAndSaysThatThePathStands) {
  PairConfig config = small_packets();
  config.connect = false;
  Pair pair(config);
  EXPECT_EQ(pair.engine(1).state(pair.end(1).qp), QpState::kReset);
  Packet packet;
  packet.bth = {.opcode = opcode::kRcSendOnly, .dest_qp = pair.end(1).qp.value, .psn = 0x100};
  pair.inject(1, packet);
  pair.run();
  EXPECT_EQ(pair.counters(1).drops(Drop::kWrongState), 1u);
  using enum QpAttribute;
  Engine& engine = pair.engine(1);
  QpAttributes a;
  a.rq_psn = 0x100;
  a.dest_qpn = pair.end(0).qp.value;
  a.av.source = wire::IpAddress(0x0A000002u);
  a.av.destination = wire::IpAddress(0x0A000001u);
  ASSERT_TRUE(engine.modify_qp(pair.now(), pair.end(1).qp, QpState::kInit, {kAccessFlags, kPKeyIndex, kPort}, a));
  ASSERT_TRUE(engine.modify_qp(pair.now(), pair.end(1).qp, QpState::kRtr,
                               {kAv, kPathMtu, kDestQpn, kRqPsn, kMaxDestRdAtomic, kMinRnrTimer}, a));
  pair.receive(1, 7, 0, 10);
  packet.bth.ack_req = true;
  pair.inject(1, packet);
  pair.run();
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
  EXPECT_EQ(pair.trace(1), "Acknowledge 100");
  EXPECT_TRUE(happened(pair, 1, AsyncEventType::kPathEstablished));
}

TEST(RoceEngine, AnSrqServesItsQpsInOrderAndSaysWhenItRunsLow) {
  PairConfig config = small_packets();
  config.srq = true;
  Pair pair(config);
  for (std::uint64_t i = 1; i <= 4; ++i) pair.receive(1, i, i * 1000, 500);
  pair.engine(1).srq(*pair.end(1).srq).set_limit(3);
  EXPECT_EQ(pair.engine(1).post_recv({}, pair.end(1).qp, {}).error(), PostError::kHasSrq);
  pair.post(0, pair.send(0, 1, 0, 300));
  pair.post(0, pair.send(0, 2, 0, 300));
  pair.run();
  EXPECT_EQ(pair.received_text(1), "1:SUCCESS 2:SUCCESS");
  EXPECT_TRUE(happened(pair, 1, AsyncEventType::kSrqLimitReached));
  EXPECT_EQ(pair.count(1, [](const Seen& s) { return s.syndrome() != Syndrome::ack(kNoCreditLimit); }), 0u);
  ASSERT_TRUE(pair.engine(1).modify_qp(pair.now(), pair.end(1).qp, QpState::kErr, {}, {}));
  EXPECT_EQ(pair.received_text(1), "") << "what is shared is not flushed";
  EXPECT_TRUE(happened(pair, 1, AsyncEventType::kQpLastWqeReached));
}

TEST(RoceEngine, CreditsAreToldAndKeptTo) {
  PairConfig config = small_packets();
  config.engine.advertise_credits = config.engine.enforce_credits = true;
  Pair pair(config);
  pair.receive(1, 1, 0, 10);
  pair.post(0, pair.send(0, 1, 0, 10));
  pair.run();
  EXPECT_EQ(pair.log().back().syndrome(), Syndrome::ack(0));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  // Without credit one goes as a probe, and no more behind it.
  for (std::uint64_t i = 2; i <= 4; ++i) pair.post(0, pair.send(0, i, 0, 10));
  pair.run_until(pair.now() + Duration{10'000'000});
  EXPECT_EQ(pair.count(0, "SEND Only"), 2u);
  for (std::uint64_t i = 2; i <= 4; ++i) pair.receive(1, i, 0, 10);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "2:SUCCESS 3:SUCCESS 4:SUCCESS");
  EXPECT_EQ(pair.counters(1).out_of_buffer.read(), 1u);
}

TEST(RoceEngine, FullQueuesSaySo) {
  PairConfig config = small_packets();
  config.max_wr = 2;
  Pair pair(config);
  pair.fate = [](const Seen&) { return Fate{.lost = true}; };
  pair.post(0, pair.write(0, 1, 0, 0, 10));
  pair.post(0, pair.write(0, 2, 0, 0, 10));
  EXPECT_EQ(pair.engine(0).post_send({}, pair.end(0).qp, pair.write(0, 3, 0, 0, 10)).error(), PostError::kQueueFull);
  pair.receive(0, 1, 0, 10);
  pair.receive(0, 2, 0, 10);
  EXPECT_EQ(pair.engine(0).post_recv({}, pair.end(0).qp, {}).error(), PostError::kQueueFull);
}

TEST(RoceEngine, WhatCannotBeDoneIsRefusedWhenItIsPosted) {
  PairConfig config = small_packets();
  config.attributes.max_rd_atomic = 0;
  Pair pair(config);
  const auto error = [&](const SendWr& wr) { return pair.engine(0).post_send({}, pair.end(0).qp, wr).error(); };
  EXPECT_EQ(error(pair.read(0, 1, 0, 0, 10)), PostError::kNoReads);
  SendWr atomic = pair.fetch_add(0, 1, 0, 0, 1);
  atomic.sges = {pair.local(0, 0, 4)};
  EXPECT_EQ(error(atomic), PostError::kWrongLength);
  SendWr endless = pair.write(0, 1, 0, 0, 10);
  endless.sges = {{0, 0xFFFFFFFF, 1}};
  EXPECT_EQ(error(endless), PostError::kTooLong);
}

TEST(RoceEngine, ACqThatOverrunsTakesItsQpsWithIt) {
  PairConfig config = small_packets();
  config.cq = 2;
  Pair pair(config);
  for (std::uint64_t i = 1; i <= 3; ++i) pair.post(0, pair.write(0, i, 0, 0, 10));
  pair.run();
  EXPECT_EQ(pair.state(0), QpState::kErr);
  EXPECT_TRUE(happened(pair, 0, AsyncEventType::kCqError));
}

TEST(RoceEngine, PacketsForNobodyAreCounted) {
  Pair pair(small_packets());
  Packet packet;
  const auto drops = [&](Drop reason) {
    pair.inject(1, packet);
    pair.run();
    return pair.counters(1).drops(reason);
  };
  const std::uint32_t own = pair.end(1).qp.value;
  packet.bth = {.opcode = opcode::kRcSendOnly, .dest_qp = own + 1, .psn = 0x100};
  EXPECT_EQ(drops(Drop::kUnknownQp), 1u);
  packet.bth.dest_qp = 0xFFFFFF;
  EXPECT_EQ(drops(Drop::kUnknownQp), 2u);
  packet.bth.dest_qp = 1;
  EXPECT_EQ(drops(Drop::kUnknownQp), 3u) << "there is no GSI";
  packet.bth = {.opcode = opcode::kUcSendOnly, .dest_qp = own, .psn = 0x100};
  EXPECT_EQ(drops(Drop::kWrongTransport), 1u);
  packet.bth = {.opcode = opcode::kUdSendOnly, .dest_qp = own};
  EXPECT_EQ(drops(Drop::kWrongTransport), 2u);
  packet.bth = {.opcode = opcode::kRcSendOnly, .p_key = 0x8001, .dest_qp = own, .psn = 0x100};
  EXPECT_EQ(drops(Drop::kPKey), 1u);
  EXPECT_EQ(pair.counters(1).taken_packets.read(), 0u);
  EXPECT_TRUE(pair.books_balance());
}

// IBTA Vol 1 Annex A17: a CNP is 16 octets behind its BTH.
TEST(RoceEngine, ResponsesThatRunOnAreMalformedAndDoNothing) {
  PairConfig config = small_packets();
  config.engine.congestion = DcqcnConfig::paper(BitRate{100'000'000'000});
  Pair pair(config);
  bool lost = true;  // of what end 0 sends
  pair.fate = [&](const Seen& s) { return Fate{.lost = s.from == 0 && lost}; };
  pair.post(0, pair.write(0, 1, 0, 0, 1000));
  const std::vector<std::byte> more(84);
  std::uint64_t n = 0;
  for (const std::uint8_t code : {opcode::kCnp, opcode::kRcAcknowledge, opcode::kRcAtomicAcknowledge}) {
    Packet packet;
    packet.bth = {.opcode = code, .dest_qp = pair.end(0).qp.value, .psn = 0x103};
    for (const std::size_t octets : {84u, 4u}) {
      pair.inject(0, packet, std::span(more).first(octets));
      pair.run_until(pair.now() + Duration{2'000'000});
      ++n;
      EXPECT_EQ(pair.counters(0).drops(Drop::kMalformed), n);
      EXPECT_EQ(pair.counters(0).malformed[static_cast<std::size_t>(Malformed::kBadPayloadLength)].read(), n);
    }
  }
  EXPECT_EQ(pair.counters(0).rp_cnp_handled.read(), 0u);
  EXPECT_EQ(pair.sent_text(0), "") << "no ACK was taken";
  lost = false;
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  Packet cnp;
  cnp.bth = cnp_bth(pair.end(0).qp.value);
  pair.inject(0, cnp);
  pair.run();
  EXPECT_EQ(pair.counters(0).rp_cnp_handled.read(), 1u) << "one of the right length is taken";
  EXPECT_TRUE(pair.books_balance());
}

TEST(RoceEngine, AQpNumberThatHasGoneIsNobodysForLong) {
  Pair pair(small_packets());
  const QpNumber old = pair.end(1).qp;
  pair.post(0, pair.write(0, 1, 0, 0, 10));
  EXPECT_TRUE(pair.engine(1).destroy_qp(old));
  EXPECT_FALSE(pair.engine(1).destroy_qp(old));
  const auto fresh = pair.engine(1).create_qp(
      {.domain = ProtectionDomain{1}, .send_cq = pair.end(1).send_cq, .recv_cq = pair.end(1).recv_cq});
  ASSERT_TRUE(fresh);
  EXPECT_NE(*fresh, old);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:RETRY_EXC_ERR") << "the peer of one that has gone hears nothing";
  EXPECT_EQ(pair.engine(1).create_qp({.send_cq = CqId{9}}).error(), CreateError::kUnknownCq);
  EXPECT_EQ(pair.engine(1).create_qp({.srq = SrqId{9}}).error(), CreateError::kUnknownSrq);
  EXPECT_EQ(pair.engine(1).create_qp({.gsi = true}), kGsiQp);
  EXPECT_EQ(pair.engine(1).create_qp({.gsi = true}).error(), CreateError::kGsiTaken);
}

// Whatever comes, from whomever: nothing is read out of bounds, the QP's own work goes on or ends with an error.
TEST(RoceEngine, GarbageIsCountedAndDoesNoHarm) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RngStream rng(Seed{seed}, "garbage");
    PairConfig config = small_packets();
    config.attributes.max_rd_atomic = config.attributes.max_dest_rd_atomic = 2;
    Pair pair(config);
    pair.receive(1, 1, 0, 5000);
    pair.post(0, pair.write(0, 1, 0, 0, 5000));
    pair.post(0, pair.read(0, 2, 0, 0, 5000));
    std::vector<std::byte> payload(300);
    for (int i = 0; i < 200; ++i) {
      Packet packet;
      packet.bth.opcode = static_cast<std::uint8_t>(rng.below(256));
      const bool known = packet.info().known();
      if (!known) continue;
      const std::size_t to = rng.below(2);
      packet.bth.dest_qp = pair.end(to).qp.value;
      packet.bth.psn = static_cast<std::uint32_t>((to == 0 ? 0x100 : 0x100) + rng.below(60) - 20) & 0xFFFFFF;
      packet.bth.ack_req = rng.below(2) == 0;
      packet.aeth.syndrome = static_cast<std::uint8_t>(rng.below(0x80));
      packet.reth = {Pair::address(to) + rng.below(Pair::kMemory + 10), pair.end(to).key,
                     static_cast<std::uint32_t>(rng.below(3) == 0 ? rng.next32() : rng.below(2000))};
      packet.atomic_eth = {Pair::address(to) + rng.below(100), pair.end(to).key, rng.next(), rng.next()};
      pair.inject(to, packet, std::span(payload).first(rng.below(2) == 0 ? 256 : rng.below(300)));
      pair.run_until(pair.now() + Duration{static_cast<std::int64_t>(rng.below(300'000))});
    }
    pair.run();
    const auto done = pair.sent(0);
    EXPECT_EQ(done.size(), 2u) << "completes, one way or the other";
    EXPECT_TRUE(pair.books_balance());
  }
}

// All truncations of a frame, and every flipped bit, at the seam.
TEST(RoceEngine, CutAndDamagedFramesAreDropped) {
  RoceEndpoint endpoint({}, true);
  AddressVector av;
  av.source = wire::IpAddress(0x0A000001u);
  av.destination = wire::IpAddress(0x0A000002u);
  const Path path(av);
  Packet packet;
  packet.bth = {.opcode = opcode::kRcWriteOnlyImm, .dest_qp = 0x11};
  packet.payload_octets = 8;
  std::vector<std::byte> frame(Path::kMostOctets + packet.octets());
  frame.resize(path.write(frame.data(), packet.octets()) + packet.octets());
  std::uint64_t received = 0;
  const auto take = [&](std::span<const std::byte> octets) {
    const std::size_t front = std::min<std::size_t>(54, octets.size());
    const RxFrame rx{
        .at = {},
        .sent = {},
        .header = octets.first(front),
        .payload = {.octets = static_cast<std::uint32_t>(octets.size() - front), .bytes = octets.data() + front},
        .icrc_pending = false};
    endpoint.receive({&rx, 1});
    ++received;
  };
  for (std::size_t n = 14; n < frame.size(); ++n) take(std::span(frame).first(n));
  for (std::size_t i = 0; i < frame.size() * 8; ++i) {
    std::vector<std::byte> damaged = frame;
    damaged[i / 8] ^= static_cast<std::byte>(1 << i % 8);
    take(damaged);
  }
  const Counters& c = endpoint.engine().counters();
  EXPECT_EQ(c.received_packets.read(), received);
  EXPECT_EQ(c.all_drops(), received);
}

}  // namespace
}  // namespace railyard::roce
