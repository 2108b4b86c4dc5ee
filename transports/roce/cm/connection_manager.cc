// What this end begins, timers and what both have in common. Messages that come are in connection_messages.cc.
#include "transports/roce/cm/connection_manager.h"

#include <algorithm>

#include "dataplane/wire/ecn.h"
#include "transports/roce/wire/udp_source_port.h"

namespace railyard::roce::cm {
namespace {

constexpr std::uint32_t kPsnMask = Psn::kMax;

}  // namespace

std::string_view name(ConnectError error) noexcept {
  constexpr std::array<std::string_view, 8> kNames{"unknown_qp",       "qp_state",  "unknown_connection",
                                                   "connection_state", "no_route",  "private_data",
                                                   "path_mtu",         "attributes"};
  return kNames[static_cast<std::size_t>(error)];
}

std::string_view name(Ignored reason) noexcept {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Ignored::kCount)> kNames{
      "malformed", "unknown_connection", "other_peer", "unexpected", "duplicate", "refused", "no_route"};
  return kNames[static_cast<std::size_t>(reason)];
}

ConnectionManager::ConnectionManager(Engine* engine, CmConfig config)
    : engine_(engine), config_(std::move(config)), rng_(config_.seed, "connection management") {
  next_id_ = rng_.next32();
  transaction_ = rng_.next();
}

// ---- Connections ---------------------------------------------------------------------------------------------------

ConnectionManager::Connection* ConnectionManager::find(ConnectionId id) noexcept {
  const auto it = connections_.find(id.value);
  return it == connections_.end() ? nullptr : &it->second;
}

ConnectionManager::Connection& ConnectionManager::add(const AddressVector& av) {
  // 0 stands for none in messages.
  while (comm_id(next_id_) == 0 || connections_.contains(comm_id(next_id_))) ++next_id_;
  const ConnectionId id{comm_id(next_id_++)};
  Connection& c = connections_[id.value];
  c.id = id;
  c.av = av;
  c.psn = rng_.next32() & kPsnMask;
  return c;
}

void ConnectionManager::forget(Connection& c) {
  const auto drop = [&](auto& map, const auto& key) {
    const auto it = map.find(key);
    if (it != map.end() && it->second == c.id.value) map.erase(it);
  };
  set_timer(c, Instant::never());
  drop(by_remote_id_, PeerKey{c.av.destination, c.remote_comm_id});
  drop(by_remote_qpn_, PeerKey{c.av.destination, c.remote_qpn});
  drop(by_qp_, c.qp.value);
  connections_.erase(c.id.value);
}

void ConnectionManager::set_timer(Connection& c, Instant at) {
  if (c.deadline != Instant::never()) timers_.erase({c.deadline, c.id.value});
  c.deadline = at;
  if (at != Instant::never()) timers_.insert({at, c.id.value});
}

std::optional<ConnectError> ConnectionManager::check(const ConnectionParameters& parameters) const {
  if (engine_ == nullptr) return std::nullopt;
  const Qp* const qp = engine_->qp(parameters.qp);
  if (qp == nullptr) return ConnectError::kUnknownQp;
  if (qp->info.type == QpType::kUd || qp->info.state != QpState::kReset) return ConnectError::kQpState;
  return std::nullopt;
}

bool ConnectionManager::is_uc(const ConnectionParameters& p) const noexcept {
  return (engine_ != nullptr ? engine_->qp(p.qp)->info.type : p.type) == QpType::kUc;
}

void ConnectionManager::to_err(Instant now, const Connection& c) {
  if (engine_ != nullptr && engine_->qp(c.qp) != nullptr)
    static_cast<void>(engine_->modify_qp(now, c.qp, QpState::kErr, {}, {}));
}

bool ConnectionManager::to_init(Instant now, const Connection& c) {
  if (engine_ == nullptr) return true;
  using enum QpAttribute;
  const QpAttributes a{.access_flags = c.parameters.access_flags};
  return engine_->modify_qp(now, c.qp, QpState::kInit, {kAccessFlags, kPKeyIndex, kPort}, a).has_value();
}

