// Connections: begun, listened for, accepted, ended.
#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <span>

#include "dataplane/wire/ecn.h"
#include "transports/rdmacm/addresses.h"
#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {
namespace {

using roce::cm::ConnectError;

constexpr std::uint8_t kMostReads = 16;  // outstanding READs and atomics of the provider's QPs, either way
constexpr int kMostBacklog = 1024;

int errno_of(ConnectError error) noexcept {
  switch (error) {
    case ConnectError::kNoRoute:
      return EHOSTUNREACH;
    case ConnectError::kPrivateData:
    case ConnectError::kPathMtu:
    default:
      return EINVAL;
  }
}

int result_of(const std::expected<void, ConnectError>& done) noexcept {
  return done ? 0 : failed(errno_of(done.error()));
}

std::span<const std::byte> private_data_of(const rdma_conn_param* p) noexcept {
  if (p == nullptr || p->private_data == nullptr) return {};
  return {static_cast<const std::byte*>(p->private_data), p->private_data_len};
}

// What the packets of both ends have: what the application asked for, or the NIC's default, which the peer need not know.
roce::cm::ServiceType service_type(const Id& id) noexcept {
  const std::uint8_t octet = id.tos.value_or(0) != 0 ? *id.tos : id.device->management->default_traffic_class();
  const auto dscp = static_cast<std::uint8_t>(octet >> 2);
  return {dscp, wire::ecn_of(octet) != wire::Ecn::kNotEct, Priority{id.device->management->nic().dscp_to_class[dscp]}};
}

roce::PathMtu path_mtu(const Id& id) {
  ibv_port_attr port{};
  ::ibv_query_port(id.id.verbs, 1, &port);
  return static_cast<roce::PathMtu>(std::max<int>(port.active_mtu, IBV_MTU_256));
}

// Depths as the application gave them, within the device's limits. 0, or an errno.
int set_depths(Id& id, const rdma_conn_param* p, std::uint8_t most_responder, std::uint8_t most_initiator) noexcept {
  const auto one = [](std::uint8_t wanted, std::uint8_t unsaid, std::uint8_t most, std::uint8_t& to) {
    if (wanted != unsaid && wanted > kMostReads) return EINVAL;
    to = wanted == unsaid ? std::min(most, kMostReads) : wanted;
    return 0;
  };
  const auto responder = p != nullptr ? p->responder_resources : std::uint8_t{RDMA_MAX_RESP_RES};
  const auto initiator = p != nullptr ? p->initiator_depth : std::uint8_t{RDMA_MAX_INIT_DEPTH};
  if (const int error = one(responder, RDMA_MAX_RESP_RES, most_responder, id.responder_resources); error != 0)
    return error;
  return one(initiator, RDMA_MAX_INIT_DEPTH, most_initiator, id.initiator_depth);
}

roce::cm::ConnectionParameters parameters_of(const Id& id, const rdma_conn_param* p) {
  roce::cm::ConnectionParameters c;
  const ibv_qp* const qp = id.id.qp;
  c.qp = roce::QpNumber{qp != nullptr ? qp->qp_num : p->qp_num};
  c.has_srq = qp != nullptr ? qp->srq != nullptr : p->srq != 0;
  c.type = id.id.qp_type == IBV_QPT_UC ? roce::QpType::kUc : roce::QpType::kRc;
  c.responder_resources = id.responder_resources;
  c.initiator_depth = id.initiator_depth;
  c.retry_count = p != nullptr ? std::min<std::uint8_t>(p->retry_count, 7) : std::uint8_t{7};
  c.rnr_retry_count = p != nullptr ? std::min<std::uint8_t>(p->rnr_retry_count, 7) : std::uint8_t{7};
  c.path_mtu = path_mtu(id);
  c.ack_timeout = id.ack_timeout.value_or(c.ack_timeout);
  c.service_type = service_type(id);
  c.private_data = private_data_of(p);
  return c;
}

std::vector<std::byte> copy_of(std::span<const std::byte> octets) { return {octets.begin(), octets.end()}; }

// What connect() asks of the peer, as often as it has to be asked.
void set_beginning(Id& id, const rdma_conn_param* param) {
  roce::cm::ConnectionManager& manager = id.device->cm->manager();
  const std::uint16_t port = read(&id.id.route.addr.dst_addr)->port;
  if (id.id.ps == RDMA_PS_UDP) {
    id.begin = [&manager, &id, port, type = service_type(id), data = copy_of(private_data_of(param))](Instant now) {
      return manager.look_up(now, id.addresses, port, type, data);
    };
    return;
  }
  id.begin = [&manager, &id, port, parameters = parameters_of(id, param),
              data = copy_of(private_data_of(param))](Instant now) {
    roce::cm::ConnectionParameters p = parameters;
    p.private_data = data;
    return manager.connect(now, id.addresses, PortSpace::kTcp, port, p);
  };
}

int accept_datagrams(Id& id, const rdma_conn_param* param) {
  Device& device = *id.device;
  const roce::QpNumber qp{id.id.qp != nullptr ? id.id.qp->qp_num : param != nullptr ? param->qp_num : 0};
  const std::lock_guard lock(device.management->mutex());
  if (id.state != IdState::kRequested || !id.connection) return failed(EINVAL);
  const auto done = device.cm->manager().answer(*id.connection, roce::cm::SidrStatus::kValid, qp, RDMA_UDP_QKEY,
                                                private_data_of(param));
  if (!done) return failed(errno_of(done.error()));
  device.cm->remove(*id.connection);
  id.connection.reset();
  id.state = IdState::kConnected;
  device.management->run();
  return 0;
}

}  // namespace

