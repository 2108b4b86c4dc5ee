// Who sends when: lines, windows and timers.
#include <algorithm>
#include <utility>

#include "transports/uet/engine.h"

namespace railyard::uet {
namespace {

constexpr std::uint8_t kMostNoopDoublings = 6;  // of the time between two NOOPs

}  // namespace

// Before the target is known no more than psn_offset can say (uet §5.3).
bool Engine::window_open(const Pdc& pdc) const noexcept {
  const std::uint32_t outstanding = pdc.sent.size();
  if (outstanding >= fep_.config.window) return false;
  const std::int32_t ahead = pdc.sent.next() - pdc.peer_cack;  // of the next packet
  const auto first = static_cast<std::int32_t>(std::min(fep_.config.first_range, 4096u));
  if (pdc.remote == 0 && pdc.initiator && pdc.sent.next() - pdc.start >= first) return false;
  return pdc.peer_range == 0 || ahead <= static_cast<std::int32_t>(pdc.peer_range);
}

// A control packet that takes a PSN, for the first time or again. It is kept and counted as data are but goes in the
// class of ACKs, behind those that are made: in another class a close would overtake them, and to a target whose data
// are not acknowledged that is a close in error (uet §5.11).
bool Engine::has_counted_cp(Pdc& pdc) noexcept {
  if (pdc.sent.any_lost()) return pdc.sent.at(pdc.sent.first_lost()).cargo.is_control();
  return (pdc.close_due || (pdc.noop_due && pdc.reads_in_flight > 0)) && window_open(pdc);
}

Cargo Engine::next_counted_cp(const Pdc& pdc) const noexcept {
  if (!pdc.close_due) return {.kind = Cargo::Kind::kNoop};
  return {.kind = pdc.initiator ? Cargo::Kind::kCloseCmd : Cargo::Kind::kCloseReq};
}

bool Engine::next_cargo(Pdc& pdc, NextCargo& next) {
  if (!pdc.read_jobs.empty()) {
    next.cargo = {.kind = Cargo::Kind::kReadData, .item = pdc.read_jobs.front()};
    next.octets = pds_octets(pdc) + static_cast<std::uint32_t>(SesResponseData::kOctets) + target_.read_job(next.cargo.item).octets;
    return true;
  }
  if (!initiator_.peek(pdc, next.cargo, next.octets)) return false;
  next.octets += pds_octets(pdc);
  return true;
}

// Whether a packet could go as far as the window is concerned; if none goes again, `next` is what it is made of. A
// control packet that may not go yet waits here, too.
bool Engine::has_data(Instant now, Pdc& pdc, NextCargo& next) {
  if (pdc.path_probes.any_waiting()) [[unlikely]]
    return true;
  if (has_counted_cp(pdc)) return pdc.blocked_until > now;
  if (!pdc.has_credit()) return false;
  if (pdc.sent.any_lost()) {
    // What a PROBE has found goes again beyond the window (uet §9.5); and something always may be under way.
    return pdc.blocked_until > now || pdc.recovering || pdc.one_beyond_window || !pdc.sent.any_in_flight() ||
           pdc.congestion.allows(pdc.sent.at(pdc.sent.first_lost()).octets);
  }
  if (!window_open(pdc) || !next_cargo(pdc, next)) return false;
  return !pdc.sent.any_in_flight() || pdc.congestion.allows(next.octets);
}

void Engine::line_up(Instant now, Pdc& pdc) {
  if (pdc.credit) [[unlikely]]
    watch_credit(now, pdc);
  line_up_control(now, pdc);
  if (!pdc.in_data_line && has_data(now, pdc)) line_up_data(now, pdc);
}

void Engine::line_up_control(Instant now, Pdc& pdc) {
  if (pdc.in_control_line) return;
  const bool any =
      !pdc.control.empty() || (pdc.clear_due && pdc.remote != 0) || (pdc.blocked_until <= now && has_counted_cp(pdc));
  if (!any) return;
  pdc.in_control_line = true;
  control_line_.push(pdc.id.value);
}

// It has some.
void Engine::line_up_data(Instant now, Pdc& pdc) {
  pdc.in_data_line = true;
  const Instant from = pdc.data_from();
  if (from > now) {
    wakes_.push({from, pdc.id.value, true});
  } else {
    data_lines_[pdc.data_class].pdcs.push(pdc.id.value);
  }
}

// After anything that may have changed a PDC.
void Engine::settle(Instant now, Pdc& pdc) {
  if (!pdc.live()) return;
  if (!pdc.idle()) {
    pdc.idle_since = now;
  } else if (pdc.state == PdcState::kQuiesce && !pdc.close_due) {
    pdc.close_due = true;
  }
  line_up(now, pdc);
  set_timer(pdc);
}

// As the target's own timer does: when its data are given up a NOOP comes soon after.
Duration Engine::noop_after(const Pdc& pdc) const noexcept {
  return fep_.config.rto_init * (std::int64_t{1} << pdc.noops);
}

Instant Engine::deadline(const Pdc& pdc) const noexcept {
  Instant at = std::min({pdc.rto_at, pdc.probe_at, pdc.late_at, pdc.credit_at});
  if (!pdc.inbound.empty()) at = std::min(at, pdc.halves_at);
  if (!pdc.in_data_line) at = std::min(at, pdc.tail_at);
  const EngineConfig& c = fep_.config;
  if ((pdc.state == PdcState::kEstablished || pdc.state == PdcState::kSyn) && pdc.initiator && pdc.idle())
    at = std::min(at, pdc.idle_since + c.idle_close);
  if (pdc.waits_for_peer()) at = std::min({at, pdc.idle_since + noop_after(pdc), pdc.give_up_at});
  if (!pdc.initiator)
    at = std::min(at, pdc.idle_since + (pdc.state == PdcState::kClosing ? c.close_req_time : c.target_waits()));
  return at;
}

// One wake at a time is enough for a timer that mostly moves on: when it comes and the deadline is later, it is set
// again.
void Engine::set_timer(Pdc& pdc) {
  const Instant at = deadline(pdc);
  if (at >= pdc.timer_at) return;
  pdc.timer_at = at;
  wakes_.push({at, pdc.id.value, false});
}

void Engine::run_what_is_due(Instant now) {
  for (;;) {
    const Instant retry = initiator_.next_retry();
    const Instant wake_at = wakes_.empty() ? Instant::never() : wakes_.top().at;
    const Instant rudi_at = rudi_wakes_.empty() ? Instant::never() : rudi_wakes_.top().at;
    const Instant next = std::min({retry, wake_at, rudi_at, pacer_.next()});
    if (next > now || next == Instant::never()) return;
    if (pacer_.next() == next) {
      grant_due(next);
      continue;
    }
    if (rudi_at == next) {
      const Wake wake = rudi_wakes_.top();
      rudi_wakes_.pop();
      if (wake.paced) {
        on_rudi_wake(wake.at, wake.slot);
      } else {
        on_rudi_timer(wake.at, wake.slot);
      }
      continue;
    }
    if (retry <= wake_at) {
      enqueue(retry, initiator_.take_retry());
      continue;
    }
    const Wake wake = wakes_.top();
    wakes_.pop();
    if (wake.slot == 0) {
      if (wake.at != waiting_until_) continue;
      // Messages that have waited for a PDC.
      waiting_until_ = Instant::never();
      const std::vector<std::uint32_t> waiting = std::exchange(waiting_, {});
      waited_for_.clear();
      for (const std::uint32_t message : waiting) enqueue(wake.at, message);
      continue;
    }
    Pdc* const pdc = table_.find(static_cast<std::uint16_t>(wake.slot));
    if (pdc == nullptr) continue;
    if (wake.paced) {
      if (!pdc->in_data_line) continue;
      pdc->in_data_line = false;
      line_up(wake.at, *pdc);
      if (pdc->in_data_line) continue;
      set_tail(wake.at, *pdc);
      set_timer(*pdc);
    } else if (wake.at == pdc->timer_at) {
      pdc->timer_at = Instant::never();
      if (deadline(*pdc) <= wake.at) on_timer(wake.at, *pdc);
      if (pdc->live()) settle(wake.at, *pdc);
    }
  }
}

void Engine::on_timer(Instant now, Pdc& pdc) {
  // PROBEs and later packets are answered, so that no timeout comes; a packet that never arrives ends it all the same.
  if (!pdc.sent.empty() && !pdc.sent.front().received && is_cut_for_ever(now, pdc, pdc.sent.una()))
    return fail(now, pdc, Status::kRetryExceeded, After::kFail);
  if (pdc.credit_at <= now) return on_credit_timer(now, pdc);
  if (pdc.rto_at <= now) return on_rto(now, pdc);
  if (pdc.probe_at <= now) return on_probe(now, pdc);
  if (pdc.late_at <= now) return infer_losses(now, pdc);
  if (pdc.tail_at <= now && !pdc.in_data_line) return on_tail(now, pdc);
  if (!pdc.inbound.empty() && pdc.halves_at <= now) {
    pdc.halves_at = target_.give_up_halves(now, pdc);
    return;
  }
  if (pdc.waits_for_peer()) {
    if (pdc.give_up_at <= now) return fail(now, pdc, Status::kPdcFailed, After::kFail);
    // DEVIATION: no source says how an initiator learns that the target has given up what it reads. A NOOP is what the
    // standard has for keeping a PDC alive (UE-Spec §3.5.16); without the PDC it is answered INV_DPDCID.
    if (pdc.noops == 0) pdc.give_up_at = now + fep_.config.target_waits();
    pdc.noops = std::min<std::uint8_t>(kMostNoopDoublings, static_cast<std::uint8_t>(pdc.noops + 1));
    pdc.noop_due = fep_.config.keep_alive;
    return;
  }
  if (pdc.initiator && pdc.remote == 0) {
    fep_.counters.pdcs_closed.increment();
    return free(now, pdc);  // nothing was ever sent
  }
  if (pdc.initiator) return quiesce(pdc);  // idle for long
  if (pdc.state != PdcState::kClosing) return ask_for_close(now, pdc);
  fail(now, pdc, Status::kPdcFailed, After::kFail);  // nobody closes it
}

// READ requests that wait for data to let more of them go: if these come slowly nobody was asked about the last ones,
// or not long ago, and that nothing was heard of them says nothing.
bool Engine::asks_first(Instant now, Pdc& pdc) {
  const SentPacket& first = pdc.sent.front();
  if (first.received || first.lost || first.cargo.kind != Cargo::Kind::kRequest || !initiator_.waits_for_reads(pdc))
    return false;
  if (!pdc.is_asked()) {
    push_cp(pdc, CtlType::kAckReq, pdc.sent.una(), initiator_.message(first.cargo.item).message_id, 0);
    pdc.asks(now, pdc.sent.una());
  }
  pdc.rto_at = pdc.asking_since + rto(pdc);
  return pdc.rto_at > now;
}

// After so many timeouts in a row. DEVIATION: uet §5.9 has RTO_INIT, doubled with each. A time below what answers have lately
// taken, or a little above it, says nothing of a loss (RFC 6298); before the first of them, one below what the longest
// path takes.
Duration Engine::rto(const Pdc& pdc, std::uint8_t timeouts) const noexcept {
  const std::int64_t doubled =
      fep_.config.rto_doubles ? std::int64_t{1} << std::min<int>(timeouts, EngineConfig::kMostDoublings) : 1;
  const Duration init = fep_.config.rto_init;
  if (pdc.answer_takes.ps == 0) [[unlikely]]
    return std::max(init, pdc.reorder.first_patience()) * doubled;
  return std::max(init * doubled, pdc.answer_takes * 2);
}

// The timeout of the oldest packet that is not acknowledged; of one that has arrived the time is that of its response,
// and goes by in silence only. What waits to go again has none; if that is all, Instant::never(). After a timeout it is
// that of all, whether what is to go again may go or not, but not before its turn comes; and since the first try of a
// tail, which others would put off for ever.
//
// With packet timers it is the first of theirs that ends.
Instant Engine::rto_due(const Pdc& pdc) const noexcept {
  const SentPackets& sent = pdc.sent;
  if (sent.empty()) return Instant::never();
  if (has_packet_timers(pdc)) return first_packet_timer(pdc);
  // Without credit that is no silence of the receiver's; credit has a timer of its own.
  if (sent.any_lost() && !sent.any_in_flight() && !pdc.has_credit()) return Instant::never();
  if (pdc.timeouts > 0 || pdc.tail_tries > 0) {
    const Instant turn = sent.any_in_flight() ? Instant{} : pdc.congestion.next_at();
    return std::max(pdc.rto_from, turn) + rto(pdc, pdc.timeouts);
  }
  if (!sent.any_in_flight() && !sent.at(sent.una()).received) return Instant::never();
  Instant oldest = Instant::never();
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn) {
    const SentPacket& p = sent.at(psn);
    if (p.lost || (p.received && psn != sent.una())) continue;
    oldest = std::min(oldest, p.received ? std::max(p.sent_at, pdc.rto_from) : p.sent_at);
  }
  return oldest + rto(pdc);
}

