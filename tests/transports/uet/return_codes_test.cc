// Return codes (uet §4.10): those that a target of ours gives beside those of messages_test.cc, and what an initiator
// makes of each there is.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/transports/uet/established.h"

namespace railyard::uet {
namespace {

using namespace literals;

// ---- At a target ----

class ReturnCodes : public Established {
 protected:
  // What end 1 answers to a request on the PDC; all that it is asked to change lies in octets 0..63 of its memory.
  ReturnCode answer_to(const std::function<void(SesRequestValues&)>& change, std::span<const std::byte> payload = {}) {
    Packet p = request();
    pds(p).psn = next_++;
    SesRequestValues& ses = std::get<SesRequestValues>(p.ses);
    ses.buffer_offset = 0;
    change(ses);
    const std::vector<std::byte> before(pair_.memory(1, 0, 64).begin(), pair_.memory(1, 0, 64).end());
    const std::size_t seen = pair_.log().size();
    pair_.inject(0, 1, p, payload);
    pair_.run_for(20_us);
    for (std::size_t i = seen; i < pair_.log().size(); ++i)
      if (const auto* r = std::get_if<SesResponseValues>(&pair_.log()[i].packet.ses); r && pair_.log()[i].from == 1) {
        EXPECT_EQ(r->modified_length, 0u);
        EXPECT_TRUE(r->return_code == ReturnCode::kOk || std::ranges::equal(before, pair_.memory(1, 0, 64)))
            << "nothing is touched";
        return r->return_code;
      }
    return ReturnCode::kNull;
  }
  // An atomic of one packet.
  ReturnCode atomic(AtomicOpcode opcode, AtomicDatatype type, std::uint32_t octets, std::uint64_t offset = 0) {
    const std::vector<std::byte> operand(octets, std::byte{1});
    return answer_to(
        [&](SesRequestValues& s) {
          s.opcode = SesOpcode::kAtomic;
          s.request_length = octets;
          s.buffer_offset = offset;
          s.atomic = {.opcode = opcode, .datatype = type};
        },
        operand);
  }
};

TEST_F(ReturnCodes, OfWhatIsNoRequestOfThisKind) {
  const std::array<std::byte, 16> octets{};
  const auto write = [&](auto change) {
    return answer_to(
        [&](SesRequestValues& s) {
          s.request_length = 16;
          change(s);
        },
        octets);
  };
  for (std::uint8_t version = 1; version < 4; ++version)
    EXPECT_EQ(write([&](auto& s) { s.version = version; }), ReturnCode::kUncor) << "of another version";
  EXPECT_EQ(write([](auto& s) { s.ie = true; }), ReturnCode::kInitiatorError) << "its payload is none";
  EXPECT_EQ(write([](auto& s) { s.request_length = 17; }), ReturnCode::kUnsupportedSize) << "not all of it is here";
  EXPECT_EQ(write([](auto& s) { s.request_length = 15; }), ReturnCode::kUnsupportedSize) << "and more than it has";
  for (const SesOpcode opcode : {SesOpcode::kDeferrableSend, SesOpcode::kDeferrableTsend, SesOpcode::kDatagramSend})
    EXPECT_EQ(write([&](auto& s) { s.opcode = opcode; }), ReturnCode::kUnsupportedOp) << static_cast<int>(opcode);
  // Reserved, of the reference provider alone, and vendors'.
  for (const int opcode : {0x10, 0x11, 0x2F, 0x30, 0x3F})
    EXPECT_EQ(write([&](auto& s) { s.opcode = static_cast<SesOpcode>(opcode); }), ReturnCode::kUnsupportedOp);
  EXPECT_EQ(answer_to([](auto& s) { s.opcode = SesOpcode::kDeferrableRtr; }), ReturnCode::kUnsupportedOp);
  EXPECT_EQ(answer_to([](auto& s) { s.opcode = SesOpcode::kNoOp; }), ReturnCode::kOk);
}

TEST_F(ReturnCodes, OfAtomics) {
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint64, 8), ReturnCode::kOk);
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint32, 4), ReturnCode::kOk);
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint64, 4), ReturnCode::kAmoUnsupportedSize);
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint64, 16), ReturnCode::kAmoUnsupportedSize);
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint64, 8, 4), ReturnCode::kAmoUnaligned);
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint16, 2, 1), ReturnCode::kAmoUnaligned);
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint16, 2, 2), ReturnCode::kOk);
  for (const AtomicDatatype type : {AtomicDatatype::kInt128, AtomicDatatype::kFloatComplex, AtomicDatatype::kFp16})
    EXPECT_EQ(atomic(AtomicOpcode::kSum, type, 8), ReturnCode::kAmoUnsupportedDt) << static_cast<int>(type);
  EXPECT_EQ(atomic(static_cast<AtomicOpcode>(0x15), AtomicDatatype::kUint64, 8), ReturnCode::kAmoUnsupportedOp);
  EXPECT_EQ(atomic(AtomicOpcode::kBor, AtomicDatatype::kDouble, 8), ReturnCode::kAmoUnsupportedOp);
  EXPECT_EQ(atomic(AtomicOpcode::kSum, AtomicDatatype::kUint64, 8, Pair::kMemory - 4), ReturnCode::kBadAddr);
}

