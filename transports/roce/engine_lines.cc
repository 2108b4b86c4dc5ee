// Who sends when: lines by class, pacing and timers.
#include <algorithm>

#include "dataplane/wire/fcs.h"
#include "transports/roce/engine.h"

namespace railyard::roce {
namespace {

// So many turns before its own a QP is fetched, and what it will send.
constexpr std::size_t kQpAhead = 8, kWorkAhead = 4;

std::uint32_t wire_octets(const OutPacket& out, Framing framing) noexcept {
  return framing.slot(static_cast<std::uint32_t>(out.path->header_octets() + out.packet.octets() + wire::kFcsOctets));
}

}  // namespace

// After anything that may have changed a QP.
void Engine::settle(Instant now, Qp& qp) {
  QpInfo& info = qp.info;
  if (info.state != QpState::kErr) {
    if (qp.responder.failed()) {
      to_error(qp, true);
    } else if ((info.type == QpType::kUc && qp.uc_receiver.failed()) ||
               (info.type == QpType::kRc && qp.requester.failed()) || info.send_cq->overrun() ||
               info.recv_cq->overrun()) {
      to_error(qp, false);
    } else if (qp.requester.failed() || (info.type == QpType::kUd && qp.datagrams.failed())) {
      info.state = QpState::kSqe;
      qp.requester.flush();
      qp.datagrams.flush();
    } else if (info.state == QpState::kSqd && !qp.drained_told && qp.requester.drained()) {
      qp.drained_told = true;
      nic_.events.push_back({AsyncEventType::kSqDrained, info.number.value});
    }
  }
  if (controlled() && qp.congestion.wants_to_hear() && info.type == QpType::kRc)
    qp.requester.set_window(qp.congestion.on_heard(now, qp.requester.take_heard(now)));
  line_up(now, qp);
  set_timer(qp);
}

// After a request, which changes nothing of the requester: a QP that only receives is spared a look at it.
void Engine::settle_responder(Instant now, Qp& qp) {
  const QpInfo& info = qp.info;
  if (qp.responder.failed() || (info.type == QpType::kUc && qp.uc_receiver.failed()) || info.recv_cq->overrun())
    return settle(now, qp);
  if ((!qp.in_control_line && qp.has_control()) || (!qp.in_data_line && qp.has_read_response())) line_up(now, qp);
}

void Engine::line_up(Instant now, Qp& qp) {
  lined_up_ = &qp;
  if (!qp.in_control_line && qp.has_control()) {
    qp.in_control_line = true;
    stand_in_line(&Lines::control, nic_.config.ack ? std::size_t{nic_.config.ack->priority} : qp.info.path.priority().index(),
                  qp.slot);
  }
  if (qp.in_data_line || !qp.has_data(now)) return;
  qp.in_data_line = true;
  if (qp.next_data > now) {
    wake_at({qp.next_data, qp.slot, true});
  } else {
    stand_in_line(&Lines::data, qp.priority().index(), qp.slot);
  }
}

// One wake at a time is enough for a timer that mostly moves on: when it comes and the deadline is later, it is set
// again.
void Engine::set_timer(Qp& qp) {
  const Instant deadline = qp.requester.deadline();
  if (deadline >= qp.timer_at) return;
  qp.timer_at = deadline;
  wake_at({deadline, qp.slot, false});
}

void Engine::run_wakes(Instant now) {
  while (!wakes_.empty() && wakes_.top().at <= now) {
    const Wake wake = wakes_.top();
    wakes_.pop();
    next_wake_ = wakes_.empty() ? Instant::never() : wakes_.top().at;
    prefetch_wakes();
    Qp* const qp = in_slot(wake.slot);
    if (qp == nullptr) continue;
    if (wake.paced) {
      if (!qp->in_data_line) continue;
      qp->in_data_line = false;
      line_up(wake.at, *qp);
    } else if (wake.at == qp->timer_at) {
      qp->timer_at = Instant::never();
      if (qp->requester.deadline() <= wake.at) qp->requester.on_timer(wake.at);
      settle(wake.at, *qp);
    }
  }
}

Readiness Engine::ready(Instant now) {
  run_due(now);
  Readiness r;
  r.classes = in_line_;
  if (!cnps_.empty()) r.classes = static_cast<PriorityMask>(r.classes | 1u << nic_.config.cnp.priority);
  r.until = next_wake_;
  return r;
}

bool Engine::send(Instant now, Priority priority, OutPacket& out) {
  run_due(now);
  out.telemetry = nullptr;
  const bool any = (!cnps_.empty() && priority.value == nic_.config.cnp.priority && send_cnp(out)) ||
                   send_control(now, priority.index(), out) || send_data(now, priority.index(), out);
  if (any) count_sent(out);
  return any;
}

// Of what is acknowledged and has a payload: SEND and WRITE.
void Engine::add_telemetry(const Qp& qp, OutPacket& out) const noexcept {
  static constexpr PathTelemetry kNoHops{};
  const Operation operation = out.packet.info().operation;
  if (qp.info.type == QpType::kRc && (operation == Operation::kSend || operation == Operation::kWrite))
    out.telemetry = &kNoHops;
}

// When the QP's next data may go: what its congestion control says, and its rate limit.
void Engine::pace(Instant now, Qp& qp, std::uint32_t octets) noexcept {
  const Instant allowed = qp.next_data;
  qp.next_data = controlled() ? qp.congestion.on_sent(now, allowed, octets) : now;
  if (qp.rate_limit.bps == 0) return;
  const Duration takes = qp.octet_time.of(octets);
  qp.next_data = std::max(qp.next_data, qp.gaps.on() ? qp.gaps.next(now, allowed, takes) : std::max(now, allowed) + takes);
}

void Engine::count_data(Instant now, Qp& qp, const OutPacket& out) noexcept {
  if (out.payload.octets == 0) return;
  QpCounters& c = qp.info.counters;
  if (c.data_packets++ == 0) c.first_data = now;
  c.data_octets += out.payload.octets;
}

void Engine::count_sent(const OutPacket& out) noexcept {
  nic_.counters.sent_packets.increment();
  nic_.counters.sent_payload_octets.add(out.payload.octets);
}

// While the class of CNPs is paused one waits for each QP, however many intervals go by: a CNP says that there is
// congestion, not how much. np_ecn_marked_roce_packets counts on.
void Engine::owe_cnp(Qp& qp) {
  qp.cnp_for = qp.info.dest_qpn;
  if (qp.cnp_waits) return;
  qp.cnp_waits = true;
  cnps_.push(qp.slot);
}

// Its slot may be another QP's before the one that waits can go.
void Engine::forget_cnp(Qp& qp) {
  if (!qp.cnp_waits) return;
  qp.cnp_waits = false;
  for (std::size_t n = cnps_.size(); n > 0; --n) {
    const std::uint32_t slot = cnps_.front();
    cnps_.pop();
    if (slot != qp.slot) cnps_.push(slot);
  }
}

bool Engine::send_cnp(OutPacket& out) {
  while (!cnps_.empty()) {
    Qp* const qp = in_slot(cnps_.front());
    cnps_.pop();
    if (qp == nullptr) continue;
    qp->cnp_waits = false;
    if (qp->info.dest_qpn != qp->cnp_for) continue;  // it has another peer by now
    out = {};
    out.packet.bth = cnp_bth(qp->cnp_for);
    out.packet.bth.p_key = kDefaultPKey;
    out.path = &qp->cnp_path(nic_.config.cnp);
    nic_.counters.np_cnp_sent.increment();
    ++qp->info.counters.np_cnp_sent;
    return true;
  }
  return false;
}

bool Engine::send_control(Instant now, std::size_t priority, OutPacket& out) {
  RingQueue<std::uint32_t>& line = lines_[priority].control;
  while (!line.empty()) {
    Qp* const qp = in_slot(line.front());
    leave_line(&Lines::control, priority);
    if (qp == nullptr || !qp->in_control_line) continue;
    qp->in_control_line = false;
    const bool sent = qp->has_control() && qp->responder.next(out);
    if (sent && nic_.config.ack) out.path = &qp->ack_path(*nic_.config.ack, next_flow_);
    if (sent && qp->returns_telemetry) [[unlikely]] {
      out.telemetry = qp->telemetry.get();
      qp->returns_telemetry = false;
    }
    line_up(now, *qp);
    if (sent) return true;
  }
  return false;
}

// Of those that are paced nobody stands in line for long: they are fetched while their instants come nearer.
void Engine::prefetch_wakes() const noexcept {
  static_assert(WakeQueue::kAtHand >= 2 * kQpAhead);
  if (const auto wake = wakes_.next(2 * kQpAhead - 1); wake && wake->slot < qps_.size())
    __builtin_prefetch(&qps_[wake->slot]);
  const auto paced = [&](std::size_t ahead) {
    const auto wake = wakes_.next(ahead - 1);
    return wake && wake->paced ? in_slot(wake->slot) : nullptr;
  };
  if (const Qp* const qp = paced(kQpAhead)) qp->prefetch_to_send(controlled());
  if (const Qp* const qp = paced(kWorkAhead)) qp->requester.prefetch_next();
}

// Those that are next in line, so that they are at hand when their turn comes: first the QP, then what it names.
void Engine::prefetch_line(const RingQueue<std::uint32_t>& line) const noexcept {
  if (line.size() > 2 * kQpAhead) __builtin_prefetch(&qps_[line[2 * kQpAhead]]);
  if (line.size() > kQpAhead)
    if (const Qp* const qp = in_slot(line[kQpAhead])) qp->prefetch_to_send(controlled());
  if (line.size() > kWorkAhead)
    if (const Qp* const qp = in_slot(line[kWorkAhead])) qp->requester.prefetch_next();
}

bool Engine::send_data(Instant now, std::size_t priority, OutPacket& out) {
  RingQueue<std::uint32_t>& line = lines_[priority].data;
  prefetch_line(line);
  while (!line.empty()) {
    Qp* const qp = in_slot(line.front());
    leave_line(&Lines::data, priority);
    if (qp == nullptr || !qp->in_data_line) continue;
    qp->in_data_line = false;
    // A UD QP's next datagram may be of another class than the one it stood in line for.
    if (qp->priority().index() != priority) {
      line_up(now, *qp);
      continue;
    }
    bool sent = false;
    const bool request = qp->has_request(now);
    const bool response = qp->has_read_response();
    if (response && (qp->response_first || !request)) {
      sent = qp->responder.next(out);
      qp->response_first = false;
    } else if (request) {
      sent = qp->info.type == QpType::kUd ? qp->datagrams.next(out) : qp->requester.next(now, out);
      qp->response_first = true;
    }
    if (sent && telemetry_) add_telemetry(*qp, out);
    if (sent && qp->info.type != QpType::kUd) pace(now, *qp, wire_octets(out, nic_.config.framing));
    if (sent) count_data(now, *qp, out);
    settle(now, *qp);
    if (sent) return true;
  }
  return false;
}

}  // namespace railyard::roce
