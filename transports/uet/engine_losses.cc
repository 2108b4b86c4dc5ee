// Which packets are lost, and not only late, where nobody says so (RACK-TLP, RFC 8985): one that was overtaken is lost
// when it is away for longer than any lately was and a reordering window more (pds/reorder_window.h). When nothing was
// heard for so long, the newest goes again: its answer says of all before it.
//
// In a class that switches keep lossless a packet may be late for as long as its path is paused, while other paths go
// on. There time shows nothing. But where switches choose the path by hash, packets of one entropy value stay in order:
// when something later of its value has arrived, a packet is lost, not paused: a new packet, one that goes again, or a
// PROBE. A PROBE goes when a packet would be lost by time, in its class and with its value: while the path is paused it
// waits, too. Silence makes PROBEs go for all that is in flight; nothing goes again for it.
//
// Where switches choose a path for each packet (spray, DRILL, adaptive, flowlet) what is sent behind a packet takes any
// of the paths. If that of a packet is paused, some of what came behind waits there, too: of n equal paths one in n. So
// a packet that is late is lost when many have come that were sent behind it, and few that were sent as long ago are
// missing. In silence PROBEs show it, counted in the same way. While the NIC is paused nothing goes,
// and so nothing is lost. What cannot be told from a loss is a packet on a paused path that switches have avoided
// since: it goes again once, and others are waited for as long (ReorderWindow::came_after_all()).
//
// ROD has one path, which keeps its order in any class: its tail is asked after by PROBEs, too.
//
// DEVIATION: the simulator (uet §9.5) counts. When more than a window and a half has come out of order, all that is
// missing is lost: sprayed packets that are only late, too, and never the last ones.
#include <algorithm>

#include "transports/uet/engine.h"

namespace railyard::uet {
namespace {

// Whether all before it have arrived.
bool is_alone(SentPackets& sent, Psn last) noexcept {
  for (Psn psn = sent.una(); psn != last; ++psn)
    if (!sent.at(psn).received) return false;
  return true;
}

// Whether a packet of a sprayed lossless class is lost, when so many that were sent behind it have come, and so many are
// missing. On one of n equal paths that is paused one in n would be.
constexpr bool is_loss(std::uint32_t arrived, std::uint32_t missing) noexcept {
  constexpr std::uint32_t kBehind = 32;
  constexpr std::uint32_t kForMissing = 16;
  return arrived >= kBehind + kForMissing * missing;
}

}  // namespace

Duration Engine::patience(const Pdc& pdc) const noexcept { return std::min(pdc.reorder.patience(), rto(pdc)); }

// An answer that only the first transmission of what was taken for lost can have brought about. Of many one is watched.
void Engine::note_first_of(Instant now, Pdc& pdc, Psn psn) {
  if (psn != pdc.watched || now >= pdc.watched_until) return;
  pdc.reorder.came_after_all(now - pdc.watched_sent);
  pdc.watched_until = {};
}

// After an ACK that says what has come behind a gap.
void Engine::watch_overtaken(Instant now, Pdc& pdc) {
  if (!infers_loss(pdc) || !pdc.reorder.known()) return;
  if (is_lossless(pdc)) {
    if (pdc.any_passed || (pdc.sent.any_overtaken() && now >= pdc.look_from)) infer_losses(now, pdc);
    return;
  }
  if (pdc.late_at != Instant::never() || !pdc.sent.any_overtaken()) return;
  // None is older than the first.
  pdc.late_at = pdc.sent.front().sent_at + patience(pdc);
  if (pdc.late_at <= now) infer_losses(now, pdc);
}

void Engine::infer_losses(Instant now, Pdc& pdc) {
  const Duration longest = patience(pdc);
  const bool any = is_sprayed_lossless(pdc) && !pdc.is_rod() ? infer_by_spread(now, pdc, longest)
                   : is_lossless(pdc) || pdc.is_rod()        ? infer_by_path(now, pdc, longest)
                                                             : infer_by_time(now, pdc, longest);
  if (any) pdc.reorder.lost();
}

void Engine::take_for_lost(Instant now, Pdc& pdc, Psn psn, Duration longest) {
  const SentPacket& p = pdc.sent.at(psn);
  fep_.counters.inferred_losses.increment();
  pdc.congestion.on_loss(p.octets);
  lose(now, pdc, psn, PathFeedback::kTrimmed);
  if (pdc.is_rod()) go_back(pdc, psn);
  if (now < pdc.watched_until) return;
  pdc.watched = psn;
  pdc.watched_sent = p.sent_at;
  // A pause may be long.
  constexpr std::int64_t kPartOfTimeout = 8;
  pdc.watched_until = now + (is_lossless(pdc) ? std::max(longest * 4, rto(pdc) / kPartOfTimeout) : longest * 4);
}

// Whether anything was taken for lost.
bool Engine::infer_by_time(Instant now, Pdc& pdc, Duration longest) {
  SentPackets& sent = pdc.sent;
  bool any = false;
  pdc.late_at = Instant::never();
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn) {
    const SentPacket& p = sent.at(psn);
    if (p.received || p.lost) continue;
    const bool overtaken = p.sent_at < pdc.newest_heard;
    const Instant due = p.sent_at + longest;
    if (overtaken && due <= now) {
      take_for_lost(now, pdc, psn, longest);
      any = true;
      continue;
    }
    if (overtaken) pdc.late_at = std::min(pdc.late_at, due);
    if (p.transmissions == 1) break;  // the others were sent later, for whichever time
  }
  return any;
}