// Memory that may be read but not written, and so on.
TEST(ReturnCodesOfMemory, WhatARegionDoesNotPermitIsRefused) {
  struct Case {
    Access permitted;
    bool write, read, atomic;
  };
  for (const Case& c : {Case{Access::kRemoteWrite, true, false, false}, Case{Access::kRemoteRead, false, true, false},
                        Case{Access::kRemoteAtomic, false, false, true}}) {
    Pair pair;
    const auto key = pair.engine(1).memory().add({.address = Pair::address(1),
                                                  .octets = 4096,
                                                  .access = AccessSet(Access::kLocalWrite) | c.permitted,
                                                  .domain = {1},
                                                  .memory = pair.end(1).memory.data()});
    ASSERT_TRUE(key);
    const auto with = [&](SendWr wr) {
      wr.memory_key = *key;
      pair.post(0, wr);
    };
    with(pair.write(0, 1, 0, 0, 100));
    with(pair.read(0, 2, kTo, 0, 100));
    with(pair.fetch_add(0, 3, kTo + 200, kCounter, 1));
    pair.run();
    const auto text = [](int id, bool may) {
      return std::to_string(id) + (may ? ":success" : ":refused PERM_VIOLATION");
    };
    EXPECT_EQ(pair.text(0), text(1, c.write) + " " + text(2, c.read) + " " + text(3, c.atomic));
    pair.expect_clean();
  }
}

// A key of another protection domain is none, and what is only promised cannot be changed.
TEST(ReturnCodesOfMemory, OfAnotherDomainAndOfPromises) {
  Pair pair;
  const AccessSet all = AccessSet(Access::kLocalWrite) | Access::kRemoteWrite | Access::kRemoteAtomic;
  const auto other = pair.engine(1).memory().add(
      {.address = Pair::address(1), .octets = 4096, .access = all, .domain = {2}, .memory = pair.end(1).memory.data()});
  const auto promise =
      pair.engine(1).memory().add({.address = Pair::address(1), .octets = 4096, .access = all, .domain = {1}});
  ASSERT_TRUE(other && promise);
  SendWr wr = pair.write(0, 1, 0, 0, 100);
  wr.memory_key = *other;
  pair.post(0, wr);
  wr = pair.fetch_add(0, 2, kTo, kCounter, 1);
  wr.memory_key = *promise;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.text(0), "1:refused BAD_MKEY 2:refused AMO_UNSUPPORTED_OP");
  pair.expect_clean();
}

