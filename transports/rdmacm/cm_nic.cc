#include "transports/rdmacm/cm_nic.h"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <sys/random.h>

#include "dataplane/wire/mac_address.h"
#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {
namespace {

using roce::cm::EventType;

// DEVIATION Linux (a refusal is told at once): programs that agree on the moment to listen and to connect, as perftest's
// do, have processors of their own there. Here the one that listens may have to wait for its turn.
constexpr Duration kPatience{500'000'000'000}, kPause{20'000'000'000};

roce::cm::CmConfig config_of(const Device& device) {
  const application::NicGrant& nic = device.management->nic();
  roce::cm::CmConfig c;
  std::uint64_t seed = 0;
  static_cast<void>(::getrandom(&seed, sizeof seed, GRND_NONBLOCK));
  c.seed = {seed};
  c.ca_guid = wire::mac_word(nic.mac);
  c.first_comm_id = nic.first_comm_id;
  c.comm_ids = nic.comm_ids;
  c.class_of = [&nic](std::uint8_t dscp) { return Priority{nic.dscp_to_class[dscp]}; };
  c.route = [&nic, &device](const wire::IpAddress& own,
                            const wire::IpAddress& peer) -> std::optional<roce::AddressVector> {
    if (device.gid_index(own) < 0 || own.is_v4() != peer.is_v4() || peer.is_unspecified() || peer.is_multicast() ||
        peer.is_broadcast() || peer.is_loopback())
      return std::nullopt;
    return roce::AddressVector{.source_mac = nic.mac,
                               .next_hop_mac = nic.next_hop,
                               .source = own,
                               .destination = peer,
                               .dscp = 0,
                               .ect = false,
                               .priority = Priority{nic.dscp_to_class[0]}};
  };
  return c;
}

}  // namespace

CmNic::CmNic(Device& device) : device_(device), manager_(config_of(device)) {}

void CmNic::listen(Id& id, PortSpace space, std::uint16_t port) {
  listeners_[roce::cm::service_id(space, port)].push_back(&id);
  manager_.listen(space, port);
}

void CmNic::stop_listening(Id& id, PortSpace space, std::uint16_t port) {
  const auto found = listeners_.find(roce::cm::service_id(space, port));
  if (found == listeners_.end()) return;
  std::erase(found->second, &id);
  if (!found->second.empty()) return;
  listeners_.erase(found);
  manager_.stop_listening(space, port);
}

void CmNic::abandon_all(Instant now) {
  for (const auto& [connection, id] : ids_) manager_.abandon(now, roce::cm::ConnectionId{connection});
  ids_.clear();
  listeners_.clear();
  again_.clear();
}

void CmNic::on_mad(Instant now, const wire::IpAddress& from, const wire::IpAddress& to,
                   std::span<const std::byte> mad) {
  manager_.on_mad(now, from, to, mad);
  tell(now);
}

void CmNic::on_timer(Instant now) {
  manager_.on_timer(now);
  while (!again_.empty() && again_.begin()->first <= now) {
    Id& id = *again_.begin()->second;
    again_.erase(again_.begin());
    if (!begin(now, id)) continue;
    id.state = IdState::kDisconnected;
    post(id, RDMA_CM_EVENT_UNREACHABLE, -EHOSTUNREACH);
  }
  tell(now);
}

std::optional<roce::cm::ConnectError> CmNic::begin(Instant now, Id& id) {
  const auto begun = id.begin(now);
  if (!begun) return begun.error();
  if (id.refused_from == Instant::never()) id.refused_from = now + kPatience;
  id.connection = *begun;
  id.state = IdState::kConnecting;
  add(*begun, id);
  return std::nullopt;
}

void CmNic::give_up(Id& id) {
  std::erase_if(again_, [&](const auto& a) { return a.second == &id; });
}

// Whether it was refused because nobody listens, too early to be told.
bool CmNic::tries_again(Instant now, Id& id, const roce::cm::Event& event) {
  const bool nobody_listens =
      (event.type == EventType::kRejected && event.reason == roce::cm::RejReason::kInvalidServiceId) ||
      (event.type == EventType::kUnreachable && event.status == roce::cm::SidrStatus::kUnsupportedServiceId);
  if (!nobody_listens || id.state != IdState::kConnecting || now >= id.refused_from) return false;
  id.connection.reset();
  remove(event.connection);
  again_.insert({now + kPause, &id});
  return true;
}