// The same in a lossless class. What would be lost by time, and nothing on its path shows it, is asked after on its
// path. In silence that is all that is in flight.
bool Engine::infer_by_path(Instant now, Pdc& pdc, Duration longest) {
  SentPackets& sent = pdc.sent;
  bool any = false;
  pdc.any_passed = false;
  pdc.look_from = now + longest / 4;
  pdc.late_at = Instant::never();
  for (PathProbe& probe : pdc.path_probes.all()) probe.wanted = false;
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn) {
    const SentPacket& p = sent.at(psn);
    if (p.received || p.lost) continue;
    const bool is_late = p.sent_at < pdc.newest_heard || pdc.tail_tries > 0;
    if (!p.passed && (!is_late || p.cargo.is_control())) continue;
    const Instant due = p.sent_at + longest;
    if (due > now) {
      pdc.late_at = std::min(pdc.late_at, due);
    } else if (p.passed) {
      take_for_lost(now, pdc, psn, longest);
      any = true;
    } else {
      ask_on_path(now, pdc, psn, p.entropy);
    }
  }
  pdc.path_probes.drop_unwanted();
  return any;
}

// The same where switches spray the class.
bool Engine::infer_by_spread(Instant now, Pdc& pdc, Duration longest) {
  SentPackets& sent = pdc.sent;
  bool any = false;
  const Duration often = longest / 4;
  pdc.look_from = now + often;
  pdc.late_at = Instant::never();
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn) {
    const SentPacket& p = sent.at(psn);
    if (p.received || p.lost || p.cargo.is_control()) continue;
    const bool is_passed = p.sent_at < pdc.spread_passed;
    if (!is_passed && p.sent_at >= pdc.newest_heard) continue;
    const Instant due = p.sent_at + longest;
    if (due > now) {
      pdc.late_at = std::min(pdc.late_at, due);
      continue;
    }
    // What was sent since may be under way still.
    const SentPackets::Behind behind = sent.sent_behind(p.sent_at, now - longest / 2);
    if (is_passed || is_loss(behind.arrived, behind.missing)) {
      take_for_lost(now, pdc, psn, longest);
      any = true;
    } else {
      pdc.late_at = std::min(pdc.late_at, now + often);
    }
  }
  return any;
}

// By a series of PROBEs. Those of the one before that have not come back are lost, or wait.
void Engine::ask_on_all_paths(Instant now, Pdc& pdc, Psn psn) {
  if (pdc.remote == 0) return;
  if (pdc.tail_tries <= 1) {
    pdc.spread_from = now;
    pdc.spread_answered = pdc.spread_missing = 0;
  } else {
    pdc.spread_missing += static_cast<std::uint32_t>(pdc.path_probes.all().size());
  }
  pdc.path_probes.clear();
  std::uint16_t entropy = pdc.sent.at(psn).entropy;
  while (pdc.path_probes.add(entropy, psn, PathProbes::kSpread)) ++entropy;
}

// By a PROBE, unless one of this entropy value is under way, or was lately.
void Engine::ask_on_path(Instant now, Pdc& pdc, Psn psn, std::uint16_t entropy) {
  if (pdc.remote == 0) return;
  PathProbe* const known = pdc.path_probes.of(entropy);
  if (known == nullptr) {
    pdc.path_probes.add(entropy, psn);
    return;
  }
  const bool is_first = !known->wanted;
  known->wanted = true;
  if (known->waits) return;
  if (is_first && known->until <= now) return pdc.path_probes.repeat(*known, psn);
  pdc.late_at = std::min(pdc.late_at, known->until);
}

// What a PROBE is waited for: as a tail, and twice as long each time. A pause may be long, or the PROBE is lost.
Duration Engine::path_probe_takes(const Pdc& pdc, std::uint8_t tries) const noexcept {
  const Duration once = patience(pdc);
  return std::max(once, std::min(once * (std::int64_t{1} << tries), rto(pdc)));
}