bool ConnectionManager::to_rts(Instant now, const Connection& c, const QpAttributes& attributes) {
  if (engine_ == nullptr) return true;
  using enum QpAttribute;
  QpAttributes a = attributes;
  a.access_flags = c.parameters.access_flags;
  a.av = c.av;
  a.av.source_port = source_port(flow_label(c.qp.value, c.remote_qpn));
  a.dest_qpn = c.remote_qpn;
  a.rq_psn = c.psn;
  a.min_rnr_timer = c.parameters.min_rnr_timer;
  const bool rc = engine_->qp(c.qp)->info.type == QpType::kRc;
  const QpAttributeSet connection{kAv, kPathMtu, kDestQpn, kRqPsn};
  const auto rtr = rc ? connection | QpAttributeSet{kMaxDestRdAtomic, kMinRnrTimer} : connection;
  const auto rts = rc ? QpAttributeSet{kSqPsn, kTimeout, kRetryCnt, kRnrRetry, kMaxRdAtomic} : QpAttributeSet{kSqPsn};
  return engine_->modify_qp(now, c.qp, QpState::kRtr, rtr, a) && engine_->modify_qp(now, c.qp, QpState::kRts, rts, a);
}

// ---- Sending -------------------------------------------------------------------------------------------------------

std::optional<Outgoing> ConnectionManager::next() {
  if (outgoing_.empty()) return std::nullopt;
  const Outgoing out = outgoing_.front();
  outgoing_.pop_front();
  return out;
}

void ConnectionManager::send(const AddressVector& av, const Datagram& datagram) {
  Outgoing& out = outgoing_.emplace_back();
  out.av = av;
  encode(out.mad, datagram);
  counters_.sent.increment();
}

void ConnectionManager::send_and_wait(Instant now, Connection& c, const Datagram& datagram) {
  c.sent = datagram;
  c.retries = config_.max_retries;
  send_last(c);
  set_timer(c, now + local_ack_timeout(config_.response_timeout));
}

void ConnectionManager::send_last(Connection& c) {
  if (c.sent) send(c.av, *c.sent);
}

void ConnectionManager::send_rej(const AddressVector& av, std::uint64_t transaction, std::uint32_t own,
                                 std::uint32_t peers, std::uint8_t message, RejReason reason,
                                 std::span<const std::byte> data) {
  Rej rej{
      .local_comm_id = own, .remote_comm_id = peers, .message = message, .reason = static_cast<std::uint16_t>(reason)};
  std::ranges::copy(data, rej.private_data.octets.begin());
  send(av, {transaction, rej});
}

// ---- Events --------------------------------------------------------------------------------------------------------

void ConnectionManager::tell(EventType type, const Connection& c, std::span<const std::byte> data, RejReason reason) {
  events_.push_back({.type = type,
                     .connection = c.id,
                     .qp = c.qp,
                     .reason = reason,
                     .private_data = std::vector<std::byte>(data.begin(), data.end())});
}

void ConnectionManager::established(Connection& c, std::span<const std::byte> data) {
  c.state = State::kEstablished;
  set_timer(c, Instant::never());
  tell(EventType::kEstablished, c, data);
}

// The QP has been in use: what is still under way must not meet another one of its number.
void ConnectionManager::ended(Instant now, Connection& c, EventType type) {
  to_err(now, c);
  c.state = State::kTimewait;
  set_timer(c, now + config_.timewait);
  tell(type, c);
}

