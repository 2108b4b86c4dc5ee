// A PDC that is established, and packets of our making on it.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {

// End 0 has a PDC to end 1 that is established and idle; end 2 is somebody else.
class Established : public testing::Test {
 protected:
  explicit Established(const EngineConfig& c = config()) : pair_(c, 3) {
    pair_.fill(0, 0, 3000);
    pair_.post(0, pair_.write(0, 1, 0, kTo, 3000));
    pair_.run_for(Duration{50'000'000});
    for (const Seen& s : pair_.log()) {
      if (const auto* r = s.request()) {
        first_ = s.packet;
        start_ = r->start_psn();
        if (!r->syn) break;
      }
      if (const auto* a = s.ack()) target_ = a->spdcid;
    }
    first_ = pair_.log()[0].packet;
    initiator_ = std::get<PdsRequestValues>(first_.pds).spdcid;
    start_ = std::get<PdsRequestValues>(first_.pds).psn;
    next_ = start_ + 3;
    seen_ = pair_.log().size();
  }
  static EngineConfig config() {
    EngineConfig c = test_config();
    c.idle_close = Duration{1'000'000'000'000};
    return c;
  }

  // A WRITE of no octets on that PDC.
  Packet request() const {
    Packet p;
    p.pds = PdsRequestValues{.ar = true, .clear_psn_offset = -1, .psn = next_, .spdcid = initiator_, .dpdcid = target_};
    SesRequestValues ses = std::get<SesRequestValues>(first_.ses);
    ses.request_length = 0;
    p.ses = ses;
    return p;
  }
  static PdsRequestValues& pds(Packet& p) { return std::get<PdsRequestValues>(p.pds); }
  Packet ack() const {
    Packet p;
    p.pds = PdsAckValues{.type = PdsType::kAckCc,
                         .next_hdr = NextHdr::kNone,
                         .cack_psn = next_ - 1,
                         .spdcid = target_,
                         .dpdcid = initiator_};
    return p;
  }
  Packet nack(NackCode code, std::uint32_t psn) const {
    Packet p;
    p.pds = PdsNackValues{.code = code, .nack_psn = psn, .spdcid = target_, .dpdcid = initiator_};
    return p;
  }

  // What end `to` answers to it: "" nothing.
  std::string answer(const Packet& packet, std::size_t from = 0, std::size_t to = 1) {
    const std::size_t before = pair_.log().size();
    pair_.inject(from, to, packet);
    pair_.run_for(Duration{20'000'000});
    std::string out;
    for (std::size_t i = before; i < pair_.log().size(); ++i)
      if (pair_.log()[i].from == to) out += (out.empty() ? "" : ", ") + pair_.log()[i].name();
    return out;
  }
  // The PDC does what it should.
  void expect_alive() {
    pair_.fill(0, 10'000, 20'000, 3);
    pair_.post(0, pair_.write(0, 2, 10'000, kTo, 20'000));
    pair_.run();
    EXPECT_EQ(pair_.text(0), "1:success 2:success");
    EXPECT_TRUE(pair_.same(0, 10'000, 1, kTo, 20'000));
    EXPECT_EQ(pair_.counters(0).pdcs_opened.read(), 1u);
    EXPECT_EQ(pair_.counters(0).pdcs_failed.read(), 0u);
    pair_.expect_clean();
  }
  std::uint64_t drops(std::size_t end, Drop reason) { return pair_.counters(end).drops(reason); }

  Pair pair_;
  Packet first_{};
  std::uint16_t initiator_ = 0, target_ = 0;
  std::uint32_t start_ = 0, next_ = 0;
  std::size_t seen_ = 0;
};

}  // namespace railyard::uet