Instant Engine::first_packet_timer(const Pdc& pdc) const noexcept {
  const SentPackets& sent = pdc.sent;
  Instant due = Instant::never();
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn) {
    const SentPacket& p = sent.at(psn);
    if (p.lost || (p.received && psn != sent.una())) continue;
    const Instant from = p.received ? std::max(p.sent_at, pdc.heard_at) : p.sent_at;
    due = std::min(due, from + rto(pdc, p.timeouts));
  }
  return due;
}

// A packet leaves: its timer may be the first that ends.
void Engine::start_packet_timer(Instant now, Pdc& pdc, const SentPacket& packet) const noexcept {
  if (has_packet_timers(pdc)) pdc.rto_at = std::min(pdc.rto_at, now + rto(pdc, packet.timeouts));
}

// The PDC has failed when a packet has timed out once more than is allowed, and nothing was heard of any for as long.
void Engine::on_packet_timers(Instant now, Pdc& pdc) {
  fep_.counters.retransmission_timeouts.increment();
  const std::int64_t retries = fep_.config.retries;
  SentPackets& sent = pdc.sent;
  if (sent.front().received) ask_for_response(pdc);
  const Psn una = sent.una();
  bool silent = false;
  bool any = false;
  for (Psn psn = una; psn - sent.next() < 0; ++psn) {
    SentPacket& p = sent.at(psn);
    if (p.lost || p.answered || (p.received && psn != una)) continue;
    const Instant from = p.received ? std::max(p.sent_at, pdc.heard_at) : p.sent_at;
    // ROD: the target has thrown away what came behind.
    if (from + rto(pdc, p.timeouts) > now && !(pdc.is_rod() && any)) continue;
    any = true;
    if (p.timeouts < SentPacket::kMostCounted) ++p.timeouts;
    silent = silent || (p.timeouts > retries && now - pdc.heard_at >= fep_.config.rto_init * (retries + 1));
    if (p.received) {
      p.sent_at = now;  // it is asked about from now on
      continue;
    }
    pdc.congestion.on_loss(p.octets);
    lose(now, pdc, psn, PathFeedback::kTimeout);
  }
  if (silent) return fail(now, pdc, Status::kRetryExceeded, After::kFail);
  pdc.rto_at = rto_due(pdc);
}