TEST(ReturnCodesOfNobody, UndeliverableWithoutAnyContext) {
  Engine engine(test_config(), RngStream(Seed{1}, "nobody"));
  InPacket in;
  in.packet = {.pds = PdsRequestValues{.ar = true, .syn = true, .psn = 9, .spdcid = 5},
               .ses = SesRequestValues{.opcode = SesOpcode::kWrite, .eom = true, .som = true, .message_id = 1}};
  in.source = wire::IpAddress(0x0A000001u);
  in.destination = wire::IpAddress(0x0A000002u);
  for (const bool relative : {true, false}) {
    auto& request = std::get<SesRequestValues>(in.packet.ses);
    request.rel = relative;
    EXPECT_FALSE(engine.on_packet({}, in));
    OutPacket out;
    ASSERT_TRUE(engine.send({}, engine.config().control, out));
    EXPECT_EQ(std::get<SesResponseValues>(out.packet.ses).return_code, ReturnCode::kUndeliverable);
    ++std::get<PdsRequestValues>(in.packet.pds).psn;
    ++std::get<PdsRequestValues>(in.packet.pds).psn_offset;
  }
}

// The same without a PDC.
TEST(ReturnCodesOfRudi, AreThoseOfItsRequests) {
  Pair pair;
  std::uint32_t id = 0;
  const auto answer = [&](auto change, std::size_t octets) {
    Packet p;
    p.pds = PdsRudiValues{.type = PdsType::kRudiReq, .next_hdr = NextHdr::kRequestStd, .pkt_id = ++id};
    SesRequestValues ses{.opcode = SesOpcode::kWrite,
                         .rel = true,
                         .eom = true,
                         .som = true,
                         .message_id = 1,
                         .job_id = 1,
                         .resource_index = 15,
                         .match_bits = pair.end(1).key | kIdempotentSafe,
                         .request_length = 16};
    change(ses);
    p.ses = ses;
    const std::size_t before = pair.log().size();
    pair.inject(0, 1, p, std::vector<std::byte>(octets));
    pair.run_for(20_us);
    for (std::size_t i = before; i < pair.log().size(); ++i)
      if (const auto* r = std::get_if<SesResponseValues>(&pair.log()[i].packet.ses)) return r->return_code;
    return ReturnCode::kNull;
  };
  EXPECT_EQ(answer([](auto&) {}, 16), ReturnCode::kOk);
  EXPECT_EQ(answer([](auto& s) { s.version = 1; }, 16), ReturnCode::kUncor);
  EXPECT_EQ(answer([](auto& s) { s.ie = true; }, 16), ReturnCode::kInitiatorError);
  EXPECT_EQ(answer([](auto&) {}, 15), ReturnCode::kUnsupportedSize);
  EXPECT_EQ(answer([](auto& s) { s.opcode = SesOpcode::kSend; }, 16), ReturnCode::kUnsupportedOp);
  EXPECT_EQ(answer([](auto& s) { s.match_bits &= ~kIdempotentSafe; }, 16), ReturnCode::kOpViolation);
  EXPECT_EQ(answer([](auto& s) { s.match_bits ^= 0x100; }, 16), ReturnCode::kBadMkey);
  EXPECT_EQ(answer([](auto& s) { s.job_id = 9; }, 16), ReturnCode::kBadJobId);
  EXPECT_EQ(answer([](auto& s) { s.pid_on_fep = 9; }, 16), ReturnCode::kBadPid);
  EXPECT_EQ(answer([](auto& s) { s.resource_index = 9; }, 16), ReturnCode::kBadIndex);
  EXPECT_EQ(answer([](auto& s) { s.buffer_offset = Pair::kMemory; }, 16), ReturnCode::kBadAddr);
}

// ---- At an initiator ----

struct Told {
  std::string text;             // completions after a round trip or two,
  std::string in_the_end;       // and after all timers
  std::size_t sent = 0;         // how often the message was sent
  std::uint8_t generation = 0;  // of the index, when it was sent last
};

