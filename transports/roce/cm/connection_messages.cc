// Messages that come.
#include <algorithm>

#include "dataplane/wire/ecn.h"
#include "transports/roce/cm/connection_manager.h"

namespace railyard::roce::cm {
namespace {

// What a REJ or MRA is about.
constexpr std::uint8_t kAboutReq = 0, kAboutRep = 1;

PortSpace space_of(std::uint64_t service_id) noexcept { return static_cast<PortSpace>(service_id >> 16 & 0xFF); }

}  // namespace

template <class M>
std::optional<Ignored> ConnectionManager::on_reply(Instant now, const AddressVector& back, std::uint64_t transaction,
                                                   const M& message) {
  Connection* const c = find(ConnectionId{message.remote_comm_id});
  if (c == nullptr) {
    // The peer shall not go on for something that is not there.
    if constexpr (std::is_same_v<M, Rep>)
      send_rej(back, transaction, message.remote_comm_id, message.local_comm_id, kAboutRep, RejReason::kInvalidCommId);
    if constexpr (std::is_same_v<M, Dreq>)
      send(back, {transaction, Drep{.local_comm_id = message.remote_comm_id, .remote_comm_id = message.local_comm_id}});
    return Ignored::kUnknownConnection;
  }
  // A REJ of what had no communication ID there has none.
  const bool same_id = c->remote_comm_id == 0 || message.local_comm_id == c->remote_comm_id ||
                       (std::is_same_v<M, Rej> && message.local_comm_id == 0);
  if (back.destination != c->av.destination || !same_id) return Ignored::kOtherPeer;
  return on_message(now, *c, transaction, message);
}

void ConnectionManager::on_mad(Instant now, const wire::IpAddress& from, const wire::IpAddress& to,
                               std::span<const std::byte> mad) {
  on_timer(now);
  counters_.received.increment();
  const auto ignore = [&](Ignored why) { counters_.ignored[static_cast<std::size_t>(why)].increment(); };
  const auto datagram = decode(mad);
  if (!datagram) {
    counters_.malformed[static_cast<std::size_t>(datagram.error())].increment();
    return ignore(Ignored::kMalformed);
  }
  const auto back = config_.route ? config_.route(to, from) : std::nullopt;
  if (!back) return ignore(Ignored::kNoRoute);
  const auto ignored = std::visit(
      [&]<class M>(const M& message) -> std::optional<Ignored> {
        if constexpr (std::is_same_v<M, Req>) {
          return on_message(now, *back, datagram->transaction_id, message);
        } else if constexpr (std::is_same_v<M, SidrReq>) {
          return on_message(*back, datagram->transaction_id, message);
        } else if constexpr (std::is_same_v<M, SidrRep>) {
          return on_message(*back, message);
        } else {
          return on_reply(now, *back, datagram->transaction_id, message);
        }
      },
      datagram->message);
  if (ignored) return ignore(*ignored);
  counters_.taken.increment();
}

std::optional<Ignored> ConnectionManager::on_message(Instant now, const AddressVector& back, std::uint64_t transaction,
                                                     const Req& req) {
  if (const auto twice = by_remote_id_.find({back.destination, req.local_comm_id}); twice != by_remote_id_.end()) {
    Connection& c = *find(ConnectionId{twice->second});
    if (c.state == State::kReqReceived || c.state == State::kRepSent) {
      // The MRA or the REP again; nothing while there is none.
      if (!std::holds_alternative<Req>(c.sent->message)) send_last(c);
    } else if (c.state == State::kTimewait) {
      send_rej(back, transaction, 0, req.local_comm_id, kAboutReq, RejReason::kStaleConnection);
    }
    return Ignored::kDuplicate;
  }
  const auto refuse = [&](RejReason reason) {
    send_rej(back, transaction, 0, req.local_comm_id, kAboutReq, reason);
    return Ignored::kRefused;
  };
  if (!listeners_.contains(req.service_id)) return refuse(RejReason::kInvalidServiceId);
  if (req.transport > 1 || req.extended_transport != 0) return refuse(RejReason::kUnsupported);
  if (req.path_mtu < static_cast<std::uint8_t>(PathMtu::k256) ||
      req.path_mtu > static_cast<std::uint8_t>(PathMtu::k4096))
    return refuse(RejReason::kInvalidPathMtu);
  const auto addresses = read_ip_service(req.private_data.octets.data());
  if (!addresses) return refuse(RejReason::kConsumer);
  if (const auto old = by_remote_qpn_.find({back.destination, req.local_qpn}); old != by_remote_qpn_.end()) {
    // The peer knows nothing of it any more.
    static_cast<void>(disconnect(now, ConnectionId{old->second}));
    return refuse(RejReason::kStaleConnection);
  }
  Connection& c = add(back);
  c.state = State::kReqReceived;
  c.av.dscp = static_cast<std::uint8_t>(req.primary.traffic_class >> 2);
  const wire::Ecn ecn = wire::ecn_of(req.primary.traffic_class);
  c.av.ect = ecn == wire::Ecn::kEct0 || ecn == wire::Ecn::kEct1;
  if (config_.class_of) c.av.priority = config_.class_of(c.av.dscp);
  c.remote_comm_id = req.local_comm_id;
  c.remote_qpn = req.local_qpn;
  c.req = req;
  c.sent = Datagram{transaction, req};  // for its transaction ID
  by_remote_id_[{back.destination, req.local_comm_id}] = c.id.value;
  tell(EventType::kConnectRequest, c, std::span(req.private_data.octets).subspan(IpServiceHeader::kOctets));
  events_.back().space = space_of(req.service_id);
  events_.back().port = static_cast<std::uint16_t>(req.service_id & 0xFFFF);
  events_.back().addresses = *addresses;
  return std::nullopt;
}

// Nothing is remembered of what was answered: what is asked twice is answered twice.
std::optional<Ignored> ConnectionManager::on_message(const AddressVector& back, std::uint64_t transaction,
                                                     const SidrReq& req) {
  SidrRep rep{.request_id = req.request_id, .service_id = req.service_id};
  const auto answer = [&](SidrStatus status) {
    rep.status = static_cast<std::uint8_t>(status);
    send(back, {transaction, rep});
  };
  const auto service = datagram_services_.find(req.service_id);
  const bool listens = listeners_.contains(req.service_id);
  const auto addresses = read_ip_service(req.private_data.octets.data());
  if ((service == datagram_services_.end() && !listens) || !addresses) {
    answer(addresses ? SidrStatus::kUnsupportedServiceId : SidrStatus::kRejected);
    return Ignored::kRefused;
  }
  if (listens) {
    if (by_remote_id_.contains({back.destination, req.request_id})) return Ignored::kDuplicate;
    Connection& c = add(back);
    c.state = State::kSidrReqReceived;
    c.remote_comm_id = req.request_id;
    c.sent = Datagram{transaction, req};  // for its transaction ID
    by_remote_id_[{back.destination, req.request_id}] = c.id.value;
    tell(EventType::kLookUp, c, std::span(req.private_data.octets).subspan(IpServiceHeader::kOctets));
    events_.back().space = space_of(req.service_id);
    events_.back().port = static_cast<std::uint16_t>(req.service_id & 0xFFFF);
    events_.back().addresses = *addresses;
    return std::nullopt;
  }
  rep.qpn = service->second.qp.value;
  rep.q_key = service->second.q_key;
  ++service->second.asked;
  answer(SidrStatus::kValid);
  return std::nullopt;
}

std::optional<Ignored> ConnectionManager::on_message(const AddressVector& back, const SidrRep& rep) {
  Connection* const c = find(ConnectionId{rep.request_id});
  if (c == nullptr) return Ignored::kUnknownConnection;
  if (back.destination != c->av.destination) return Ignored::kOtherPeer;
  if (c->state != State::kSidrReqSent) return Ignored::kUnexpected;
  const auto status = static_cast<SidrStatus>(rep.status);
  tell(status == SidrStatus::kValid ? EventType::kFound : EventType::kUnreachable, *c, rep.private_data.octets);
  events_.back().status = status;
  events_.back().remote_qpn = rep.qpn;
  events_.back().q_key = rep.q_key;
  forget(*c);
  return std::nullopt;
}

std::optional<Ignored> ConnectionManager::on_message(Instant now, Connection& c, std::uint64_t, const Mra& mra) {
  const bool waits = (c.state == State::kReqSent && mra.message == kAboutReq) ||
                     (c.state == State::kRepSent && mra.message == kAboutRep);
  if (!waits) return Ignored::kUnexpected;
  // What the peer takes, and then as long as ever for the answer.
  set_timer(c, now + local_ack_timeout(mra.service_timeout) + local_ack_timeout(config_.response_timeout));
  return std::nullopt;
}

std::optional<Ignored> ConnectionManager::on_message(Instant now, Connection& c, std::uint64_t, const Rej& rej) {
  const auto reason = static_cast<RejReason>(rej.reason);
  switch (c.state) {
    case State::kReqSent:
    case State::kReqReceived:
    case State::kRepReceived:
      tell(EventType::kRejected, c, rej.private_data.octets, reason);
      forget(c);
      return std::nullopt;
    case State::kRepSent:
      tell(EventType::kRejected, c, rej.private_data.octets, reason);
      to_err(now, c);
      forget(c);
      return std::nullopt;
    case State::kEstablished:
    case State::kDreqSent:
    case State::kTimewait:
    case State::kSidrReqSent:
    case State::kSidrReqReceived:
      break;
  }
  return Ignored::kUnexpected;
}

std::optional<Ignored> ConnectionManager::on_message(Instant now, Connection& c, std::uint64_t transaction,
                                                     const Rep& rep) {
  if (c.state == State::kRepReceived) return Ignored::kDuplicate;  // it is being worked on
  if (c.active && c.state == State::kEstablished && rep.local_comm_id == c.remote_comm_id) {
    send_last(c);  // the RTU
    return Ignored::kDuplicate;
  }
  if (c.state != State::kReqSent) return Ignored::kUnexpected;
  c.remote_comm_id = rep.local_comm_id;
  c.remote_qpn = rep.local_qpn;
  if (engine_ == nullptr) {
    c.rep = rep;
    c.state = State::kRepReceived;
    c.sent = Datagram{transaction, Rtu{.local_comm_id = c.id.value, .remote_comm_id = c.remote_comm_id}};
    set_timer(c, Instant::never());
    by_remote_qpn_[{c.av.destination, c.remote_qpn}] = c.id.value;
    tell(EventType::kResponse, c, rep.private_data.octets);
    return std::nullopt;
  }
  const ConnectionParameters& p = c.parameters;
  const QpAttributes a{
      .path_mtu = p.path_mtu,
      .timeout = p.ack_timeout,
      .retry_cnt = p.retry_count,
      .rnr_retry = rep.rnr_retry_count,
      .max_rd_atomic = std::min<std::uint8_t>({p.initiator_depth, rep.responder_resources, kMostDepth}),
      .sq_psn = rep.starting_psn,
      .max_dest_rd_atomic = std::min<std::uint8_t>({p.responder_resources, rep.initiator_depth, kMostDepth})};
  if (engine_->state(c.qp) != QpState::kInit || !to_rts(now, c, a)) {
    // The QP is gone, or was used for something else meanwhile.
    send_rej(c.av, transaction, c.id.value, rep.local_comm_id, kAboutRep, RejReason::kNoQp);
    tell(EventType::kRejected, c, {}, RejReason::kNoQp);
    forget(c);
    return std::nullopt;
  }
  by_remote_qpn_[{c.av.destination, c.remote_qpn}] = c.id.value;
  c.sent = Datagram{transaction, Rtu{.local_comm_id = c.id.value, .remote_comm_id = c.remote_comm_id}};
  send_last(c);
  established(c, rep.private_data.octets);
  return std::nullopt;
}

std::optional<Ignored> ConnectionManager::on_message(Instant, Connection& c, std::uint64_t, const Rtu&) {
  if (c.active) return Ignored::kUnexpected;
  if (c.state == State::kEstablished) return Ignored::kDuplicate;
  if (c.state != State::kRepSent) return Ignored::kUnexpected;
  established(c);
  return std::nullopt;
}

std::optional<Ignored> ConnectionManager::on_message(Instant now, Connection& c, std::uint64_t transaction,
                                                     const Dreq& dreq) {
  if (dreq.remote_qpn != c.qp.value) return Ignored::kUnexpected;
  switch (c.state) {
    case State::kTimewait:
      send_last(c);
      return Ignored::kDuplicate;
    case State::kRepSent:
    case State::kEstablished:
    case State::kDreqSent:
      c.sent = Datagram{transaction, Drep{.local_comm_id = c.id.value, .remote_comm_id = c.remote_comm_id}};
      send_last(c);
      ended(now, c, EventType::kDisconnected);
      return std::nullopt;
    case State::kReqSent:
    case State::kReqReceived:
    case State::kRepReceived:
    case State::kSidrReqSent:
    case State::kSidrReqReceived:
      break;
  }
  return Ignored::kUnexpected;
}

std::optional<Ignored> ConnectionManager::on_message(Instant now, Connection& c, std::uint64_t, const Drep&) {
  if (c.state == State::kTimewait) return Ignored::kDuplicate;
  if (c.state != State::kDreqSent) return Ignored::kUnexpected;
  c.sent.reset();
  ended(now, c, EventType::kDisconnected);
  return std::nullopt;
}

}  // namespace railyard::roce::cm