// The oldest packet is there, but its response is not here.
void Engine::ask_for_response(Pdc& pdc) {
  const Cargo& cargo = pdc.sent.front().cargo;
  const std::uint32_t message = cargo.kind == Cargo::Kind::kRequest ? initiator_.message(cargo.item).message_id : 0u;
  push_cp(pdc, CtlType::kAckReq, pdc.sent.una(), message, 0);
}

void Engine::on_rto(Instant now, Pdc& pdc) {
  pdc.rto_at = rto_due(pdc);
  if (pdc.rto_at > now || asks_first(now, pdc)) return;
  if (has_packet_timers(pdc)) return on_packet_timers(now, pdc);
  fep_.counters.retransmission_timeouts.increment();
  if (++pdc.timeouts > fep_.config.retries) return fail(now, pdc, Status::kRetryExceeded, After::kFail);
  const Duration longest = rto(pdc);
  SentPackets& sent = pdc.sent;
  if (sent.front().received) ask_for_response(pdc);
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn) {
    const SentPacket& p = sent.at(psn);
    if (p.received || p.lost || (!pdc.is_rod() && p.sent_at + longest > now)) continue;
    pdc.congestion.on_loss(p.octets);
    lose(now, pdc, psn, PathFeedback::kTimeout);
  }
  pdc.rto_from = now;
  pdc.goes_after_timeout = true;
  pdc.rto_at = rto_due(pdc);
}

