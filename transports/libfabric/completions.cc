#include "transports/libfabric/completions.h"

#include <algorithm>
#include <cstring>

namespace railyard::libfabric {
namespace {

int error_of_code(uet::ReturnCode code) noexcept {
  using enum uet::ReturnCode;
  switch (code) {
    case kNoMatch:
    case kDisabled:
    case kDisabledGen:
    case kDropped:
      return FI_ENORX;
    case kUnsupportedOp:
    case kAmoUnsupportedOp:
    case kAmoUnsupportedDt:
    case kAmoUnsupportedSize:
      return FI_EOPNOTSUPP;
    case kAmoUnaligned:
    case kUnsupportedSize:
      return FI_EINVAL;
    case kPermViolation:
    case kOpViolation:
    case kBadJobId:
      return FI_EACCES;
    case kBadIndex:
    case kBadPid:
    case kUndeliverable:
      return FI_ECONNREFUSED;
    case kBadMkey:
      return FI_ENOKEY;
    case kBadAddr:
      return FI_EFAULT;
    case kTooLong:
      return FI_ETRUNC;
    default:
      return FI_EIO;
  }
}

void count(Counter* counter, bool well) noexcept {
  if (counter == nullptr) return;
  ++(well ? counter->successes : counter->errors);
  counter->signal.raise();
}

// To the pieces that the application has named, from where it lies in one.
void scatter(const Operation& o, std::size_t octets) noexcept {
  const std::byte* from = o.whole.get();
  for (std::size_t i = 0; i < o.piece_count && octets > 0; ++i) {
    const std::size_t n = std::min(octets, o.pieces[i].iov_len);
    std::memcpy(o.pieces[i].iov_base, from, n);
    from += n;
    octets -= n;
  }
}

fi_addr_t source_of(const Endpoint& endpoint, const uet::Completion& c) noexcept {
  if ((endpoint.caps & (FI_SOURCE | FI_DIRECTED_RECV)) == 0 || endpoint.av == nullptr) return FI_ADDR_NOTAVAIL;
  const auto known = endpoint.av->by_name.find(Av::name(c.peer, c.initiator));
  return known == endpoint.av->by_name.end() ? FI_ADDR_NOTAVAIL : known->second;
}

void on_received(Operation& o, const uet::Completion& c) noexcept {
  Endpoint& endpoint = *o.endpoint;
  Domain& domain = *endpoint.domain;
  if (o.unseen) return domain.give_back(o);
  const bool shared = (o.flags & FI_MULTI_RECV) != 0;
  const std::size_t at = shared ? c.address - reinterpret_cast<std::uintptr_t>(o.buffer) : 0;
  const std::size_t room = o.octets - at;
  const std::size_t octets = std::min<std::size_t>(c.octets, room);
  Entry entry{.octets = octets, .data = c.header_data, .tag = c.match_bits, .source = source_of(endpoint, c)};
  if (c.has_header_data) entry.flags |= FI_REMOTE_CQ_DATA;
  if (!c.ok()) {
    entry.error = libfabric::error_of(c);
    entry.return_code = static_cast<int>(c.return_code);
  } else if (c.octets > room) {
    entry.error = FI_ETRUNC;
    entry.return_code = static_cast<int>(uet::ReturnCode::kTooLong);
    entry.missing = c.octets - room;
  }
  if (o.piece_count > 0) scatter(o, octets);
  if (!shared) return finish(o, entry);

  // Of a buffer for several messages the last one that is complete gives it back.
  entry.buffer = static_cast<std::byte*>(o.buffer) + at;
  o.filled += octets;
  if (c.last_of_buffer) o.to_fill = at + octets;
  if (o.to_fill && o.filled >= *o.to_fill) {
    entry.flags |= FI_MULTI_RECV;
    return finish(o, entry);
  }
  entry.context = o.context;
  entry.flags |= o.flags & ~FI_MULTI_RECV;
  count(o.counter, entry.error == 0);
  if (endpoint.receive_cq != nullptr && (o.reported || entry.error != 0)) endpoint.receive_cq->push(entry);
}

}  // namespace

int error_of(const uet::Completion& c) noexcept {
  switch (c.status) {
    case uet::Status::kSuccess:
      return 0;
    case uet::Status::kRefused:
      return error_of_code(c.return_code);
    case uet::Status::kRetryExceeded:
      return FI_ETIMEDOUT;
    case uet::Status::kPdcFailed:
      return FI_ECONNABORTED;
    case uet::Status::kLocalError:
      return FI_EFAULT;
    case uet::Status::kFlushed:
      return FI_ECANCELED;
  }
  return FI_EIO;
}

void finish(Operation& o, Entry entry) noexcept {
  Endpoint& endpoint = *o.endpoint;
  Cq* const cq = o.receives ? endpoint.receive_cq : endpoint.send_cq;
  entry.context = o.context;
  const std::uint64_t own = o.receives ? o.flags & ~FI_MULTI_RECV : o.flags;
  entry.flags |= own;
  if (o.receives && entry.buffer == nullptr) entry.buffer = o.buffer;
  count(o.counter, entry.error == 0);
  const bool reported = o.reported || entry.error != 0;
  endpoint.domain->give_back(o);
  if (cq != nullptr && reported) cq->push(entry);
}

void fail(Operation& o, int error) noexcept { finish(o, {.tag = o.tag, .error = error}); }

void Domain::on_completion(const uet::Completion& c) noexcept {
  if (c.work == uet::Work::kReceiveWrite) {
    Endpoint* const endpoint = c.context.index() < endpoints.size() ? endpoints[c.context.index()] : nullptr;
    if (endpoint != nullptr && endpoint->receive_cq != nullptr && c.ok())
      endpoint->receive_cq->push({.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
                                  .octets = c.octets,
                                  .data = c.header_data,
                                  .source = source_of(*endpoint, c)});
    return;
  }
  // wr_id 0: a buffer of an endpoint that is closed.
  if (c.wr_id == 0) return;
  auto& o = *reinterpret_cast<Operation*>(c.wr_id);
  if (c.work == uet::Work::kReceive) return on_received(o, c);
  if (c.ok() && o.piece_count > 0) scatter(o, o.octets);
  finish(o, {.octets = o.octets,
             .tag = o.tag,
             .error = error_of(c),
             .return_code = c.ok() ? 0 : static_cast<int>(c.return_code)});
}

void Domain::on_lost() noexcept {
  for (Endpoint* const endpoint : endpoints) {
    if (endpoint == nullptr) continue;
    while (endpoint->open != nullptr) {
      if (endpoint->open->unseen) {
        give_back(*endpoint->open);
      } else {
        fail(*endpoint->open, FI_ENODEV);
      }
    }
  }
}

}  // namespace railyard::libfabric
