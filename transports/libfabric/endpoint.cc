// Endpoints: how they are made, bound, enabled and named.
#include <algorithm>
#include <cstring>
#include <memory>
#include <system_error>

#include <rdma/fi_collective.h>

#include "dataplane/base/assert.h"
#include "transports/application/give_way.h"
#include "transports/libfabric/completions.h"
#include "transports/libfabric/objects.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {
namespace {

// ---- Binding
// ---------------------------------------------------------------------------------------------------------

int bind_cq(Endpoint& endpoint, Cq& cq, std::uint64_t flags) {
  if ((flags & (FI_TRANSMIT | FI_RECV)) == 0) return -FI_EBADFLAGS;
  const bool selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
  if ((flags & FI_TRANSMIT) != 0) {
    if (endpoint.send_cq != nullptr) return -FI_EINVAL;
    endpoint.send_cq = &cq;
    endpoint.send_selective = selective;
    ++cq.users;
  }
  if ((flags & FI_RECV) != 0) {
    if (endpoint.receive_cq != nullptr) return -FI_EINVAL;
    endpoint.receive_cq = &cq;
    endpoint.receive_selective = selective;
    ++cq.users;
  }
  return 0;
}

int bind_counter(Endpoint& endpoint, Counter& counter, std::uint64_t flags) {
  // Nothing tells a target of RMA that leaves no entry (FI_RMA_EVENT is not offered).
  if ((flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0) return -FI_ENOSYS;
  for (const auto& [flag, place] : {std::pair{FI_SEND, &endpoint.sends}, std::pair{FI_RECV, &endpoint.receives},
                                    std::pair{FI_READ, &endpoint.reads}, std::pair{FI_WRITE, &endpoint.writes}}) {
    if ((flags & flag) == 0) continue;
    if (*place != nullptr) return -FI_EINVAL;
    *place = &counter;
    ++counter.users;
  }
  return 0;
}

int bind_endpoint(fid* fid, struct fid* other, std::uint64_t flags) {
  Endpoint& endpoint = object_of<Endpoint>(fid);
  const std::lock_guard lock(endpoint.domain->nic->mutex());
  if (endpoint.context) return -FI_EOPBADSTATE;
  switch (other->fclass) {
    case FI_CLASS_AV:
      if (endpoint.av != nullptr) return -FI_EINVAL;
      endpoint.av = &object_of<Av>(other);
      ++endpoint.av->users;
      return 0;
    case FI_CLASS_CQ:
      return bind_cq(endpoint, object_of<Cq>(other), flags);
    case FI_CLASS_CNTR:
      return bind_counter(endpoint, object_of<Counter>(other), flags);
    case FI_CLASS_EQ:
      return 0;  // of an endpoint without connections nothing comes
    default:
      return -FI_EINVAL;
  }
}

// ---- Life
// ------------------------------------------------------------------------------------------------------------

int enable(Endpoint& endpoint) try {
  Domain& domain = *endpoint.domain;
  const std::lock_guard lock(domain.nic->mutex());
  if (endpoint.context) return -FI_EOPBADSTATE;
  if (endpoint.av == nullptr) return -FI_EOPBADSTATE;
  if (endpoint.send_cq == nullptr && endpoint.sends == nullptr && endpoint.receive_cq == nullptr &&
      endpoint.receives == nullptr)
    return -FI_ENOCQ;
  if (domain.nic->lost()) return -FI_ENODEV;
  endpoint.context = domain.nic->engine().create_context({.job_id = domain.nic->grant().uet.job_id,
                                                          .pid_on_fep = endpoint.address.pid_on_fep,
                                                          .resource_index = endpoint.address.resource_index,
                                                          .initiator = endpoint.address.initiator,
                                                          .cq = domain.nic->cq(),
                                                          .most_receives = kMostReceives,
                                                          .most_unexpected = kMostReceives,
                                                          .most_unexpected_octets = std::uint64_t{1} << 32});
  domain.endpoints.resize(std::max(domain.endpoints.size(), endpoint.context->index() + std::size_t{1}));
  domain.endpoints[endpoint.context->index()] = &endpoint;
  domain.nic->start_thread();
  return 0;
} catch (const std::system_error&) {
  return -FI_EAGAIN;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
}

int control_endpoint(fid* fid, int command, void* argument) {
  Endpoint& endpoint = object_of<Endpoint>(fid);
  if (command == FI_ENABLE) return enable(endpoint);
  if (command != FI_GETOPSFLAG && command != FI_SETOPSFLAG) return -FI_ENOSYS;
  auto& flags = *static_cast<std::uint64_t*>(argument);
  const std::lock_guard lock(endpoint.domain->nic->mutex());
  const bool sends = (flags & FI_TRANSMIT) != 0;
  if (sends == ((flags & FI_RECV) != 0)) return -FI_EINVAL;
  std::uint64_t& ours = sends ? endpoint.send_flags : endpoint.receive_flags;
  if (command == FI_GETOPSFLAG) {
    flags = ours;
  } else {
    ours = flags & ~(FI_TRANSMIT | FI_RECV);
  }
  return 0;
}

// What it has sent is on its way when it is closed; for that alone, and not for long, this waits.
void finish_sends(Endpoint& endpoint) noexcept {
  constexpr Duration kMost{2'000'000'000'000};
  Nic& nic = *endpoint.domain->nic;
  const Instant from = Nic::now();
  for (;;) {
    {
      const std::lock_guard lock(nic.mutex());
      if (endpoint.sends_open == 0 || nic.lost() || Nic::now() - from > kMost) return;
      progress(*endpoint.domain, false);
    }
    application::give_way();
  }
}

int close_endpoint(fid* fid) {
  Endpoint& endpoint = object_of<Endpoint>(fid);
  Domain& domain = *endpoint.domain;
  finish_sends(endpoint);
  {
    const std::lock_guard lock(domain.nic->mutex());
    if (endpoint.context) {
      if (!domain.nic->lost()) domain.nic->engine().close_context(*endpoint.context);
      domain.endpoints[endpoint.context->index()] = nullptr;
    }
    // What is still under way may complete, and nobody is told.
    while (endpoint.open != nullptr) {
      Operation& o = *endpoint.open;
      const bool under_way = !o.receives;
      if (under_way) domain.abandon(o);
      if (!under_way) domain.give_back(o);
    }
    if (endpoint.av != nullptr) --endpoint.av->users;
    for (Cq* const cq : {endpoint.send_cq, endpoint.receive_cq})
      if (cq != nullptr) --cq->users;
    for (Counter* const c : {endpoint.sends, endpoint.receives, endpoint.reads, endpoint.writes})
      if (c != nullptr) --c->users;
    --domain.users;
  }
  delete &endpoint;
  return 0;
}

// ---- Names and options
// -----------------------------------------------------------------------------------------------

int get_name(fid* fid, void* out, std::size_t* octets) {
  const std::size_t room = *octets;
  *octets = sizeof(Address);
  if (room < sizeof(Address)) return -FI_ETOOSMALL;
  std::memcpy(out, &object_of<Endpoint>(fid).address, sizeof(Address));
  return 0;
}

int get_option(fid* fid, int level, int name, void* out, std::size_t* octets) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (*octets < sizeof(std::size_t)) return -FI_ETOOSMALL;
  *static_cast<std::size_t*>(out) = object_of<Endpoint>(fid).least_left;
  *octets = sizeof(std::size_t);
  return 0;
}

int set_option(fid* fid, int level, int name, const void* value, std::size_t octets) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (octets != sizeof(std::size_t)) return -FI_EINVAL;
  object_of<Endpoint>(fid).least_left = *static_cast<const std::size_t*>(value);
  return 0;
}

