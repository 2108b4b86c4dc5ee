// Credit of receivers (RCCC, UE-Spec 1.0 §3.6.14; uet §9.6): asked for, granted, and asked for again when it is lost.
//
// A PDC is a congestion control context of its own, number 0. Its requests are RUD_CC_REQ or ROD_CC_REQ; so are data of READs,
// whose reader grants the credit.
//
// DEVIATION: uet §9.6 has a CREDIT_REQ once per round trip after a timeout. Here it goes at once if nothing that was asked
// for is still to come; then after an RTO, which doubles, or after twice the time that credit took lately, since each of a
// thousand senders waits long for its turn. It is answered at once by what is granted so far: a lost CREDIT costs no turn,
// and who waits hears that its receiver is there.
#include <algorithm>

#include "dataplane/base/planted_bug.h"
#include "transports/uet/engine.h"

namespace railyard::uet {

// PDCs that share this port with the one that sends now.
std::uint32_t Engine::others_in_line() const noexcept {
  std::size_t sum = 0;
  for (const DataLine& line : data_lines_) sum += line.pdcs.size();
  return static_cast<std::uint32_t>(sum);
}

// All that it may be granted, as the next packet says it. With a window, no more than that lets go.
Credit Engine::ask_for_credit(Pdc& pdc) noexcept {
  const std::uint32_t packet = pdc.credit->config().packet;
  std::int64_t wanted = pdc.to_send(packet);
  if (const Nscc* const nscc = pdc.congestion.nscc())
    wanted = std::min(wanted, static_cast<std::int64_t>(nscc->cwnd()) + packet);
  return pdc.credit->ask(wanted, others_in_line());
}

void Engine::spend_credit(Pdc& pdc, const SentPacket& packet) noexcept {
  if (!pdc.credit || packet.cargo.is_control()) return;
  if (pdc.credit->speculates()) fep_.counters.speculative_packets.increment();
  pdc.credit->on_sent(packet.octets);
}

// A packet is sent for the first time. An error is the last of its message, whatever was to come.
void Engine::take_off_backlog(Pdc& pdc, const SentPacket& packet) noexcept {
  const bool all = packet.cargo.index == Initiator::kErrorPacket;
  pdc.backlog -= all ? initiator_.octets_to_send(packet.cargo.item, pds_octets(pdc)) : packet.octets;
}

// ---- The receiver ----

void Engine::on_demand(Instant now, Pdc& pdc, std::uint32_t target) {
  pacer_.on_demand(now, pdc.id.value, pdc.grants, Credit(target));
  if (pacer_.next() <= now) grant_due(now);
}

// Those whose turn it is until `now`.
void Engine::grant_due(Instant now) {
  while (pacer_.next() <= now) {
    const Instant at = pacer_.next();
    const std::uint32_t id = pacer_.take();
    Pdc* const pdc = table_.find(static_cast<std::uint16_t>(id));
    // It may be gone, and another may have its number now. (One that was asked to close may have data to send before.)
    if (pdc == nullptr || !pdc->grants.asks) continue;
    if (!pacer_.grant(at, id, pdc->grants)) continue;
    fep_.counters.credits_sent.increment();
    // An ACK that waits says it as well.
    const bool is_said = acks_carry_credit(*pdc) && !pdc->control.empty() &&
                         pdc->control[pdc->control.size() - 1].kind == PendingControl::Kind::kAck;
    if (!is_said) push_cp(*pdc, CtlType::kCredit, Psn{}, credit_payload(pdc->grants.granted.value()), 0);
    line_up_control(now, *pdc);
  }
}

// A sender without a window needs neither times nor octets that have arrived: the same 64 bits are for credit.
bool Engine::acks_carry_credit(const Pdc& pdc) const noexcept {
  return fep_.config.ack_cc && pdc.grants.asks && pdc.congestion.nscc() == nullptr;
}

void Engine::on_credit_req(Instant now, Pdc& pdc, std::uint32_t target) {
  fep_.counters.credit_requests_received.increment();
  on_demand(now, pdc, target);
  fep_.counters.credits_sent.increment();
  push_cp(pdc, CtlType::kCredit, Psn{}, credit_payload(pdc.grants.granted.value()), 0);
}

// ---- The sender ----

void Engine::on_credit(Instant now, Pdc& pdc, std::uint32_t granted) noexcept {
  if (!pdc.credit->on_grant(Credit(granted))) return;
  fep_.counters.credits_received.increment();
  hear_of_credit(now, pdc);
}

std::optional<Drop> Engine::on_credit_cp(Instant now, Pdc& pdc, const PdsCpValues& cp) {
  if (!pdc.credit) return Drop::kUnexpected;
  if (pdc.remote == 0) learn_target(pdc, cp.spdcid);
  pdc.credit->on_heard();
  on_credit(now, pdc, cp.credit());
  hear_of_credit(now, pdc);  // its receiver is there
  return std::nullopt;
}

// How long credit is waited for before it is asked for again: it comes in turn, and takes the longer the more senders there
// are.
Duration Engine::credit_patience(const Pdc& pdc) const noexcept {
  return std::max(rto(pdc, pdc.credit_tries), pdc.credit_takes * 2);
}

void Engine::hear_of_credit(Instant now, Pdc& pdc) noexcept {
  pdc.credit_tries = 0;
  if (pdc.credit_at != Instant::never()) pdc.credit_at = now + credit_patience(pdc);
}

// Whether credit is missing, and who is to be asked when.
void Engine::watch_credit(Instant now, Pdc& pdc) {
  const bool misses = !pdc.has_credit() && pdc.remote != 0 && pdc.to_send(pdc.credit->config().packet) > 0;
  if (!misses) {
    if (pdc.credit_at == Instant::never()) return;
    const Duration took = now - pdc.credit_since;
    pdc.credit_takes = took > pdc.credit_takes ? took : pdc.credit_takes - (pdc.credit_takes - took) / 8;
    pdc.credit_at = Instant::never();
    pdc.credit_tries = 0;
    return;
  }
  if (pdc.credit_at != Instant::never() || planted(PlantedBug::kGrantNeverAskedFor)) return;
  pdc.credit_since = now;
  if (!pdc.credit->waits()) request_credit(pdc);
  pdc.credit_at = now + credit_patience(pdc);
}

void Engine::request_credit(Pdc& pdc) {
  fep_.counters.credit_requests_sent.increment();
  push_cp(pdc, CtlType::kCreditReq, Psn{}, credit_req_payload(0, ask_for_credit(pdc).value()), 0);
}

// No credit has come for long, nor any other sign of the receiver.
void Engine::on_credit_timer(Instant now, Pdc& pdc) {
  if (++pdc.credit_tries > fep_.config.retries) return fail(now, pdc, Status::kRetryExceeded, After::kFail);
  request_credit(pdc);
  pdc.credit_at = now + credit_patience(pdc);
}

}  // namespace railyard::uet
