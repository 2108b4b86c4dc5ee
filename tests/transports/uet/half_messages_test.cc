// Messages of which a part has come, and packets that go on with them or say so (uet §6.2, §5.15).
#include <array>

#include <gtest/gtest.h>

#include "tests/transports/uet/established.h"

namespace railyard::uet {
namespace {

using namespace literals;

class HalfMessages : public Established {
 protected:
  HalfMessages() : Established(config()) {}
  static EngineConfig config() {
    EngineConfig c = Established::config();
    c.retries = 5;
    c.half_message_idle = 20_ms;
    c.target_idle = 10_s;
    return c;
  }
  // Of a message of 100 octets a packet of no octets, neither first nor last.
  Packet half(std::uint16_t id, SesOpcode opcode) const {
    Packet p = request();
    SesRequestValues& ses = std::get<SesRequestValues>(p.ses);
    ses.opcode = opcode;
    ses.message_id = id;
    ses.hd = ses.som = ses.eom = false;
    ses.request_length = 100;
    ses.message_offset = ses.payload_length = 0;
    return p;
  }
  // Sends it as the next packet of the PDC; what is answered.
  ReturnCode code_of(Packet p, std::size_t octets) {
    pds(p).psn = next_++;
    const std::size_t before = pair_.log().size();
    pair_.inject(0, 1, p, std::vector<std::byte>(octets));
    pair_.run_for(20_us);
    for (std::size_t i = before; i < pair_.log().size(); ++i)
      if (const auto* r = std::get_if<SesResponseValues>(&pair_.log()[i].packet.ses); r && pair_.log()[i].from == 1)
        return r->return_code;
    return ReturnCode::kNull;
  }
};

// All packets of a message repeat what it is. What one says of its place was checked against what it says of the
// length, and is nowhere in a message of another length; nor does a WRITE complete a SEND.
TEST_F(HalfMessages, WhatGoesOnWithAMessageSaysOfItWhatItsFirstPacketSaid) {
  constexpr std::uint32_t kPayloadMtu = 1024;  // test_config()
  const std::vector<std::byte> full(kPayloadMtu), rest(16);
  const auto part = [&](bool first) {
    Packet p = request();
    SesRequestValues& ses = std::get<SesRequestValues>(p.ses);
    ses.opcode = SesOpcode::kTaggedSend;
    ses.message_id = 700;
    ses.match_bits = 77;
    ses.hd = false;
    ses.som = first;
    ses.eom = false;
    ses.request_length = 5000;
    if (!first) {
      ses.message_offset = 2 * kPayloadMtu;
      ses.payload_length = 16;
    }
    return p;
  };
  const auto send = [&](Packet p, std::span<const std::byte> payload) {
    pds(p).psn = next_++;
    const std::size_t before = pair_.log().size();
    pair_.inject(0, 1, p, payload);
    pair_.run_for(Duration{20'000'000});
    for (std::size_t i = before; i < pair_.log().size(); ++i)
      if (const auto* r = std::get_if<SesResponseValues>(&pair_.log()[i].packet.ses); r && pair_.log()[i].from == 1)
        return r->return_code;
    return ReturnCode::kNull;
  };
  ASSERT_EQ(pair_.engine(1).config().payload_mtu, kPayloadMtu);
  EXPECT_EQ(send(part(true), full), ReturnCode::kOk) << "nothing waits for it: it is unexpected";
  const auto with = [&](auto change) {
    Packet p = part(false);
    change(std::get<SesRequestValues>(p.ses));
    return send(p, rest);
  };
  const auto refused = ReturnCode::kUnsupportedSize;
  EXPECT_EQ(with([](auto& s) { s.request_length = 0xFFFF'FFF0, s.message_offset = 0xF000'0000; }), refused);
  EXPECT_EQ(with([](auto& s) { s.request_length = 5001; }), refused);
  EXPECT_EQ(with([](auto& s) { s.initiator += 1; }), refused);
  EXPECT_EQ(with([](auto& s) { s.match_bits = 78; }), refused);
  EXPECT_EQ(with([](auto& s) { s.opcode = SesOpcode::kSend; }), refused);
  Packet write = part(false);
  std::get<SesRequestValues>(write.ses).opcode = SesOpcode::kWrite;
  std::get<SesRequestValues>(write.ses).payload_length = 0;
  EXPECT_EQ(send(write, {}), refused) << "a WRITE of nothing has no key to be checked";
  EXPECT_EQ(with([](auto&) {}), ReturnCode::kOk);
  EXPECT_EQ(pair_.engine(1).open_messages(), 1u);
}

// A message that is begun, and given up after its first packet, leaves nothing behind.
TEST_F(HalfMessages, MemoryForWhatComesTooEarlyIsGivenBack) {
  constexpr std::uint32_t kPayloadMtu = 1024, kTotal = 1'000'000;
  const std::vector<std::byte> full(kPayloadMtu);
  for (std::uint16_t id = 100; id < 110; ++id) {
    Packet p = request();
    SesRequestValues& ses = std::get<SesRequestValues>(p.ses);
    ses.opcode = SesOpcode::kTaggedSend;
    ses.message_id = id;
    ses.match_bits = 77;
    ses.hd = ses.eom = false;
    ses.som = true;
    ses.request_length = kTotal;
    pair_.inject(0, 1, p, full);
    ++next_;
    pair_.run_for(Duration{20'000'000});
    EXPECT_GE(pair_.engine(1).early_octets(), kTotal);
    ses.opcode = SesOpcode::kMsgError;
    ses.som = false;
    ses.eom = true;
    ses.message_offset = kPayloadMtu;
    pds(p).psn = next_++;
    pair_.inject(0, 1, p);
    pair_.run_for(Duration{20'000'000});
    EXPECT_EQ(pair_.engine(1).open_messages(), 0u);
    EXPECT_LT(pair_.engine(1).early_octets(), kTotal);
  }
}

// One packet each of many messages: as many are open as packets of an honest sender may be missing.
TEST_F(HalfMessages, HalfMessagesWithoutEnd) {
  const std::size_t most = config().mp_range + 1;
  for (std::size_t i = 0; i < most; ++i) {
    pair_.inject(0, 1, half(static_cast<std::uint16_t>(1000 + i), SesOpcode::kWrite));
    ++next_;
  }
  pair_.run_for(Duration{20'000'000});
  EXPECT_EQ(pair_.engine(1).open_messages(), most);
  EXPECT_EQ(answer(half(7, SesOpcode::kWrite)), "NACK NO_SES_MSG_AVAIL");
  EXPECT_EQ(answer(half(7, SesOpcode::kSend)), "NACK NO_SES_MSG_AVAIL");
  EXPECT_EQ(pair_.engine(1).open_messages(), most);
  EXPECT_EQ(drops(1, Drop::kNoResource), 2u);
}

// Another job's packet, or one to another context, is of another message whatever its id says.
TEST_F(HalfMessages, AreNotGoneOnWithByAnotherJobOrContext) {
  Engine& engine = pair_.engine(1);
  const CqId cq = pair_.end(1).cq;
  engine.create_context({.job_id = 2, .domain = {1}, .cq = cq});
  engine.create_context({.resource_index = 16, .domain = {1}, .cq = cq});
  engine.create_context({.job_id = 3, .pid_on_fep = 4, .any_job = true, .domain = {1}, .cq = cq});
  const auto part = [&](SesOpcode opcode, bool first, auto change) {
    Packet p = half(700, opcode);
    SesRequestValues& ses = std::get<SesRequestValues>(p.ses);
    ses.som = first;
    ses.message_offset = first ? 0 : 1024;
    ses.payload_length = first ? 0 : 16;
    ses.request_length = 5000;
    change(ses);
    return code_of(p, first ? 1024 : 16);
  };
  for (const SesOpcode opcode : {SesOpcode::kTaggedSend, SesOpcode::kWrite}) {
    SCOPED_TRACE(static_cast<int>(opcode));
    const auto keep = [&](SesRequestValues& s) { s.buffer_offset = kTo; };
    EXPECT_EQ(part(opcode, true, keep), ReturnCode::kOk);
    const std::size_t open = engine.open_messages();
    const auto with = [&](auto change) {
      return part(opcode, false, [&](SesRequestValues& s) {
        keep(s);
        change(s);
      });
    };
    EXPECT_EQ(with([](auto& s) { s.job_id = 2; }), ReturnCode::kUnsupportedSize) << "a job with a context of that name";
    EXPECT_EQ(with([](auto& s) { s.resource_index = 16; }), ReturnCode::kUnsupportedSize) << "another context";
    EXPECT_EQ(with([](auto& s) { s.pid_on_fep = 4, s.rel = false; }), ReturnCode::kUnsupportedSize) << "a service";
    EXPECT_EQ(with([](auto& s) { s.job_id = 9; }), ReturnCode::kBadJobId) << "a job that has none";
    EXPECT_EQ(with([](auto&) {}), ReturnCode::kOk) << "and its own";
    EXPECT_EQ(engine.open_messages(), open) << "none of them has begun another";
    const auto given_up = [](SesRequestValues& s) {
      s.opcode = SesOpcode::kMsgError;
      s.eom = true;
      s.message_offset = 1040;
      s.payload_length = 0;
    };
    Packet end = half(700, opcode);
    given_up(std::get<SesRequestValues>(end.ses));
    code_of(end, 0);
    EXPECT_EQ(engine.open_messages(), open - 1);
  }
}

// ---- Of which no more comes (uet §5.15) ----

// The PDC is at work, but one message of it stays half.
TEST_F(HalfMessages, AreGivenUpWhenNothingMoreComesForLong) {
  const Duration keeps = config().half_message_keeps();
  Engine& engine = pair_.engine(1);
  pair_.receive(1, {.wr_id = 7, .local = pair_.local(1, kTo, 5000), .tagged = true, .match_bits = 1});
  const auto part = [&](std::uint16_t id, std::uint32_t offset) {
    Packet p = half(id, SesOpcode::kTaggedSend);
    SesRequestValues& ses = std::get<SesRequestValues>(p.ses);
    ses.match_bits = id;
    ses.som = offset == 0;
    ses.message_offset = offset;
    ses.payload_length = offset == 0 ? 0 : 1024;
    ses.request_length = 5000;
    return p;
  };
  EXPECT_EQ(code_of(part(1, 0), 1024), ReturnCode::kOk) << "there is a buffer for it,";
  EXPECT_EQ(code_of(part(2, 0), 1024), ReturnCode::kOk) << "and none for this one";
  const Instant first = pair_.now();
  EXPECT_GE(engine.early_octets(), 5000u);
  pair_.run_for(keeps * 3 / 4);
  EXPECT_EQ(code_of(part(1, 1024), 1024), ReturnCode::kOk) << "it goes on";
  pair_.run_for(first + keeps + 1_ms - pair_.now());
  EXPECT_EQ(pair_.text(1), "") << "only since a while";
  EXPECT_LT(engine.early_octets(), 5000u) << "the other one has gone";
  EXPECT_EQ(code_of(part(2, 1024), 1024), ReturnCode::kDropped) << "and comes back to nothing";
  pair_.run_for(keeps);
  EXPECT_EQ(pair_.text(1), "7:retry_exceeded");
  EXPECT_EQ(code_of(part(1, 2048), 1024), ReturnCode::kDropped);
  // Nobody is matched with what is no more.
  pair_.receive(1, {.wr_id = 8, .local = pair_.local(1, kTo, 5000), .tagged = true, .match_bits = 2});
  EXPECT_EQ(pair_.text(1), "");
  // What is known of them goes with their last packets.
  EXPECT_EQ(engine.open_messages(), 2u);
  for (const std::uint32_t offset : {2048u, 3072u}) code_of(part(2, offset), 1024);
  Packet last = part(2, 4096);
  std::get<SesRequestValues>(last.ses).payload_length = 5000 - 4096;
  EXPECT_EQ(code_of(last, 5000 - 4096), ReturnCode::kDropped);
  EXPECT_EQ(engine.open_messages(), 1u);
}

TEST_F(HalfMessages, OfAWriteTellNobodyWhenTheRestComesTooLate) {
  const auto part = [&](std::uint32_t offset) {
    Packet p = half(1, SesOpcode::kWrite);
    SesRequestValues& ses = std::get<SesRequestValues>(p.ses);
    ses.buffer_offset = kTo;
    ses.hd = true;
    ses.som = offset == 0;
    ses.header_data = offset == 0 ? 5 : 0;
    ses.message_offset = offset;
    ses.payload_length = offset == 0 ? 0 : 976;
    ses.request_length = 2000;
    return p;
  };
  EXPECT_EQ(code_of(part(0), 1024), ReturnCode::kOk);
  pair_.run_for(config().half_message_keeps() + 1_ms);
  EXPECT_EQ(code_of(part(1024), 976), ReturnCode::kDropped);
  EXPECT_EQ(pair_.text(1), "");
  EXPECT_EQ(pair_.engine(1).open_messages(), 0u);
}

// As long as a sender's timer may go on a message is waited for, and so is its PDC.
void expect_a_sender_is_waited_for(EngineConfig config) {
  config.retries = 6;
  config.infer_loss = false;
  Pair pair(config);
  // From the second packet on nothing arrives at either end until the sixth timeout.
  const Instant again = Instant{} + config.rto_init * 63;
  pair.fate = [&](const Seen& s) { return Fate{.lost = s.at < again && (s.from == 1 || s.index > 1)}; };
  pair.fill(0, 0, 5000);
  pair.receive(1, 7, kTo, 5000);
  pair.post(0, pair.send(0, 1, 0, 5000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_EQ(pair.text(1), "7:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 5000));
  pair.expect_clean();
}

TEST(HalfMessagesOfHonestSenders, AreNotGivenUpBeforeTheirSenderDoes) {
  EngineConfig config = test_config();
  config.half_message_idle = 1_us;
  expect_a_sender_is_waited_for(config);
}

TEST(HalfMessagesOfHonestSenders, TheirPdcIsNotClosedBeforeTheirSenderGivesUp) {
  EngineConfig config = test_config();
  config.target_idle = config.close_req_time = 1_us;
  expect_a_sender_is_waited_for(config);
}

}  // namespace
}  // namespace railyard::uet