void CmNic::on_lost() {
  for (const auto& [connection, id] : ids_) post(*id, RDMA_CM_EVENT_DEVICE_REMOVAL);
  for (const auto& [service, ids] : listeners_)
    for (Id* const id : ids) post(*id, RDMA_CM_EVENT_DEVICE_REMOVAL);
  for (const auto& [at, id] : again_) post(*id, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

void CmNic::tell(Instant now) {
  for (const roce::cm::Event& e : manager_.take_events()) {
    if (e.type == EventType::kConnectRequest || e.type == EventType::kLookUp) {
      on_request(now, e);
    } else if (const auto id = ids_.find(e.connection.value); id != ids_.end()) {
      on_event(now, *id->second, e);
    }
  }
}

// The one for this address goes before the one for all.
Id* CmNic::listener(PortSpace space, std::uint16_t port, const wire::IpAddress& address) const {
  const auto found = listeners_.find(roce::cm::service_id(space, port));
  if (found == listeners_.end()) return nullptr;
  Id* any = nullptr;
  for (Id* const id : found->second) {
    if (id->device == nullptr && (!id->v6_only || !address.is_v4())) any = id;
    if (id->device != nullptr && id->addresses.source == address) return id;
  }
  return any;
}

void CmNic::on_request(Instant now, const roce::cm::Event& event) {
  Id* const listens = listener(event.space, event.port, event.addresses.destination);
  if (listens == nullptr || listens->waiting >= listens->backlog) {
    const auto reason = listens == nullptr ? roce::cm::RejReason::kInvalidServiceId : roce::cm::RejReason::kNoResources;
    if (event.type == EventType::kConnectRequest)
      static_cast<void>(manager_.reject(now, event.connection, {}, reason));
    else
      static_cast<void>(
          manager_.answer(event.connection, roce::cm::SidrStatus::kUnsupportedServiceId, {}, 0, {}));
    return;
  }
  Id* const id = make_request_id(*listens);
  id->state = IdState::kRequested;
  id->connection = event.connection;
  bind_to(*id, device_);
  // The peer's application is the other end.
  set_addresses(*id, {.source_port = event.port, .source = event.addresses.destination,
                      .destination = event.addresses.source},
                event.addresses.source_port);
  ++listens->waiting;
  add(event.connection, *id);
  auto told = std::make_unique<Event>();
  told->counted = listens;
  told->event.id = &id->id;
  told->event.listen_id = &listens->id;
  told->event.event = RDMA_CM_EVENT_CONNECT_REQUEST;
  told->private_data = event.private_data;
  if (event.type == EventType::kConnectRequest) {
    id->agreement = manager_.agreement(event.connection);
    rdma_conn_param& p = told->event.param.conn;
    p.responder_resources = id->responder_resources = id->agreement->peer_initiator_depth;
    p.initiator_depth = id->initiator_depth = id->agreement->peer_responder_resources;
    p.flow_control = id->agreement->flow_control ? 1 : 0;
    p.retry_count = id->agreement->retry_count;
    p.rnr_retry_count = id->agreement->rnr_retry_count;
    p.srq = id->agreement->peer_has_srq ? 1 : 0;
    p.qp_num = id->agreement->remote_qpn;
  }
  post(*listens, std::move(told));
}

void CmNic::on_event(Instant now, Id& id, const roce::cm::Event& e) {
  if (tries_again(now, id, e)) return;
  auto told = std::make_unique<Event>();
  told->counted = &id;
  told->event.id = &id.id;
  told->private_data = e.private_data;
  switch (e.type) {
    case EventType::kResponse: {
      id.state = IdState::kResponse;
      id.agreement = manager_.agreement(e.connection);
      rdma_conn_param& p = told->event.param.conn;
      // Each has no more than the other said.
      p.responder_resources = id.agreement->peer_initiator_depth;
      p.initiator_depth = id.agreement->peer_responder_resources;
      id.responder_resources = std::min(id.responder_resources, p.responder_resources);
      id.initiator_depth = std::min(id.initiator_depth, p.initiator_depth);
      p.flow_control = id.agreement->flow_control ? 1 : 0;
      p.rnr_retry_count = id.agreement->rnr_retry_count;
      p.srq = id.agreement->peer_has_srq ? 1 : 0;
      p.qp_num = id.agreement->remote_qpn;
      told->event.event = RDMA_CM_EVENT_CONNECT_RESPONSE;
      told->needs_qp = true;
      break;
    }
    case EventType::kEstablished:
      id.state = IdState::kConnected;
      told->event.event = RDMA_CM_EVENT_ESTABLISHED;
      break;
    case EventType::kFound: {
      id.state = IdState::kConnected;
      told->event.event = RDMA_CM_EVENT_ESTABLISHED;
      rdma_ud_param& p = told->event.param.ud;
      const auto av = manager_.way(id.addresses.source, id.addresses.destination);
      if (av) p.ah_attr = way(id, *av);
      p.ah_attr.grh.traffic_class = id.tos.value_or(0);
      p.qp_num = e.remote_qpn;
      p.qkey = e.q_key;
      id.connection.reset();
      remove(e.connection);
      break;
    }
    case EventType::kRejected:
      id.state = IdState::kDisconnected;
      id.connection.reset();
      remove(e.connection);
      told->event.event = RDMA_CM_EVENT_REJECTED;
      told->event.status = static_cast<int>(e.reason);
      break;
    case EventType::kUnreachable:
      id.state = IdState::kDisconnected;
      told->event.event = RDMA_CM_EVENT_UNREACHABLE;
      told->event.status = e.status == roce::cm::SidrStatus::kValid ? -ETIMEDOUT : static_cast<int>(e.status);
      break;
    case EventType::kDisconnected:
      id.state = IdState::kDisconnected;
      told->event.event = RDMA_CM_EVENT_DISCONNECTED;
      break;
    case EventType::kTimewaitExit:
      id.connection.reset();
      remove(e.connection);
      told->event.event = RDMA_CM_EVENT_TIMEWAIT_EXIT;
      break;
    case EventType::kConnectRequest:
    case EventType::kLookUp:
      return;
  }
  post(id, std::move(told));
}

}  // namespace railyard::rdmacm
