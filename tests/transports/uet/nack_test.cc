// What a NACK of a packet that is outstanding brings about, code by code (uet §3.10).
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

enum class Then {
  kGoesAgain,       // that packet, at once
  kGoesAgainLater,  // that packet, after a while
  kAllGoAgain,      // all from the oldest, at once
  kAnotherPdc,      // the message goes again on a new PDC
  kFails,           // the PDC is closed in error, and the message with it
  kNothing          // until a timer says something
};

struct Answered {
  std::vector<std::uint32_t> again{};  // packets that go again before any timer, from 0
  Duration after = Duration{};         // the first of them: how long after the NACK came
  bool opened = false;                 // another PDC
  std::string text{};                  // completions by then,
  std::string in_the_end{};            // and after all timers
  bool narrower = false;               // the window
};

constexpr bool is_trim(unsigned code) { return code >= 0x01 && code <= 0x03; }

// Three packets of an established PDC are lost; a NACK says so of the middle one. Of a trim the others arrive: its
// window would not let it go beside them.
Answered nacked(NackCode code) {
  EngineConfig config = test_config();
  config.idle_close = Duration{1'000'000'000'000};
  config.infer_loss = false;  // nothing goes again but for the NACK
  Pair pair(config);
  pair.post(0, pair.write(0, 1, 0, 0, 10));
  pair.run_for(Duration{20'000'000});
  pair.completions(0);
  const auto opening = std::get<PdsRequestValues>(pair.log().at(0).packet.pds);
  std::uint16_t target = 0;
  for (const Seen& s : pair.log())
    if (s.ack() != nullptr) target = s.ack()->spdcid;

  const std::uint32_t first = opening.psn + 1;
  std::size_t sent = 0;
  pair.fate = [&](const Seen& s) {
    if (s.from != 0 || s.request() == nullptr || sent++ >= 3) return Fate{};
    return Fate{.lost = !is_trim(static_cast<unsigned>(code)) || s.request()->psn == first + 1};
  };
  pair.fill(0, 0, 3000);
  pair.post(0, pair.write(0, 2, 0, kTo, 3000));
  pair.run_for(Duration{2'000'000});
  EXPECT_EQ(sent, 3u);
  const auto window = [&] {
    const Pdc* const pdc = pair.engine(0).pdc(PdcId{opening.spdcid});
    return pdc == nullptr ? 0.0 : pdc->congestion.nscc()->cwnd();
  };
  const double before = window();
  const std::size_t seen = pair.log().size();
  pair.inject(
      1, 0,
      {.pds = PdsNackValues{
           .code = code, .nack_psn = first + 1, .spdcid = target, .dpdcid = opening.spdcid, .payload = 0x20000}});
  const Instant came = pair.now() + Pair::kDelay;
  pair.run_for(Duration{60'000'000});
  Answered o;
  o.narrower = window() > 0 && window() < before;
  for (std::size_t i = seen; i < pair.log().size(); ++i) {
    const PdsRequestValues* const r = pair.log()[i].request();
    if (pair.log()[i].from != 0 || r == nullptr) continue;
    if (r->syn) {
      o.opened = true;
      continue;
    }
    if (o.again.empty()) o.after = pair.log()[i].at - came;
    EXPECT_TRUE(r->retx);
    o.again.push_back(r->psn - first);
  }
  o.text = pair.text(0);
  pair.run();
  o.in_the_end = o.text + pair.text(0);
  if (o.in_the_end == "2:success") {
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
  }
  pair.expect_clean();
  return o;
}

Then expected_of(unsigned code) {
  switch (static_cast<NackCode>(code)) {
    case NackCode::kTrimmed:
    case NackCode::kTrimmedLasthop:
    case NackCode::kTrimmedAck:
    case NackCode::kPktNotRcvd:
    case NackCode::kAckWithData:
    case NackCode::kRcvrInferLoss:
    case NackCode::kExpNackNormal:
    case NackCode::kExpNackErr:
      return Then::kGoesAgain;
    case NackCode::kNoPdcAvail:
    case NackCode::kNoCccAvail:
    case NackCode::kNoBitmap:
    case NackCode::kNoPktBuffer:
    case NackCode::kNoGtdDelAvail:
    case NackCode::kNoSesMsgAvail:
    case NackCode::kNoResource:
    case NackCode::kPsnOorWindow:
      return Then::kGoesAgainLater;
    case NackCode::kRodOoo:
      return Then::kAllGoAgain;
    case NackCode::kInvDpdcid:
    case NackCode::kPdcHdrMismatch:
    case NackCode::kClosing:
      return Then::kAnotherPdc;
    case NackCode::kClosingInErr:
    case NackCode::kGtdRespUnavail:
    case NackCode::kInvalidSyn:
    case NackCode::kPdcModeMismatch:
    case NackCode::kUnexpEvent:
    case NackCode::kExpNackFatal:
      return Then::kFails;
    case NackCode::kNewStartPsn:   // too late: it is established
    case NackCode::kRcvdSesProcg:  // it is there; it is asked after, and then it is not
      return Then::kNothing;
  }
  return Then::kNothing;  // reserved
}

TEST(Nack, OfEachCodeBringsAboutWhatTheTableSays) {
  const std::vector<std::uint32_t> middle{1}, all{0, 1, 2}, none;
  const Duration soon{1'000'000}, backoff = test_config().nack_backoff;
  for (unsigned code = 0; code < 256; ++code) {
    SCOPED_TRACE(code);
    const Answered o = nacked(static_cast<NackCode>(code));
    const Then then = expected_of(code);
    const bool again = then == Then::kGoesAgain || then == Then::kGoesAgainLater;
    EXPECT_EQ(o.again, again ? middle : then == Then::kAllGoAgain ? all : none);
    if (then == Then::kGoesAgain || then == Then::kAllGoAgain) {
      EXPECT_LT(o.after, soon);
    }
    if (then == Then::kGoesAgainLater) {
      EXPECT_GE(o.after, backoff);
    }
    EXPECT_EQ(o.opened, then == Then::kAnotherPdc);
    const bool all_came = then == Then::kAnotherPdc || then == Then::kAllGoAgain || is_trim(code);
    EXPECT_EQ(o.text, then == Then::kFails ? "2:pdc_failed" : all_came ? "2:success" : "");
    EXPECT_EQ(o.in_the_end, then == Then::kFails ? "2:pdc_failed" : "2:success");
    EXPECT_EQ(o.narrower, is_trim(code)) << "only what was trimmed";
  }
}

}  // namespace
}  // namespace railyard::uet