// Receives only: what was sent is under way.
ssize_t cancel(fid* fid, void* context) {
  Endpoint& endpoint = object_of<Endpoint>(fid);
  Domain& domain = *endpoint.domain;
  const std::lock_guard lock(domain.nic->mutex());
  for (Operation* o = endpoint.open; o != nullptr; o = o->after) {
    if (!o->receives || o->context != context || o->unseen || domain.nic->lost()) continue;
    const auto rest = domain.nic->engine().cancel_receive(*endpoint.context, reinterpret_cast<std::uintptr_t>(o));
    if (!rest) return 0;  // a message is coming in: it will complete
    const auto begin = reinterpret_cast<std::uintptr_t>(o->buffer);
    const std::size_t used = (o->flags & FI_MULTI_RECV) != 0 ? rest->local.address - begin : 0;
    if (o->filled < used) {
      o->to_fill = used;
      return 0;
    }
    fail(*o, FI_ECANCELED);
    return 0;
  }
  return -FI_ENOENT;
}

ssize_t sends_left(fid_ep* handle) {
  const auto& endpoint = object_of<Endpoint>(handle);
  return static_cast<ssize_t>(kMostSends - endpoint.sends_open);
}
ssize_t receives_left(fid_ep* handle) {
  const auto& endpoint = object_of<Endpoint>(handle);
  return static_cast<ssize_t>(kMostReceives - endpoint.receives_open);
}