void Engine::on_probe(Instant now, Pdc& pdc) {
  pdc.probe_at = Instant::never();
  const Nscc* const nscc = pdc.congestion.nscc();
  if (nscc == nullptr || pdc.remote == 0 || pdc.sent.empty()) return;
  pdc.probe_at = now + nscc->base_rtt() * 5;
  pdc.probing = true;
  pdc.probed_at = now;
  push_cp(pdc, CtlType::kProbe, Psn{}, pdc.sent.una().value(), pdc.probe = ++pdc.probes);
  fep_.counters.probes_sent.increment();
}

// Of what is over, so that nobody asks to be looked at for it.
void Engine::drop_stale_wakes() {
  while (!wakes_.empty()) {
    const Wake wake = wakes_.top();
    if (wake.slot == 0) {
      if (!waiting_.empty() && wake.at == waiting_until_) return;
    } else if (const Pdc* const pdc = table_.find(static_cast<std::uint16_t>(wake.slot));
               pdc != nullptr && (wake.paced ? pdc->in_data_line : wake.at == pdc->timer_at)) {
      return;
    }
    wakes_.pop();
  }
}

// With a rate: a packet goes no sooner than the one before it takes, and no more than one is made up for. Of a READ what
// counts is what comes back.
void Engine::pace(Instant now, Pdc& pdc, Instant allowed, const Cargo& cargo, std::uint32_t octets) {
  if (pdc.rate.bps == 0) return;
  std::size_t packet = octets;
  if (cargo.kind == Cargo::Kind::kReadData) return;  // was paced where it was asked for
  if (cargo.kind == Cargo::Kind::kRequest) {
    const std::uint32_t data = initiator_.read_octets(cargo);
    if (data > 0) packet = pds_octets(pdc) + SesResponseData::kOctets + data;
  }
  const Duration takes = fep_.config.pacing.slowed(Bytes{wire_octets(pdc.peer, packet)} / pdc.rate);
  pdc.next_data = std::max(pdc.next_data, pdc.gaps.next(now, allowed, takes));
}

Readiness Engine::ready(Instant now) {
  run_due(now);
  drop_stale_wakes();
  return readiness();
}

Readiness Engine::readiness() const noexcept {
  Readiness r;
  if (!control_line_.empty() || !replies_.empty())
    r.classes = static_cast<PriorityMask>(r.classes | bit(fep_.config.control));
  for (const DataLine& line : data_lines_)
    if (!line.pdcs.empty() || has_connectionless(line))
      r.classes = static_cast<PriorityMask>(r.classes | bit(line.config.priority));
  r.until = next_due();
  return r;
}

}  // namespace railyard::uet
