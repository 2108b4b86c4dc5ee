// Addresses: binding to one of the host's own, and the way to a peer. Resolving has nothing to wait for: the next hop is
// the leaf's port, which the lab has named.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "transports/rdmacm/addresses.h"
#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {
namespace {

std::uint8_t space_octet(const Id& id) noexcept {
  return static_cast<std::uint8_t>(id.id.ps == RDMA_PS_TCP ? PortSpace::kTcp : PortSpace::kUdp);
}

// On one device, or on all of them. 0, or an errno.
int claim(Id& id, std::uint16_t port) {
  std::vector<Device*> where;
  if (id.device != nullptr)
    where.push_back(id.device);
  else
    for (const auto& d : devices()) where.push_back(d.get());
  constexpr int kAttempts = 16;  // a port that is free on one NIC may be taken on another
  for (int attempt = 0;; ++attempt) {
    std::uint16_t wanted = port;
    int error = 0;
    for (Device* const d : where) {
      const auto got = d->management->claim_port(space_octet(id), wanted);
      if (!got) {
        error = got.error();
        break;
      }
      wanted = id.port = *got;
      id.port_of.push_back(d);
    }
    if (error == 0) return 0;
    release_port(id);
    if (port != 0 || error != EADDRINUSE || attempt == kAttempts) return error;
  }
}

bool is_unicast(const wire::IpAddress& a) noexcept {
  return !a.is_unspecified() && !a.is_broadcast() && !a.is_loopback();
}

}  // namespace

void bind_to(Id& id, Device& device) noexcept {
  id.device = &device;
  id.id.verbs = device.context;
  id.id.port_num = 1;
  id.id.pd = device.pd;
}

void release_port(Id& id) {
  for (Device* const d : id.port_of) d->management->release_port(space_octet(id), id.port);
  id.port_of.clear();
  id.port = 0;
}

void set_addresses(Id& id, const IpServiceValues& addresses, std::uint16_t peer_port) noexcept {
  id.addresses = addresses;
  rdma_addr& a = id.id.route.addr;
  write({addresses.source, addresses.source_port}, &a.src_addr);
  std::memcpy(a.addr.ibaddr.sgid.raw, addresses.source.octets.data(), addresses.source.octets.size());
  a.addr.ibaddr.pkey = 0xFFFF;
  if (addresses.destination == wire::IpAddress{}) return;
  write({addresses.destination, peer_port}, &a.dst_addr);
  std::memcpy(a.addr.ibaddr.dgid.raw, addresses.destination.octets.data(), addresses.destination.octets.size());
}

int bind_addr(rdma_cm_id* handle, sockaddr* address) {
  Id& id = of(handle);
  const auto own = read(address);
  if (!own) return failed(EAFNOSUPPORT);
  if (id.state != IdState::kIdle) return failed(EINVAL);
  Device* device = nullptr;
  if (!own->address.is_unspecified()) {
    device = device_with(own->address);
    if (device == nullptr) return failed(ENODEV);
    bind_to(id, *device);
  }
  if (const int error = claim(id, own->port); error != 0) {
    id.device = nullptr;
    handle->verbs = nullptr;
    handle->pd = nullptr;
    return failed(error);
  }
  set_addresses(id, {.source_port = id.port, .source = own->address, .destination = {}}, 0);
  id.state = IdState::kBound;
  return 0;
}

int resolve_addr(rdma_cm_id* handle, sockaddr* source, sockaddr* destination, int) {
  Id& id = of(handle);
  const auto peer = read(destination);
  if (!peer) return failed(EAFNOSUPPORT);
  if (id.state == IdState::kIdle && source != nullptr) {
    if (bind_addr(handle, source) != 0) return -1;
  }
  if (id.state != IdState::kIdle && id.state != IdState::kBound) return failed(EINVAL);
  const auto tell = [&](rdma_cm_event_type type, int status) {
    post(id, type, status);
    return complete(id);
  };
  Device* const device = id.device != nullptr ? id.device : device_to(peer->address);
  const auto own =
      device == nullptr
          ? wire::IpAddress{}
          : *std::ranges::max_element(device->addresses, {}, [&](const wire::IpAddress& a) {
              return 2 * static_cast<int>(a.is_v4() == peer->address.is_v4()) + static_cast<int>(a == id.addresses.source);
            });
  if (device == nullptr || own.is_v4() != peer->address.is_v4() || !is_unicast(peer->address))
    return tell(RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH);
  if (!device->management->link_up()) return tell(RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
  if (id.device == nullptr) {
    bind_to(id, *device);
    if (id.port == 0)
      if (const int error = claim(id, 0); error != 0) return failed(error);
  }
  set_addresses(id, {.source_port = id.port, .source = own, .destination = peer->address}, peer->port);
  id.state = IdState::kAddressResolved;
  return tell(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

int resolve_route(rdma_cm_id* handle, int) {
  Id& id = of(handle);
  if (id.state != IdState::kAddressResolved) return failed(EINVAL);
  ibv_port_attr port{};
  if (const int error = ::ibv_query_port(handle->verbs, 1, &port); error != 0) return failed(error);
  ibv_sa_path_rec& p = id.path;
  p.dgid = handle->route.addr.addr.ibaddr.dgid;
  p.sgid = handle->route.addr.addr.ibaddr.sgid;
  p.hop_limit = 64;
  p.traffic_class = id.tos.value_or(0);
  p.reversible = 1;
  p.numb_path = 1;
  p.pkey = 0xFFFF;
  p.mtu_selector = p.rate_selector = p.packet_life_time_selector = 2;  // exactly
  p.mtu = static_cast<std::uint8_t>(port.active_mtu);
  p.packet_life_time = 16;  // 4.096 us * 2^n, as Linux has it for RoCE
  handle->route.path_rec = &p;
  handle->route.num_paths = 1;
  id.state = IdState::kRouteResolved;
  post(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
  return complete(id);
}

}  // namespace railyard::rdmacm