// A WRITE has come; of its target's answer only what we put in its place arrives.
Told told(ReturnCode code, unsigned times) {
  EngineConfig config = test_config();
  config.idle_close = 1_s;
  Pair pair(config);
  pair.post(0, pair.write(0, 1, 0, kTo, 10));
  pair.run_for(20_us);
  pair.completions(0);
  std::uint16_t target = 0;
  for (const Seen& s : pair.log())
    if (s.ack() != nullptr) target = s.ack()->spdcid;
  Told t;
  unsigned answered = 0;
  Instant until = pair.now() + 10_us;
  pair.fate = [&](const Seen& s) { return Fate{.lost = s.from == 1 && s.ack() != nullptr && s.at < until}; };
  pair.fill(0, 100, 100);
  pair.post(0, pair.write(0, 2, 100, kTo, 100));
  const auto note = [&](const Seen& s) {
    const auto* const ses = std::get_if<SesRequestValues>(&s.packet.ses);
    if (s.from != 0 || s.request() == nullptr || s.retx() || ses == nullptr || ses->request_length != 100) return;
    ++t.sent;
    t.generation = ses->ri_generation;
    if (++answered > times) return;
    until = s.at + 10_us;
    Packet p;
    p.pds = PdsAckValues{
        .ack_psn_offset = 1, .cack_psn = s.request()->psn - 1, .spdcid = target, .dpdcid = s.request()->spdcid};
    p.ses = SesResponseValues{.opcode = SesResponseOpcode::kResponse,
                              .return_code = code,
                              .message_id = ses->message_id,
                              .ri_generation = 7,
                              .job_id = 1,
                              .modified_length = 100};
    pair.inject(1, 0, p);
  };
  std::size_t seen = pair.log().size();
  const auto run_for = [&](Duration d) {
    for (const Instant end = pair.now() + d; pair.now() < end;) {
      pair.run_for(1_us);
      for (; seen < pair.log().size(); ++seen) note(pair.log()[seen]);
    }
  };
  run_for(20_us);
  t.text = pair.text(0);
  run_for(8_ms);
  pair.run();
  t.in_the_end = t.text + pair.text(0);
  EXPECT_TRUE(pair.same(0, 100, 1, kTo, 100));
  EXPECT_EQ(pair.counters(0).pdcs_failed.read(), 0u);
  pair.expect_clean();
  return t;
}

TEST(ReturnCodesReceived, EachFailsItsMessageUnlessTheTableSaysOtherwise) {
  for (unsigned i = 0; i < 64; ++i) {
    const auto code = static_cast<ReturnCode>(i);
    SCOPED_TRACE(i);
    const Told t = told(code, 1);
    const std::string refused = "2:refused " + std::string(name(code));
    switch (code) {
      case ReturnCode::kNull:  // nothing is known yet: it is asked after
        EXPECT_EQ(t.text, "");
        EXPECT_EQ(t.in_the_end, "2:success");
        EXPECT_EQ(t.sent, 1u);
        break;
      case ReturnCode::kOk:
        EXPECT_EQ(t.text, "2:success");
        break;
      case ReturnCode::kNoMatch:
      case ReturnCode::kDisabledGen:  // goes again after a while
        EXPECT_EQ(t.text, "");
        EXPECT_EQ(t.in_the_end, "2:success");
        EXPECT_EQ(t.sent, 2u);
        break;
      case ReturnCode::kBadGeneration:  // at once, with the one that was told
        EXPECT_EQ(t.text, "2:success");
        EXPECT_EQ(t.sent, 2u);
        EXPECT_EQ(t.generation, 7u);
        break;
      default:
        EXPECT_EQ(t.text, refused);
        EXPECT_EQ(t.in_the_end, refused) << "once";
        EXPECT_EQ(t.sent, 1u);
        break;
    }
  }
}

TEST(ReturnCodesReceived, WhoIsAskedToTryAgainDoesSoFiveTimes) {
  for (const ReturnCode code : {ReturnCode::kNoMatch, ReturnCode::kDisabledGen, ReturnCode::kBadGeneration}) {
    const Told t = told(code, 100);
    EXPECT_EQ(t.in_the_end, "2:refused " + std::string(name(code)));
    EXPECT_EQ(t.sent, 6u);
  }
}

}  // namespace
}  // namespace railyard::uet