// One has come back: what was sent before it on its way, and is not there, was not paused.
void Engine::on_path_probe_answer(Instant now, Pdc& pdc, std::uint16_t id) {
  const PathProbe* const probe = pdc.path_probes.answered(id);
  if (probe == nullptr) return;
  if (is_sprayed_lossless(pdc)) {
    pdc.path_probes.erase(*probe);
    if (!is_loss(++pdc.spread_answered, pdc.spread_missing)) return;
    pdc.spread_passed = pdc.spread_from;
    return infer_losses(now, pdc);
  }
  constexpr std::uint32_t kNamed = 64;  // by a SACK
  const bool any = pdc.sent.mark_passed(probe->from, probe->from + kNamed, probe->entropy, probe->sent_at);
  pdc.path_probes.erase(*probe);
  if (any) infer_losses(now, pdc);
}

// Something was heard, or sent. Twice as long as of one that was overtaken (RFC 8985 §7.2: twice the round trip), and
// twice that with each try that is not heard of either, but no more than four times as long: a link that is free again,
// or back, is found that soon, whatever the timeouts have come to. (What keeps tries apart where many share a full
// queue is the window, which is halved with each packet that was alone and lost, and its pacing.) In a lossless class
// up to RTO_INIT: silence mostly is a pause. With rto-backoff: none no try waits longer.
//
// DEVIATION: RFC 8985 tries once and leaves the rest to the timeout. Here that is many round trips, and doubles, too.
void Engine::set_tail(Instant now, Pdc& pdc) {
  pdc.tail_at = Instant::never();
  if (!watches_tail(pdc) || pdc.sent.empty()) return;
  constexpr int kMostDoublings = 2;
  const int most = !fep_.config.rto_doubles ? 0 : is_lossless(pdc) ? pdc.tail_tries : kMostDoublings;
  const int doublings = std::min<int>(pdc.tail_tries, most);
  Duration once = patience(pdc) * 2;
  if (is_lossless(pdc) && !asks_on_paths(pdc)) {
    // Silence mostly is a pause: it is listened to for a good part of a timeout before.
    constexpr std::int64_t kPartOfTimeout = 8;
    once = std::max(once, rto(pdc) / kPartOfTimeout);
  }
  pdc.tail_at = now + std::max(once, std::min(once * (std::int64_t{1} << doublings), rto(pdc)));
}

// Whether what is missing at the end is asked after by PROBEs on its path, and not sent again.
bool Engine::asks_on_paths(Pdc& pdc) const noexcept {
  if (pdc.remote == 0 || !(is_lossless(pdc) || pdc.is_rod())) return false;
  return !pdc.sent.at(pdc.sent.next() - 1).cargo.is_control();
}

// All that may go has gone, and nothing was heard for long: the last packet goes again. Of a window of one that is a
// loss, for it has no other sign; of more, what the answer shows to be missing is. (Of READs the data may be what
// brings the rest about.)
//
// Where so many begin at once that the round trip grows fourfold while nothing is heard, the answer is on its way, and
// a packet goes for nothing; its window does not suffer. Others whose tail is lost have heard as little, for as long.
//
// In a lossless class nothing goes again: what is missing is asked after.
void Engine::on_tail(Instant now, Pdc& pdc) {
  constexpr std::uint8_t kMostDoublings = 16;
  SentPackets& sent = pdc.sent;
  pdc.tail_at = Instant::never();
  if (!sent.any_in_flight() && !sent.any_lost()) return;  // only responses are missing
  if (initiator_.waits_for_reads(pdc)) return;
  // The timeout stays that of what is missing now, whatever goes again before it.
  if (pdc.timeouts == 0 && pdc.tail_tries == 0 && !has_packet_timers(pdc)) {
    const Instant due = rto_due(pdc);
    pdc.rto_from = due == Instant::never() ? now : due - rto(pdc);
  }
  if (pdc.tail_tries < kMostDoublings) ++pdc.tail_tries;
  if (asks_on_paths(pdc)) {
    if (is_sprayed_lossless(pdc)) {
      ask_on_all_paths(now, pdc, sent.una());
    } else {
      infer_by_path(now, pdc, patience(pdc));
    }
    pdc.one_beyond_window = pdc.one_beyond_window || sent.any_lost();
    return set_tail(now, pdc);
  }
  if (!sent.any_lost()) {
    Psn psn = sent.next() - 1;
    while (sent.at(psn).received) psn = psn - 1;
    // In a lossless class it may wait behind a pause: the window does not suffer.
    if (is_alone(sent, psn) && !is_lossless(pdc)) {
      pdc.congestion.on_loss(sent.at(psn).octets);
    } else {
      pdc.congestion.on_returned(sent.at(psn).octets);
    }
    sent.mark_lost(psn);
  }
  pdc.one_beyond_window = true;
  set_tail(now, pdc);
}

}  // namespace railyard::uet