void ConnectionManager::give_up(Instant now, Connection& c) {
  switch (c.state) {
    case State::kReqSent:
      send_rej(c.av, c.sent->transaction_id, c.id.value, 0, 0, RejReason::kTimeout);
      tell(EventType::kUnreachable, c);
      return forget(c);
    case State::kRepSent:
      send_rej(c.av, c.sent->transaction_id, c.id.value, c.remote_comm_id, 1, RejReason::kTimeout);
      return ended(now, c, EventType::kUnreachable);
    case State::kDreqSent:
      c.sent.reset();
      return ended(now, c, EventType::kDisconnected);
    case State::kTimewait:
      tell(EventType::kTimewaitExit, c);
      return forget(c);
    case State::kSidrReqSent:
      tell(EventType::kUnreachable, c);
      return forget(c);
    case State::kReqReceived:
    case State::kRepReceived:
    case State::kEstablished:
    case State::kSidrReqReceived:
      break;  // have no timer
  }
}

void ConnectionManager::on_timer(Instant now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto [at, id] = *timers_.begin();
    Connection& c = *find(ConnectionId{id});
    set_timer(c, Instant::never());
    if (c.state == State::kTimewait || c.retries == 0) {
      give_up(at, c);
      continue;
    }
    --c.retries;
    counters_.sent_again.increment();
    send_last(c);
    set_timer(c, at + local_ack_timeout(config_.response_timeout));
  }
}

void ConnectionManager::on_path_established(Instant, QpNumber qp) {
  const auto it = by_qp_.find(qp.value);
  if (it == by_qp_.end()) return;
  Connection& c = *find(ConnectionId{it->second});
  if (c.state == State::kRepSent) established(c);
}

std::optional<AddressVector> ConnectionManager::way_of(const IpServiceValues& addresses,
                                                       const std::optional<ServiceType>& service_type) const {
  auto av = way(addresses.source, addresses.destination);
  if (av && service_type) {
    av->dscp = service_type->dscp;
    av->ect = service_type->ect;
    av->priority = service_type->priority;
  }
  return av;
}

// ---- What the application wants ------------------------------------------------------------------------------------

std::expected<ConnectionId, ConnectError> ConnectionManager::connect(Instant now, const IpServiceValues& addresses,
                                                                     PortSpace space, std::uint16_t port,
                                                                     const ConnectionParameters& p) {
  if (const auto wrong = check(p)) return std::unexpected(*wrong);
  Req req;
  if (p.private_data.size() > req.private_data.octets.size() - IpServiceHeader::kOctets)
    return std::unexpected(ConnectError::kPrivateData);
  const auto av = way_of(addresses, p.service_type);
  if (!av) return std::unexpected(ConnectError::kNoRoute);
  Connection& c = add(*av);
  c.active = true;
  c.qp = p.qp;
  c.parameters = p;
  c.parameters.private_data = {};
  if (!to_init(now, c)) {
    forget(c);
    return std::unexpected(ConnectError::kAttributes);
  }
  by_qp_[c.qp.value] = c.id.value;
  req.local_comm_id = c.id.value;
  req.service_id = service_id(space, port);
  req.local_ca_guid = config_.ca_guid;
  req.local_qpn = p.qp.value;
  req.responder_resources = p.responder_resources;
  req.initiator_depth = p.initiator_depth;
  req.remote_cm_response_timeout = req.local_cm_response_timeout = config_.response_timeout;
  req.transport = is_uc(p) ? 1 : 0;
  req.srq = p.has_srq;
  req.starting_psn = c.psn;
  req.retry_count = p.retry_count;
  req.path_mtu = static_cast<std::uint8_t>(p.path_mtu);
  req.rnr_retry_count = p.rnr_retry_count;
  req.max_cm_retries = config_.max_retries;
  req.primary.local_gid = av->source;
  req.primary.remote_gid = av->destination;
  // All of the octet: who takes it over, as rdma_cm does, is then ECN-capable as well.
  req.primary.traffic_class =
      static_cast<std::uint8_t>(av->dscp << 2 | static_cast<int>(av->ect ? wire::Ecn::kEct0 : wire::Ecn::kNotEct));
  req.primary.hop_limit = av->hop_limit;
  req.primary.local_ack_timeout = p.ack_timeout;
  write_ip_service(req.private_data.octets.data(), addresses);
  std::ranges::copy(p.private_data, req.private_data.octets.begin() + IpServiceHeader::kOctets);
  c.req = req;
  send_and_wait(now, c, {transaction(), req});
  return c.id;
}