fi_ops endpoint_object_operations = {.size = sizeof(fi_ops),
                                     .close = close_endpoint,
                                     .bind = bind_endpoint,
                                     .control = control_endpoint,
                                     .ops_open = kNotImplemented,
                                     .tostr = kNotImplemented,
                                     .ops_set = kNotImplemented};
fi_ops_ep endpoint_operations = {.size = sizeof(fi_ops_ep),
                                 .cancel = cancel,
                                 .getopt = get_option,
                                 .setopt = set_option,
                                 .tx_ctx = kNotImplemented,
                                 .rx_ctx = kNotImplemented,
                                 .rx_size_left = receives_left,
                                 .tx_size_left = sends_left};
fi_ops_cm name_operations = {.size = sizeof(fi_ops_cm),
                             .setname = kNotImplemented,
                             .getname = get_name,
                             .getpeer = kNotImplemented,
                             .connect = kNotImplemented,
                             .listen = kNotImplemented,
                             .accept = kNotImplemented,
                             .reject = kNotImplemented,
                             .shutdown = kNotImplemented,
                             .join = kNotImplemented};
fi_ops_collective no_collectives = {.size = sizeof(fi_ops_collective),
                                    .barrier = kNotImplemented,
                                    .broadcast = kNotImplemented,
                                    .alltoall = kNotImplemented,
                                    .allreduce = kNotImplemented,
                                    .allgather = kNotImplemented,
                                    .reduce_scatter = kNotImplemented,
                                    .reduce = kNotImplemented,
                                    .scatter = kNotImplemented,
                                    .gather = kNotImplemented,
                                    .msg = kNotImplemented,
                                    .barrier2 = kNotImplemented};

// A number of the process's, from 1 on: resource index 0 is for providers.
bool name_endpoint(Domain& domain, Address& out) noexcept {
  constexpr std::uint32_t kIndices = (1u << 12) - 1;
  const application::UetGrant& grant = domain.nic->grant().uet;
  const std::uint32_t number = domain.next_name - 1;
  if (number / kIndices >= grant.most_pids) return false;
  ++domain.next_name;
  out.pid_on_fep = static_cast<std::uint16_t>(grant.first_pid_on_fep + number / kIndices);
  out.resource_index = static_cast<std::uint16_t>(1 + number % kIndices);
  out.initiator = std::uint32_t{out.pid_on_fep} << 12 | out.resource_index;
  out.fabric_address = domain.address;
  return true;
}

}  // namespace

int open_endpoint(fid_domain* handle, fi_info* info, fid_ep** out, void* context) try {
  Domain& domain = *domain_of(handle);
  if (info == nullptr || info->ep_attr == nullptr || info->tx_attr == nullptr || info->rx_attr == nullptr)
    return -FI_EINVAL;
  const fi_ep_type type = info->ep_attr->type;
  if (type != FI_EP_RDM && type != FI_EP_DGRAM) return -FI_EINVAL;
  auto endpoint = std::make_unique<Endpoint>();
  endpoint->domain = &domain;
  endpoint->caps = info->caps;
  endpoint->send_flags = info->tx_attr->op_flags;
  endpoint->receive_flags = info->rx_attr->op_flags;
  endpoint->datagrams = type == FI_EP_DGRAM;
  // Ordered packets are on one path; what needs no order is on all of them.
  const std::uint64_t order = info->tx_attr->msg_order | info->rx_attr->msg_order;
  constexpr std::uint64_t kOfSends = FI_ORDER_SAS | FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_RAS | FI_ORDER_WAS;
  if ((order & kOfSends) != 0) endpoint->send_mode = uet::DeliveryMode::kRod;
  if ((order & ~std::uint64_t{FI_ORDER_SAS}) != 0) endpoint->rma_mode = uet::DeliveryMode::kRod;
  if (endpoint->datagrams) endpoint->send_mode = uet::DeliveryMode::kUud;
  endpoint->fid = {.fid = {.fclass = FI_CLASS_EP, .context = context, .ops = &endpoint_object_operations},
                   .ops = &endpoint_operations,
                   .cm = &name_operations,
                   .msg = &message_operations,
                   .rma = &rma_operations,
                   .tagged = &tagged_operations,
                   .atomic = &atomic_operations,
                   .collective = &no_collectives};
  const std::lock_guard lock(domain.nic->mutex());
  if (!name_endpoint(domain, endpoint->address)) return -FI_EMFILE;
  ++domain.users;
  *out = &endpoint.release()->fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
}

}  // namespace railyard::libfabric
