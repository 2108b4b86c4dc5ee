// Control and work. Packets are in engine_packets.cc, lines and timers in engine_lines.cc.
#include "transports/roce/engine.h"

#include <utility>

#include "dataplane/base/assert.h"

namespace railyard::roce {

std::string_view name(CreateError error) noexcept {
  switch (error) {
    case CreateError::kTooManyQps:
      return "too_many_qps";
    case CreateError::kUnknownCq:
      return "unknown_cq";
    case CreateError::kUnknownSrq:
      return "unknown_srq";
    case CreateError::kGsiTaken:
      return "gsi_taken";
    case CreateError::kSelectiveRepeatNotRc:
      return "selective_repeat_not_rc";
  }
  return "";
}

Engine::Engine(EngineConfig config)
    : controlled_(!std::holds_alternative<NoCongestionControl>(config.congestion)),
      telemetry_(reads_telemetry(config.congestion)),
      nic_(std::move(config)),
      cnp_pacing_(nic_.config.cnp) {
  RAILYARD_ASSERT(nic_.config.ack_every > 0 && !nic_.config.p_keys.empty(), "an engine's settings are in range");
  nic_.config.ack_every = ack_every(nic_.config.congestion, nic_.config.ack_every);
  qps_.emplace_back();  // the GSI's place
}

Engine::~Engine() = default;

CqId Engine::create_cq(std::size_t capacity) {
  cqs_.emplace_back(capacity, &completed_);
  return CqId{static_cast<std::uint32_t>(cqs_.size() - 1)};
}

SrqId Engine::create_srq(ProtectionDomain domain, std::size_t max_wr) {
  srqs_.emplace_back(max_wr, domain);
  return SrqId{static_cast<std::uint32_t>(srqs_.size() - 1)};
}

AhId Engine::create_ah(const AddressVector& av) {
  handles_.emplace_back(av);
  return AhId{static_cast<std::uint32_t>(handles_.size() - 1)};
}

Qp* Engine::look_up(QpNumber number) const noexcept {
  if (number == kGsiQp) return qps_[0].get();
  const std::uint32_t place = number.value - nic_.config.first_qpn;
  Qp* const qp = number.value >= nic_.config.first_qpn && place < qps_.size() - 1 ? qps_[place + 1].get() : nullptr;
  if (qp != nullptr) found_[number.value % std::size(found_)] = {number, qp};
  return qp;
}

std::expected<QpNumber, CreateError> Engine::create_qp(const QpInit& init) {
  if (init.send_cq.index() >= cqs_.size() || init.recv_cq.index() >= cqs_.size())
    return std::unexpected(CreateError::kUnknownCq);
  if (init.srq && init.srq->index() >= srqs_.size()) return std::unexpected(CreateError::kUnknownSrq);
  if (init.selective_repeat && (init.gsi || init.type != QpType::kRc))
    return std::unexpected(CreateError::kSelectiveRepeatNotRc);
  std::uint32_t slot = 0;
  if (init.gsi) {
    if (qps_[0] != nullptr) return std::unexpected(CreateError::kGsiTaken);
  } else if (qps_.size() <= nic_.config.most_qps) {
    // New numbers first: a number that has gone comes again as late as can be.
    slot = static_cast<std::uint32_t>(qps_.size());
    qps_.emplace_back();
  } else if (!free_.empty()) {
    slot = free_.front();
    free_.pop_front();
  } else {
    return std::unexpected(CreateError::kTooManyQps);
  }
  QpInfo info{.number = init.gsi ? kGsiQp : QpNumber{nic_.config.first_qpn + slot - 1},
              .type = init.gsi ? QpType::kUd : init.type,
              .signal_all = init.signal_all,
              .has_srq = init.srq.has_value(),
              .domain = init.domain,
              .send_cq = &cqs_[init.send_cq.index()],
              .recv_cq = &cqs_[init.recv_cq.index()]};
  info.selective = init.selective_repeat;
  info.transport = info.type == QpType::kUd   ? opcode::kUd
                   : info.type == QpType::kUc ? opcode::kUc
                   : info.selective           ? kSelectiveRepeat
                                              : opcode::kRc;
  if (init.srq) info.receives = &srqs_[init.srq->index()];
  qps_[slot] = std::make_unique<Qp>(nic_, info, handles_, init.max_send_wr, init.max_recv_wr, slot);
  qps_[slot]->cnps = init.cnps;
  qps_[slot]->congestion = CongestionControl(nic_.config.congestion);
  qps_[slot]->limit_rate(init.rate_limit, nic_.config.pacing);
  return info.number;
}

bool Engine::destroy_qp(QpNumber number) {
  Qp* const qp = find(number);
  if (qp == nullptr) return false;
  const std::uint32_t slot = qp->slot;
  cnp_pacing_.forget(number.value);
  forget_cnp(*qp);
  qps_[slot].reset();
  found_ = {};
  lined_up_ = nullptr;
  if (slot != 0) free_.push_back(slot);
  return true;
}

// What is held back for the old rate waits for its instant; the next packet keeps to the new one.
bool Engine::set_rate_limit(Instant, QpNumber number, BitRate limit) {
  Qp* const qp = find(number);
  if (qp == nullptr) return false;
  qp->limit_rate(limit, nic_.config.pacing);
  return true;
}

std::optional<QpState> Engine::state(QpNumber number) const noexcept {
  const Qp* const qp = find(number);
  return qp == nullptr ? std::nullopt : std::optional(qp->info.state);
}

std::expected<void, ModifyError> Engine::modify_qp(Instant now, QpNumber number, QpState to, QpAttributeSet given,
                                                   const QpAttributes& values) {
  Qp* const qp = find(number);
  if (qp == nullptr) return std::unexpected(ModifyError{});
  QpInfo& info = qp->info;
  if (auto allowed = check_transition(info.type, info.state, to, given, values); !allowed) return allowed;
  if (given.has(QpAttribute::kPKeyIndex) && values.pkey_index >= nic_.config.p_keys.size())
    return std::unexpected(
        ModifyError{ModifyError::Kind::kOutOfRange, info.type, info.state, to, QpAttribute::kPKeyIndex});
  apply(info, given, values);
  if (to != info.state) enter(now, *qp, to);
  settle(now, *qp);
  return {};
}

void Engine::apply(QpInfo& info, QpAttributeSet given, const QpAttributes& values) {
  using enum QpAttribute;
  QpAttributes& own = info.attributes;
  const auto set = [&](QpAttribute attribute, auto QpAttributes::*member) {
    if (given.has(attribute)) own.*member = values.*member;
  };
  set(kAccessFlags, &QpAttributes::access_flags);
  set(kPKeyIndex, &QpAttributes::pkey_index);
  set(kPort, &QpAttributes::port);
  set(kQKey, &QpAttributes::q_key);
  set(kAv, &QpAttributes::av);
  set(kPathMtu, &QpAttributes::path_mtu);
  set(kPathMtu, &QpAttributes::free_path_mtu);
  set(kTimeout, &QpAttributes::timeout);
  set(kRetryCnt, &QpAttributes::retry_cnt);
  set(kRnrRetry, &QpAttributes::rnr_retry);
  set(kRqPsn, &QpAttributes::rq_psn);
  set(kMaxRdAtomic, &QpAttributes::max_rd_atomic);
  set(kMinRnrTimer, &QpAttributes::min_rnr_timer);
  set(kSqPsn, &QpAttributes::sq_psn);
  set(kMaxDestRdAtomic, &QpAttributes::max_dest_rd_atomic);
  set(kDestQpn, &QpAttributes::dest_qpn);
  info.access = own.access_flags;
  info.p_key = nic_.config.p_keys[own.pkey_index];
  info.path_mtu = own.free_path_mtu > 0 ? own.free_path_mtu : static_cast<std::uint32_t>(octets(own.path_mtu));
  info.dest_qpn = own.dest_qpn;
  // What a NIC knows of a flow holds for good: another way is another flow.
  if (given.has(kAv)) info.path = Path(own.av, next_flow_++);
}

void Engine::enter(Instant, Qp& qp, QpState to) {
  const QpState from = qp.info.state;
  if (to == QpState::kErr) return to_error(qp, false);
  qp.info.state = to;
  if (to == QpState::kReset) {
    qp.requester.reset();
    qp.responder.reset();
    qp.uc_receiver.reset();
    qp.datagrams.reset();
    while (qp.own_receives.take()) {
    }
    qp.established = qp.drained_told = false;
  } else if (to == QpState::kRtr) {
    qp.responder.start();
    qp.uc_receiver.start();
  } else if (to == QpState::kRts && from == QpState::kRtr) {
    qp.requester.start();
    qp.datagrams.start();
  }
  if (to != QpState::kSqd) qp.drained_told = false;
}

void Engine::flush_receives(Qp& qp) noexcept {
  if (qp.info.has_srq) {
    nic_.events.push_back({AsyncEventType::kQpLastWqeReached, qp.info.number.value});
    return;
  }
  while (const auto wr = qp.own_receives.take())
    qp.info.recv_cq->push(
        {.wr_id = wr->wr_id, .status = WcStatus::kWrFlushErr, .opcode = WcOpcode::kRecv, .qp = qp.info.number});
}

void Engine::to_error(Qp& qp, bool answers) noexcept {
  qp.info.state = QpState::kErr;
  qp.requester.flush();
  qp.datagrams.flush();
  qp.responder.flush(answers);
  qp.uc_receiver.flush();
  flush_receives(qp);
}

std::expected<void, PostError> Engine::post_send(Instant now, QpNumber number, const SendWr& wr) {
  Qp* const qp = find(number);
  if (qp == nullptr) return std::unexpected(PostError::kUnknownQp);
  if (!takes_sends(qp->info.state)) return std::unexpected(PostError::kWrongState);
  auto posted = qp->info.type == QpType::kUd ? qp->datagrams.post(wr) : qp->requester.post(wr);
  if (!posted) return posted;
  if (qp->info.state == QpState::kErr || qp->info.state == QpState::kSqe) {
    qp->requester.flush();
    qp->datagrams.flush();
    return {};
  }
  settle(now, *qp);
  return {};
}

std::expected<void, PostError> Engine::post_recv(Instant, QpNumber number, const RecvWr& wr) {
  Qp* const qp = find(number);
  if (qp == nullptr) return std::unexpected(PostError::kUnknownQp);
  if (!takes_receives(qp->info.state)) return std::unexpected(PostError::kWrongState);
  if (qp->info.has_srq) return std::unexpected(PostError::kHasSrq);
  if (!qp->own_receives.post(wr)) return std::unexpected(PostError::kQueueFull);
  if (qp->info.state == QpState::kErr) flush_receives(*qp);
  return {};
}

std::expected<void, PostError> Engine::post_srq_recv(SrqId srq, const RecvWr& wr) {
  if (srq.index() >= srqs_.size()) return std::unexpected(PostError::kUnknownQp);
  if (!srqs_[srq.index()].post(wr)) return std::unexpected(PostError::kQueueFull);
  return {};
}

std::vector<AsyncEvent> Engine::take_events() {
  for (std::size_t i = 0; i < srqs_.size(); ++i)
    if (srqs_[i].take_limit_event())
      nic_.events.push_back({AsyncEventType::kSrqLimitReached, static_cast<std::uint32_t>(i)});
  for (std::size_t i = 0; i < cqs_.size(); ++i)
    if (cqs_[i].take_overrun_event()) nic_.events.push_back({AsyncEventType::kCqError, static_cast<std::uint32_t>(i)});
  return std::exchange(nic_.events, {});
}

}  // namespace railyard::roce