std::expected<void, ConnectError> ConnectionManager::accept(Instant now, ConnectionId id,
                                                            const ConnectionParameters& p) {
  Connection* const c = find(id);
  if (c == nullptr) return std::unexpected(ConnectError::kUnknownConnection);
  if (c->state != State::kReqReceived) return std::unexpected(ConnectError::kConnectionState);
  if (const auto wrong = check(p)) return std::unexpected(*wrong);
  if (is_uc(p) != (c->req.transport == 1)) return std::unexpected(ConnectError::kQpState);
  Rep rep;
  if (p.private_data.size() > rep.private_data.octets.size()) return std::unexpected(ConnectError::kPrivateData);
  if (c->req.path_mtu > static_cast<std::uint8_t>(p.path_mtu)) {
    send_rej(c->av, c->sent->transaction_id, c->id.value, c->remote_comm_id, 0, RejReason::kInvalidPathMtu);
    forget(*c);
    return std::unexpected(ConnectError::kPathMtu);
  }
  c->qp = p.qp;
  c->parameters = p;
  c->parameters.private_data = {};
  // Each serves what the other may start: of both the less.
  QpAttributes a{
      .path_mtu = static_cast<PathMtu>(c->req.path_mtu),
      .timeout = c->req.primary.local_ack_timeout,
      .retry_cnt = c->req.retry_count,
      .rnr_retry = c->req.rnr_retry_count,
      .max_rd_atomic = std::min<std::uint8_t>({p.initiator_depth, c->req.responder_resources, kMostDepth}),
      .sq_psn = c->req.starting_psn,
      .max_dest_rd_atomic = std::min<std::uint8_t>({p.responder_resources, c->req.initiator_depth, kMostDepth})};
  if (!to_init(now, *c) || !to_rts(now, *c, a)) {
    static_cast<void>(engine_->modify_qp(now, c->qp, QpState::kReset, {}, {}));
    return std::unexpected(ConnectError::kAttributes);
  }
  by_qp_[c->qp.value] = c->id.value;
  by_remote_qpn_[{c->av.destination, c->remote_qpn}] = c->id.value;
  rep.local_comm_id = c->id.value;
  rep.remote_comm_id = c->remote_comm_id;
  rep.local_qpn = p.qp.value;
  rep.starting_psn = c->psn;
  rep.responder_resources = static_cast<std::uint8_t>(a.max_dest_rd_atomic);
  rep.initiator_depth = static_cast<std::uint8_t>(a.max_rd_atomic);
  rep.rnr_retry_count = p.rnr_retry_count;
  rep.srq = p.has_srq;
  rep.local_ca_guid = config_.ca_guid;
  std::ranges::copy(p.private_data, rep.private_data.octets.begin());
  c->state = State::kRepSent;
  send_and_wait(now, *c, {c->sent->transaction_id, rep});
  return {};
}

std::expected<void, ConnectError> ConnectionManager::reject(Instant, ConnectionId id, std::span<const std::byte> data,
                                                            RejReason reason) {
  Connection* const c = find(id);
  if (c == nullptr) return std::unexpected(ConnectError::kUnknownConnection);
  if (c->state != State::kReqReceived && c->state != State::kRepReceived)
    return std::unexpected(ConnectError::kConnectionState);
  if (data.size() > Rej{}.private_data.octets.size()) return std::unexpected(ConnectError::kPrivateData);
  const std::uint8_t about = c->state == State::kRepReceived ? 1 : 0;
  send_rej(c->av, c->sent->transaction_id, c->id.value, c->remote_comm_id, about, reason, data);
  forget(*c);
  return {};
}

