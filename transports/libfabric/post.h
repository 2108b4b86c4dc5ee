// What posting has in common, whatever is posted.
#pragma once

#include <expected>

#include "transports/libfabric/completions.h"
#include "transports/libfabric/objects.h"

namespace railyard::libfabric {

// What every call says, in one way or another.
struct Call {
  const iovec* pieces = nullptr;
  std::size_t count = 0;
  void* context = nullptr;
  std::uint64_t flags = 0;  // FI_INJECT, FI_COMPLETION, FI_DELIVERY_COMPLETE, FI_REMOTE_CQ_DATA, ...
  bool is_inject = false;   // fi_inject() and its like: no entry
  std::uint64_t data = 0;   // with FI_REMOTE_CQ_DATA
};

// A buffer in one piece. (`pieces` of a Call point to it.)
inline iovec piece_of(const void* buffer, std::size_t octets) noexcept { return {const_cast<void*>(buffer), octets}; }

// Why nothing can be posted: -FI_E...; 0: it can. With the lock held, as everything below.
ssize_t check(const Endpoint& endpoint, const Call& call) noexcept;

// Begins what is sent: an operation whose entry has `entry_flags`, and where its octets lie, which are copied if the
// call wants that, or if they are in several pieces. Error: -FI_E...
std::expected<Operation*, ssize_t> begin_send(Endpoint& endpoint, const Call& call, std::uint64_t entry_flags,
                                              Counter* counter, uet::LocalBuffer& local);
// Begins what is received or read: octets go to `local`, and from there to the pieces.
std::expected<Operation*, ssize_t> begin_fill(Endpoint& endpoint, const Call& call, std::uint64_t entry_flags,
                                              Counter* counter, bool receives, uet::LocalBuffer& local);
// Posts it, and sends what can be sent. 0, or -FI_E...; the operation is then given back.
ssize_t post(Operation& operation, uet::SendWr& wr) noexcept;

// The numbers of whom a request is for.
void name_target(uet::SendWr& wr, const Av::Peer& peer) noexcept;
// Octets of all pieces.
std::size_t octets_of(const Call& call) noexcept;

}  // namespace railyard::libfabric
