// Packets that nobody should send: each is answered as the reference says, or dropped for a reason, at the cost of its
// PDC at most (uet §3.10, §5.2, §5.5).
#include <array>

#include <gtest/gtest.h>

#include "tests/transports/uet/established.h"

namespace railyard::uet {
namespace {

using Garbage = Established;

TEST_F(Garbage, WrongPdcidsAreAnsweredAndDoNoHarm) {
  Packet p = request();
  pds(p).dpdcid = 999;
  EXPECT_EQ(answer(p), "NACK INV_DPDCID");
  p = request();
  pds(p).dpdcid = 0;
  EXPECT_EQ(answer(p), "NACK INV_DPDCID");
  p = request();
  pds(p).spdcid = 7;
  EXPECT_EQ(answer(p), "NACK PDC_HDR_MISMATCH");
  EXPECT_EQ(answer(request(), 2), "NACK PDC_HDR_MISMATCH") << "from another address";
  p = request();
  pds(p).type = PdsType::kRodReq;
  EXPECT_EQ(answer(p), "NACK PDC_MODE_MISMATCH");
  EXPECT_EQ(drops(1, Drop::kUnknownPdc), 2u);
  EXPECT_EQ(drops(1, Drop::kWrongPeer), 2u);
  EXPECT_EQ(drops(1, Drop::kModeMismatch), 1u);
  expect_alive();
}

TEST_F(Garbage, ControlPacketsThatGoTheWrongWay) {
  const auto cp = [&](CtlType type) {
    Packet p;
    p.pds = PdsCpValues{.ctl_type = type, .ar = true, .psn = next_, .spdcid = initiator_, .dpdcid = target_};
    return p;
  };
  EXPECT_EQ(answer(cp(CtlType::kCloseReq)), "NACK UNEXP_EVENT") << "an initiator does not ask";
  EXPECT_EQ(drops(1, Drop::kUnexpected), 1u);
  EXPECT_EQ(answer(cp(CtlType::kNoop)), "ACK_CC") << "either may say that it is there";
  EXPECT_EQ(answer(cp(CtlType::kNoop)), "ACK_CC") << "a duplicate";
  EXPECT_EQ(pair_.counters(1).pdcs_failed.read(), 0u);
}

// Nothing answers these, so what runs on behind their headers makes them malformed.
TEST_F(Garbage, ControlPacketsThatRunOnAreMalformed) {
  const std::vector<std::byte> more(84);
  Packet cp;
  cp.pds = PdsCpValues{.ctl_type = CtlType::kNoop, .ar = true, .psn = next_, .spdcid = initiator_, .dpdcid = target_};
  Packet with_response = ack();
  std::get<PdsAckValues>(with_response.pds).next_hdr = NextHdr::kResponse;
  with_response.ses = SesResponseValues{.form = NextHdr::kResponse};
  std::uint64_t n = 0;
  for (const auto& [packet, from, to] :
       {std::tuple{cp, 0, 1}, std::tuple{ack(), 1, 0}, std::tuple{with_response, 1, 0},
        std::tuple{nack(NackCode::kInvDpdcid, next_ - 1), 1, 0}}) {
    for (const std::size_t octets : {1u, 84u}) {
      pair_.inject(static_cast<std::size_t>(from), static_cast<std::size_t>(to), packet, std::span(more).first(octets));
      pair_.run_for(Duration{20'000'000});
      ++n;
    }
  }
  std::uint64_t malformed = 0;
  for (const std::size_t end : {0u, 1u}) {
    malformed += pair_.counters(end).malformed[static_cast<std::size_t>(Malformed::kBadPayloadLength)].read();
    EXPECT_EQ(drops(end, Drop::kMalformed),
              pair_.counters(end).malformed[static_cast<std::size_t>(Malformed::kBadPayloadLength)].read());
  }
  EXPECT_EQ(malformed, n);
  expect_alive();
}

TEST_F(Garbage, StalePsnsAndThoseBeyondTheWindow) {
  Packet p = request();
  pds(p).psn = start_;
  EXPECT_EQ(answer(p), "ACK_CC") << "a duplicate";
  pds(p).psn = start_ - 5000;
  EXPECT_EQ(answer(p), "NACK PSN_OOR_WINDOW");
  pds(p).psn = next_ + 512;
  EXPECT_EQ(answer(p), "NACK PSN_OOR_WINDOW");
  pds(p).psn = start_ + 0x8000'0000;
  EXPECT_EQ(answer(p), "NACK PSN_OOR_WINDOW");
  p = request();
  pds(p).psn = start_;
  pds(p).clear_psn_offset = 30'000;
  EXPECT_EQ(answer(p), "ACK_CC") << "clears what never came: not believed";
  expect_alive();
}

TEST_F(Garbage, SynsThatOpenNothing) {
  Packet p = request();
  pds(p).syn = true;
  pds(p).psn_offset = 4;
  EXPECT_EQ(answer(p), "NACK INVALID_SYN") << "of the PDC that is there, with another Start_PSN";
  pds(p).spdcid = 0;
  EXPECT_EQ(answer(p), "");
  p = request();
  pds(p).syn = true;
  pds(p).spdcid = 77;
  pds(p).next_hdr = NextHdr::kResponseData;
  p.ses = SesResponseValues{.form = NextHdr::kResponseData};
  EXPECT_EQ(answer(p), "NACK INVALID_SYN") << "read data opens no PDC";
  Packet cp;
  cp.pds = PdsCpValues{.ctl_type = CtlType::kCloseCmd, .ar = true, .syn = true, .psn = 5, .spdcid = 78};
  EXPECT_EQ(answer(cp), "NACK INVALID_SYN");
  EXPECT_EQ(pair_.engine(1).pdcs(), 1u);
  expect_alive();
}

TEST_F(Garbage, ImpossibleAcksChangeNothing) {
  pair_.fate = [&](const Seen& s) { return Fate{.lost = s.from == 1}; };
  pair_.fill(0, 50'000, 3000);
  pair_.post(0, pair_.write(0, 3, 50'000, kTo + 50'000, 3000));
  pair_.run_for(Duration{5'000'000});
  const std::uint64_t before = pair_.counters(0).acks_received.read();
  const auto expect_ghost = [&](auto change) {
    Packet p = ack();
    change(std::get<PdsAckValues>(p.pds));
    answer(p, 1, 0);
  };
  expect_ghost([&](PdsAckValues& a) { a.cack_psn = next_ + 3; });
  expect_ghost([&](PdsAckValues& a) { a.cack_psn = next_ + 1000; });
  expect_ghost([&](PdsAckValues& a) { a.ack_psn_offset = 4; });
  expect_ghost([&](PdsAckValues& a) { a.cack_psn = start_ - 100'000; });
  expect_ghost([&](PdsAckValues& a) {
    a.sack_psn_offset = 2;
    a.sack_bitmap = 1u << 3;
  });
  EXPECT_EQ(drops(0, Drop::kGhostAck), 5u);
  expect_ghost([&](PdsAckValues& a) { a.spdcid = 55; });
  EXPECT_EQ(drops(0, Drop::kWrongPeer), 1u);
  EXPECT_EQ(pair_.counters(0).acks_received.read(), before);
  pair_.fate = nullptr;
  pair_.run_for(Duration{1'000'000'000});
  EXPECT_EQ(pair_.text(0), "1:success 3:success");
  EXPECT_TRUE(pair_.same(0, 50'000, 1, kTo + 50'000, 3000));
}

TEST_F(Garbage, NacksOfWhatIsNotOutstandingChangeNothing) {
  for (unsigned code = 0; code < 256; ++code)
    for (const std::uint32_t psn : {start_, next_, next_ + 10, start_ - 1})
      EXPECT_EQ(answer(nack(static_cast<NackCode>(code), psn), 1, 0), "");
  EXPECT_EQ(drops(0, Drop::kGhostNack), 4u * 256);
  expect_alive();
}

TEST_F(Garbage, AnyNackOfWhatIsOutstandingCostsItsPdcAtMost) {
  for (unsigned code = 0; code < 256; ++code) {
    Pair pair;
    pair.fill(0, 0, 3000);
    pair.post(0, pair.write(0, 1, 0, kTo, 3000));
    pair.run_for(Duration{500'000});  // not there yet
    const auto& first = std::get<PdsRequestValues>(pair.log().at(0).packet.pds);
    Packet p;
    p.pds = PdsNackValues{
        .code = static_cast<NackCode>(code), .nack_psn = first.psn, .dpdcid = first.spdcid, .payload = 0x20000};
    pair.inject(1, 0, p);
    pair.run_for(Duration{2'000'000});
    pair.inject(1, 0, p);
    pair.run();
    const std::string text = pair.text(0);
    EXPECT_TRUE(text == "1:success" || text == "1:pdc_failed") << code << ": " << text;
    pair.post(0, pair.write(0, 2, 0, kTo, 3000));
    pair.run();
    EXPECT_EQ(pair.text(0), "2:success") << code;
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
    pair.expect_clean();
  }
}

TEST_F(Garbage, ControlPacketsThatMakeNoSense) {
  const auto cp = [&](CtlType type, std::uint32_t psn, std::uint32_t payload = 0) {
    Packet p;
    p.pds = PdsCpValues{
        .ctl_type = type, .ar = true, .psn = psn, .spdcid = initiator_, .dpdcid = target_, .payload = payload};
    return answer(p);
  };
  EXPECT_EQ(cp(CtlType::kAckReq, next_ + 5), "NACK PKT_NOT_RCVD");
  EXPECT_EQ(cp(CtlType::kAckReq, start_), "ACK_CC");
  EXPECT_EQ(cp(CtlType::kAckReq, start_ - 9999), "NACK PSN_OOR_WINDOW");
  EXPECT_EQ(cp(CtlType::kProbe, 0, start_), "ACK_CC");
  EXPECT_EQ(cp(CtlType::kProbe, 0, start_ + 0x7000'0000), "ACK_CC") << "SACK begins where it can";
  EXPECT_EQ(cp(CtlType::kClearCmd, 0, start_ + 1000), "");
  EXPECT_EQ(cp(CtlType::kCredit, 0, 5), "") << "no credit is waited for";
  EXPECT_EQ(cp(CtlType::kCloseCmd, next_ + 3), "NACK ROD_OOO") << "something before it is missing";
  EXPECT_EQ(cp(CtlType::kCloseReq, next_), "NACK UNEXP_EVENT") << "initiators ask for no close";
  EXPECT_EQ(cp(CtlType::kCloseCmd, start_ + 9999), "NACK PSN_OOR_WINDOW");
  expect_alive();
}

TEST_F(Garbage, RandomOctetsAndDamagedHeaders) {
  RngStream chance(Seed{3}, "garbage");
  for (int i = 0; i < 3000; ++i) {
    std::array<std::byte, 150> octets{};
    Packet p = i % 3 == 0 ? request() : i % 3 == 1 ? ack() : first_;
    std::size_t n = encode_headers(octets, p);
    if (i % 4 == 0) {
      n = chance.below(octets.size());
      for (std::size_t k = 0; k < n; ++k) octets[k] = static_cast<std::byte>(chance.below(256));
    } else {
      for (std::uint64_t k = 1 + chance.below(4); k > 0; --k)
        octets[chance.below(n)] ^= static_cast<std::byte>(1u << chance.below(8));
    }
    const std::size_t to = chance.below(2);
    pair_.inject_octets(chance.below(10) == 0 ? 2 : 1 - to, to, std::span(octets).first(n));
    if (i % 10 == 0) pair_.run_for(Duration{1'000'000});
  }
  pair_.run();
  // A PDC may have died of it; nothing else has.
  pair_.completions(0);
  pair_.completions(1);
  pair_.fill(0, 10'000, 20'000, 3);
  pair_.post(0, pair_.write(0, 2, 10'000, kTo, 20'000));
  pair_.run();
  EXPECT_EQ(pair_.text(0), "2:success");
  EXPECT_TRUE(pair_.same(0, 10'000, 1, kTo, 20'000));
  for (std::size_t i = 0; i < 2; ++i) {
    const Counters& c = pair_.counters(i);
    EXPECT_EQ(c.received_packets.read(), c.taken_packets.read() + c.all_drops());
    EXPECT_EQ(pair_.engine(i).pdcs(), 0u);
  }
}

// Data of a READ that are not what one request has asked for: too few octets, or not where a packet's begin.
TEST(GarbageForReads, FailsTheReadAndDoesNotHoldThePdc) {
  struct Case {
    std::uint32_t octets, beside;
  };
  for (const Case c : {Case{100, 0}, Case{1024, 512}, Case{0, 0}}) {
    SCOPED_TRACE(c.octets);
    Pair pair;
    pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1 && s.request() != nullptr}; };
    pair.post(0, pair.read(0, 1, kTo, 0, 2048));
    pair.run_for(Duration{10'000'000});
    std::vector<Packet> data;
    for (const Seen& s : pair.log())
      if (s.from == 1 && s.request() != nullptr) data.push_back(s.packet);
    ASSERT_EQ(data.size(), 2u);
    for (Packet& p : data) {
      SesResponseValues& ses = std::get<SesResponseValues>(p.ses);
      ses.payload_length = static_cast<std::uint16_t>(c.octets);
      ses.message_offset = std::min(ses.message_offset, 1024u) - (ses.message_offset > 0 ? c.beside : 0);
      pair.inject(1, 0, p, std::vector<std::byte>(c.octets));
    }
    pair.run();
    EXPECT_EQ(pair.text(0), "1:refused UNCOR");
    pair.expect_clean();
  }
}

// From as many addresses as one likes.
class Strangers : public testing::Test {
 protected:
  Strangers() : engine_({{.most_rudi_replies = 3, .most_strangers = 4}, {}}, RngStream(Seed{1}, "strangers")) {
    const CqId cq = engine_.create_cq(16);
    key_ = engine_.memory()
               .add({.address = 0x1000,
                     .octets = memory_.size(),
                     .access = AccessSet(Access::kLocalWrite) | Access::kRemoteRead,
                     .memory = memory_.data()})
               .value();
    context_ = engine_.create_context({.cq = cq});
    engine_.peer({.source_mac = {}, .next_hop_mac = {}, .source = kOwn, .destination = kNamed});
  }
  std::optional<Drop> hear(wire::IpAddress from, const Pds& pds, const Ses& ses) {
    InPacket in;
    in.packet = {.pds = pds, .ses = ses};
    in.source = from;
    in.destination = kOwn;
    return engine_.on_packet({}, in);
  }
  static wire::IpAddress stranger(std::uint32_t i) { return wire::IpAddress(0x0B000000u + i); }
  SesRequestValues request(SesOpcode opcode) const {
    return {
        .opcode = opcode, .rel = true, .eom = true, .som = true, .message_id = 1, .job_id = 1, .resource_index = 15};
  }

  inline static const wire::IpAddress kOwn{0x0A000001u}, kNamed{0x0A000002u};
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
  Engine engine_;
  MemoryRegions::Key key_ = 0;
  ContextId context_{};
};

TEST_F(Strangers, AreNotRememberedForWhatNobodyWaitsFor) {
  const auto datagram = [&](std::uint32_t i) {
    return hear(stranger(i), PdsUudValues{}, request(SesOpcode::kDatagramSend));
  };
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(datagram(i), Drop::kNoMatch);
  EXPECT_EQ(engine_.peers(), 1u);
  ASSERT_TRUE(engine_.post_receive({}, context_, {.wr_id = 1}).has_value());
  EXPECT_EQ(datagram(3), std::nullopt);
  EXPECT_EQ(engine_.peers(), 2u);
}

TEST_F(Strangers, AreAnsweredAsLongAsThereIsRoomForThem) {
  const auto lost = [&](wire::IpAddress from) {
    return hear(from, PdsRequestValues{.psn = 9, .spdcid = 5, .dpdcid = 77}, request(SesOpcode::kWrite));
  };
  const auto syn = [&](wire::IpAddress from) {
    return hear(from, PdsRequestValues{.syn = true, .psn = 9, .spdcid = 5}, request(SesOpcode::kWrite));
  };
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(lost(stranger(i)), Drop::kUnknownPdc);
  EXPECT_EQ(engine_.peers(), 1u + 4u);
  EXPECT_EQ(engine_.counters().sent(NackCode::kInvDpdcid), 4u);
  EXPECT_EQ(syn(stranger(9)), Drop::kNoPeer);
  EXPECT_EQ(syn(stranger(2)), std::nullopt) << "who is known is taken";
  EXPECT_EQ(syn(kNamed), std::nullopt);
}

TEST_F(Strangers, ReadsWithoutAPdcAreRefusedWhenTheirDataDoNotLeave) {
  SesRequestValues read = request(SesOpcode::kRead);
  read.request_length = 1024;
  read.match_bits = key_ | kIdempotentSafe;
  const auto ask = [&](wire::IpAddress from, std::uint32_t id) {
    return hear(from, PdsRudiValues{.type = PdsType::kRudiReq, .pkt_id = id}, read);
  };
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(ask(kNamed, i), std::nullopt);
  EXPECT_EQ(ask(kNamed, 3), Drop::kNoResource);
  EXPECT_EQ(engine_.counters().sent(NackCode::kNoResource), 1u);
  EXPECT_EQ(ask(stranger(1), 4), std::nullopt) << "of each peer so many";
  OutPacket out;
  std::size_t sent = 0;
  for (const Priority p : {engine_.config().data, engine_.config().control})
    while (engine_.send({}, p, out)) ++sent;
  EXPECT_EQ(sent, 5u);
  EXPECT_EQ(ask(kNamed, 5), std::nullopt) << "they have left";
}

}  // namespace
}  // namespace railyard::uet