std::expected<void, ConnectError> ConnectionManager::establish(Instant, ConnectionId id) {
  Connection* const c = find(id);
  if (c == nullptr) return std::unexpected(ConnectError::kUnknownConnection);
  if (c->state != State::kRepReceived) return std::unexpected(ConnectError::kConnectionState);
  send_last(*c);
  c->state = State::kEstablished;
  return {};
}

std::expected<void, ConnectError> ConnectionManager::working(Instant, ConnectionId id, std::uint8_t service_timeout) {
  Connection* const c = find(id);
  if (c == nullptr) return std::unexpected(ConnectError::kUnknownConnection);
  if (c->state != State::kReqReceived) return std::unexpected(ConnectError::kConnectionState);
  c->sent = Datagram{c->sent->transaction_id, Mra{.local_comm_id = c->id.value,
                                                  .remote_comm_id = c->remote_comm_id,
                                                  .message = 0,
                                                  .service_timeout = std::min(service_timeout, std::uint8_t{31})}};
  send_last(*c);
  return {};
}

std::expected<void, ConnectError> ConnectionManager::disconnect(Instant now, ConnectionId id) {
  Connection* const c = find(id);
  if (c == nullptr) return std::unexpected(ConnectError::kUnknownConnection);
  if (c->state != State::kEstablished && c->state != State::kRepSent)
    return std::unexpected(ConnectError::kConnectionState);
  to_err(now, *c);
  c->state = State::kDreqSent;
  send_and_wait(now, *c,
                {transaction(),
                 Dreq{.local_comm_id = c->id.value, .remote_comm_id = c->remote_comm_id, .remote_qpn = c->remote_qpn}});
  return {};
}

// As ib_destroy_cm_id() does in Linux.
void ConnectionManager::abandon(Instant now, ConnectionId id) {
  Connection* const c = find(id);
  if (c == nullptr) return;
  const auto rej = [&](std::uint8_t about, RejReason reason) {
    send_rej(c->av, c->sent->transaction_id, c->id.value, c->remote_comm_id, about, reason);
    forget(*c);
  };
  switch (c->state) {
    case State::kReqSent:
      return rej(0, RejReason::kTimeout);
    case State::kReqReceived:
      return rej(0, RejReason::kConsumer);
    case State::kRepSent:
    case State::kRepReceived:
      return rej(1, RejReason::kConsumer);
    case State::kEstablished:
      send(c->av, {transaction(), Dreq{.local_comm_id = c->id.value,
                                       .remote_comm_id = c->remote_comm_id,
                                       .remote_qpn = c->remote_qpn}});
      [[fallthrough]];
    case State::kDreqSent:
      to_err(now, *c);
      c->sent.reset();
      c->state = State::kTimewait;
      return set_timer(*c, now + config_.timewait);
    case State::kTimewait:
      return;  // its numbers are not used again before its end
    case State::kSidrReqReceived:
      static_cast<void>(answer(id, SidrStatus::kRejected, {}, 0, {}));
      return;
    case State::kSidrReqSent:
      return forget(*c);
  }
}

std::optional<ConnectionManager::Agreement> ConnectionManager::agreement(ConnectionId id) noexcept {
  const Connection* const c = find(id);
  if (c == nullptr || c->remote_comm_id == 0) return std::nullopt;
  Agreement a{.way = c->av,
              .remote_qpn = c->remote_qpn,
              .path_mtu = static_cast<PathMtu>(c->req.path_mtu),
              .rq_psn = c->psn,
              .ack_timeout = c->req.primary.local_ack_timeout,
              .retry_count = c->req.retry_count};
  const auto take = [&](const auto& peers) {
    a.sq_psn = peers.starting_psn;
    a.peer_responder_resources = peers.responder_resources;
    a.peer_initiator_depth = peers.initiator_depth;
    a.rnr_retry_count = peers.rnr_retry_count;
    a.flow_control = peers.end_to_end_flow_control;
    a.peer_has_srq = peers.srq;
  };
  if (c->active)
    take(c->rep);
  else
    take(c->req);
  return a;
}

}  // namespace railyard::roce::cm