int connect(rdma_cm_id* handle, const rdma_conn_param* param) {
  Id& id = of(handle);
  if (id.state != IdState::kRouteResolved) return failed(EINVAL);
  if (handle->ps != RDMA_PS_UDP) {
    if (handle->qp == nullptr && param == nullptr) return failed(EINVAL);
    if (const int error = set_depths(id, param, kMostReads, kMostReads); error != 0) return failed(error);
  }
  set_beginning(id, param);
  {
    Device& device = *id.device;
    const std::lock_guard lock(device.management->mutex());
    if (const auto error = device.cm->begin(device.management->now(), id)) return failed(errno_of(*error));
    device.management->run();
  }
  return complete(id);
}

int finish_response(Id& id) {
  int error = to_rts(id);
  Device& device = *id.device;
  const std::lock_guard lock(device.management->mutex());
  if (id.state != IdState::kResponse || !id.connection) return ECONNRESET;
  auto& manager = device.cm->manager();
  const Instant now = device.management->now();
  if (error == 0 && !manager.establish(now, *id.connection)) error = ECONNRESET;
  if (error != 0) static_cast<void>(manager.reject(now, *id.connection, {}, roce::cm::RejReason::kConsumer));
  id.state = error == 0 ? IdState::kConnected : IdState::kDisconnected;
  device.management->run();
  return error;
}

int establish(rdma_cm_id* handle) {
  Id& id = of(handle);
  if (handle->qp != nullptr || id.device == nullptr) return failed(EINVAL);  // get_cm_event() has done it
  Device& device = *id.device;
  const std::lock_guard lock(device.management->mutex());
  if (id.state != IdState::kResponse || !id.connection) return failed(EINVAL);
  const auto done = device.cm->manager().establish(device.management->now(), *id.connection);
  if (done) id.state = IdState::kConnected;
  device.management->run();
  return result_of(done);
}

int listen(rdma_cm_id* handle, int backlog) {
  Id& id = of(handle);
  if (id.state == IdState::kIdle) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    if (bind_addr(handle, reinterpret_cast<sockaddr*>(&any)) != 0) return -1;
  }
  if (id.state != IdState::kBound) return failed(EINVAL);
  id.backlog = backlog <= 0 ? kMostBacklog : std::min(backlog, kMostBacklog);
  for (Device* const d : id.port_of) {
    const std::lock_guard lock(d->management->mutex());
    id.state = IdState::kListening;
    d->cm->listen(id, space_of(id), id.port);
  }
  return 0;
}

