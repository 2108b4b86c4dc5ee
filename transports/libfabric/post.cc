#include "transports/libfabric/post.h"

#include <cstring>
#include <new>

namespace railyard::libfabric {
namespace {

ssize_t error_of(uet::PostError error) noexcept {
  switch (error) {
    case uet::PostError::kTooLong:
      return -FI_EMSGSIZE;
    case uet::PostError::kQueueFull:
      return -FI_EAGAIN;
    default:
      return -FI_EINVAL;
  }
}

void gather(const Call& call, std::byte* to) noexcept {
  for (std::size_t i = 0; i < call.count; ++i) {
    if (call.pieces[i].iov_len > 0) std::memcpy(to, call.pieces[i].iov_base, call.pieces[i].iov_len);
    to += call.pieces[i].iov_len;
  }
}

uet::LocalBuffer local_at(const Endpoint& endpoint, const void* at, std::size_t octets) noexcept {
  return {.address = reinterpret_cast<std::uintptr_t>(at),
          .octets = static_cast<std::uint32_t>(octets),
          .key = endpoint.domain->nic->local_key()};
}

std::expected<Operation*, ssize_t> begin(Endpoint& endpoint, const Call& call, std::uint64_t entry_flags,
                                         Counter* counter, bool receives) {
  Operation* const o = endpoint.domain->take(endpoint, receives);
  if (o == nullptr) {
    progress(*endpoint.domain, false);
    return std::unexpected(-FI_EAGAIN);
  }
  o->context = call.context;
  o->flags = entry_flags;
  o->buffer = call.count > 0 ? call.pieces[0].iov_base : nullptr;
  o->octets = octets_of(call);
  o->counter = counter;
  const bool selective = receives ? endpoint.receive_selective : endpoint.send_selective;
  o->reported = !call.is_inject && (!selective || (call.flags & FI_COMPLETION) != 0);
  return o;
}

}  // namespace

std::size_t octets_of(const Call& call) noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < call.count; ++i) sum += call.pieces[i].iov_len;
  return sum;
}

ssize_t check(const Endpoint& endpoint, const Call& call) noexcept {
  if (!endpoint.context) return -FI_EOPBADSTATE;
  if (endpoint.domain->nic->lost()) return -FI_ENODEV;
  if (call.count > kPieces) return -FI_EINVAL;
  const std::size_t octets = octets_of(call);
  if (octets > uet::kMostMessageOctets) return -FI_EMSGSIZE;
  if ((call.is_inject || (call.flags & FI_INJECT) != 0) && octets > kInject) return -FI_EMSGSIZE;
  return 0;
}

std::expected<Operation*, ssize_t> begin_send(Endpoint& endpoint, const Call& call, std::uint64_t entry_flags,
                                              Counter* counter, uet::LocalBuffer& local) try {
  const auto begun = begin(endpoint, call, entry_flags, counter, false);
  if (!begun) return begun;
  Operation& o = **begun;
  const std::byte* from = static_cast<const std::byte*>(o.buffer);
  if (call.is_inject || (call.flags & FI_INJECT) != 0 || (call.count > 1 && o.octets <= kInject)) {
    gather(call, o.copy.data());
    from = o.copy.data();
  } else if (call.count > 1) {
    try {
      o.whole = std::make_unique_for_overwrite<std::byte[]>(o.octets);
    } catch (const std::bad_alloc&) {
      endpoint.domain->give_back(o);
      return std::unexpected(-FI_ENOMEM);
    }
    gather(call, o.whole.get());
    from = o.whole.get();
  }
  local = local_at(endpoint, from, o.octets);
  return &o;
} catch (const std::bad_alloc&) {
  return std::unexpected(-FI_ENOMEM);
}

std::expected<Operation*, ssize_t> begin_fill(Endpoint& endpoint, const Call& call, std::uint64_t entry_flags,
                                              Counter* counter, bool receives, uet::LocalBuffer& local) try {
  const auto begun = begin(endpoint, call, entry_flags, counter, receives);
  if (!begun) return begun;
  Operation& o = **begun;
  const std::byte* to = static_cast<const std::byte*>(o.buffer);
  if (call.count > 1) {
    try {
      o.whole = std::make_unique_for_overwrite<std::byte[]>(o.octets);
    } catch (const std::bad_alloc&) {
      endpoint.domain->give_back(o);
      return std::unexpected(-FI_ENOMEM);
    }
    o.piece_count = call.count;
    for (std::size_t i = 0; i < call.count; ++i) o.pieces[i] = call.pieces[i];
    to = o.whole.get();
  }
  local = local_at(endpoint, to, o.octets);
  return &o;
} catch (const std::bad_alloc&) {
  return std::unexpected(-FI_ENOMEM);
}

ssize_t post(Operation& o, uet::SendWr& wr) noexcept {
  Endpoint& endpoint = *o.endpoint;
  Nic& nic = *endpoint.domain->nic;
  wr.wr_id = reinterpret_cast<std::uintptr_t>(&o);
  const Instant now = Nic::now();
  nic.enter(now);
  const auto posted = nic.engine().post(now, *endpoint.context, wr);
  if (!posted) {
    endpoint.domain->give_back(o);
    return error_of(posted.error());
  }
  nic.send(now);
  nic.complete();
  return 0;
}

void name_target(uet::SendWr& wr, const Av::Peer& peer) noexcept {
  wr.peer = peer.id;
  wr.pid_on_fep = peer.address.pid_on_fep;
  wr.resource_index = peer.address.resource_index;
  // Each process has PDCs of its own, though all of a host have one address.
  wr.lane = static_cast<std::uint8_t>(peer.address.pid_on_fep / kPidsPerProcess);
}

}  // namespace railyard::libfabric