int get_request(rdma_cm_id* listener, rdma_cm_id** request) {
  Id& id = of(listener);
  if (!id.synchronous) return failed(EINVAL);
  if (listener->event != nullptr) {
    ack_cm_event(listener->event);
    listener->event = nullptr;
  }
  rdma_cm_event* event = nullptr;
  if (get_cm_event(listener->channel, &event) != 0) return -1;
  if (event->status != 0 || event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
    const int error = event->status > 0 ? event->status : event->status < 0 ? -event->status : EINVAL;
    ack_cm_event(event);
    return failed(error);
  }
  if (id.qp_of_requests) {
    ibv_qp_init_attr attr = *id.qp_of_requests;
    if (create_qp(event->id, id.pd_of_requests, &attr) != 0) {
      const int error = errno;
      rdma_cm_id* const unwanted = event->id;
      ack_cm_event(event);
      destroy_id(unwanted);
      return failed(error);
    }
  }
  *request = event->id;
  (*request)->event = event;
  return 0;
}

int accept(rdma_cm_id* handle, const rdma_conn_param* param) {
  Id& id = of(handle);
  if (id.device == nullptr) return failed(EINVAL);
  if (handle->ps == RDMA_PS_UDP) return accept_datagrams(id, param);
  if (handle->qp == nullptr && param == nullptr) return failed(EINVAL);
  // What the peer asked for at most.
  if (const int error = set_depths(id, param, id.responder_resources, id.initiator_depth); error != 0)
    return failed(error);
  if (handle->qp != nullptr)
    if (const int error = to_rts(id); error != 0) return failed(error);
  const auto parameters = parameters_of(id, param);
  {
    Device& device = *id.device;
    const std::lock_guard lock(device.management->mutex());
    if (id.state != IdState::kRequested || !id.connection) return failed(EINVAL);
    const auto done = device.cm->manager().accept(device.management->now(), *id.connection, parameters);
    if (done) id.state = IdState::kAccepted;
    device.management->run();
    if (!done) return failed(errno_of(done.error()));
  }
  return complete(id);
}

int reject(rdma_cm_id* handle, const void* private_data, std::uint8_t octets, roce::cm::RejReason reason) {
  Id& id = of(handle);
  if (id.device == nullptr) return failed(EINVAL);
  Device& device = *id.device;
  const std::span data(static_cast<const std::byte*>(private_data), private_data != nullptr ? octets : 0u);
  const std::lock_guard lock(device.management->mutex());
  if ((id.state != IdState::kRequested && id.state != IdState::kResponse) || !id.connection) return failed(EINVAL);
  auto& manager = device.cm->manager();
  const auto done = handle->ps == RDMA_PS_UDP
                        ? manager.answer(*id.connection, roce::cm::SidrStatus::kRejected, {}, 0, data)
                        : manager.reject(device.management->now(), *id.connection, data, reason);
  if (!done) return failed(errno_of(done.error()));
  device.cm->remove(*id.connection);
  id.connection.reset();
  id.state = IdState::kDisconnected;
  device.management->run();
  return 0;
}

int disconnect(rdma_cm_id* handle) {
  Id& id = of(handle);
  if (id.device == nullptr || handle->ps == RDMA_PS_UDP) return failed(EINVAL);
  to_err(id);
  {
    Device& device = *id.device;
    const std::lock_guard lock(device.management->mutex());
    switch (id.state) {
      case IdState::kAccepted:
      case IdState::kConnected:
        if (!id.connection) return failed(EINVAL);
        static_cast<void>(device.cm->manager().disconnect(device.management->now(), *id.connection));
        device.management->run();
        break;
      case IdState::kDisconnected:
        if (!id.connection) return 0;
        break;  // the peer was first, and was answered; its event waits, or was taken
      default:
        return failed(EINVAL);
    }
  }
  return complete(id);
}

int notify(rdma_cm_id* handle, ibv_event_type event) {
  Id& id = of(handle);
  if (id.device == nullptr) return failed(EINVAL);
  if (event != IBV_EVENT_COMM_EST) return 0;
  Device& device = *id.device;
  const std::lock_guard lock(device.management->mutex());
  if (handle->qp == nullptr) return failed(EINVAL);
  device.cm->on_path_established(device.management->now(), roce::QpNumber{handle->qp->qp_num});
  device.management->run();
  return 0;
}

}  // namespace railyard::rdmacm
