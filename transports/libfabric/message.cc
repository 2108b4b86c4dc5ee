// Messages, tagged and not.
#include <algorithm>

#include "transports/libfabric/post.h"
#include "transports/libfabric/stub.h"
#include "transports/uet/wire/return_code.h"

namespace railyard::libfabric {
namespace {

struct Tag {
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
};

// ---- Sending
// ---------------------------------------------------------------------------------------------------------

ssize_t send(Endpoint& endpoint, const Call& call, fi_addr_t to, const Tag* tag) {
  const std::lock_guard lock(endpoint.domain->nic->mutex());
  if (const ssize_t error = check(endpoint, call)) return error;
  if (tag != nullptr && endpoint.datagrams) return -FI_EOPNOTSUPP;
  const Av::Peer* const peer = endpoint.av->find(to);
  if (peer == nullptr) return -FI_EINVAL;
  uet::SendWr wr;
  const auto begun =
      begin_send(endpoint, call, FI_SEND | (tag != nullptr ? FI_TAGGED : FI_MSG), endpoint.sends, wr.local);
  if (!begun) return begun.error();
  Operation& o = **begun;
  o.tag = tag != nullptr ? tag->tag : 0;
  wr.operation = endpoint.datagrams ? uet::Operation::kDatagram
                 : tag != nullptr   ? uet::Operation::kTaggedSend
                                    : uet::Operation::kSend;
  wr.mode = endpoint.send_mode;
  name_target(wr, *peer);
  wr.match_bits = o.tag;
  if ((call.flags & FI_REMOTE_CQ_DATA) != 0) wr.header_data = call.data;
  wr.delivery_complete = (call.flags & FI_DELIVERY_COMPLETE) != 0 && !endpoint.datagrams;
  return post(o, wr);
}

ssize_t send_one(fid_ep* handle, const void* buffer, std::size_t octets, fi_addr_t to, void* context, const Tag* tag,
                 std::uint64_t flags = 0, std::uint64_t data = 0) {
  Endpoint& endpoint = of(handle);
  const iovec piece = piece_of(buffer, octets);
  return send(endpoint,
              {.pieces = &piece, .count = 1, .context = context, .flags = endpoint.send_flags | flags, .data = data},
              to, tag);
}

ssize_t inject_one(fid_ep* handle, const void* buffer, std::size_t octets, fi_addr_t to, const Tag* tag,
                   std::uint64_t flags = 0, std::uint64_t data = 0) {
  const iovec piece = piece_of(buffer, octets);
  return send(of(handle), {.pieces = &piece, .count = 1, .flags = flags, .is_inject = true, .data = data}, to, tag);
}

// ---- Receiving
// -------------------------------------------------------------------------------------------------------

// Whose messages, and which.
uet::RecvWr wanted(const Endpoint& endpoint, fi_addr_t from, const Tag* tag) noexcept {
  uet::RecvWr wr;
  wr.tagged = tag != nullptr;
  if (tag != nullptr) {
    wr.match_bits = tag->tag;
    wr.ignore = tag->ignore;
  }
  // (Who has not asked for it may name anybody.)
  if ((endpoint.caps & FI_DIRECTED_RECV) == 0 || from == FI_ADDR_UNSPEC) return wr;
  if (const Av::Peer* const peer = endpoint.av->find(from)) {
    wr.peer = peer->id;
    wr.initiator = peer->address.initiator;
  }
  return wr;
}

// An operation of which nothing but an entry comes.
ssize_t tell(Endpoint& endpoint, const Call& call, const Tag& tag, Entry entry) {
  Operation* const o = endpoint.domain->take(endpoint, true);
  if (o == nullptr) return -FI_EAGAIN;
  o->context = call.context;
  o->flags = FI_RECV | FI_TAGGED;
  o->buffer = nullptr;
  o->tag = tag.tag;
  o->reported = true;
  finish(*o, entry);
  return 0;
}

// Takes a message that was found, and forgets it.
ssize_t discard(Endpoint& endpoint, const uet::EarlyMessage& message) {
  Operation* const o = endpoint.domain->take(endpoint, true);
  if (o == nullptr) return -FI_EAGAIN;
  o->unseen = true;
  o->octets = 0;
  endpoint.domain->nic->engine().receive_claimed(Nic::now(), message, {.wr_id = reinterpret_cast<std::uintptr_t>(o)});
  endpoint.domain->nic->complete();
  return 0;
}

fi_addr_t source_of(const Endpoint& endpoint, const uet::EarlyMessage& m) noexcept {
  const auto known = endpoint.av->by_name.find(Av::name(m.peer, m.initiator));
  return known == endpoint.av->by_name.end() ? FI_ADDR_NOTAVAIL : known->second;
}

// FI_PEEK: looks for a message that is there; with FI_CLAIM keeps it for the receive that names the same context, with
// FI_DISCARD forgets it.
ssize_t peek(Endpoint& endpoint, const Call& call, fi_addr_t from, const Tag& tag) {
  const std::lock_guard lock(endpoint.domain->nic->mutex());
  if (const ssize_t error = check(endpoint, call)) return error;
  progress(*endpoint.domain, false);
  uet::Engine& engine = endpoint.domain->nic->engine();
  const auto found = engine.find_early(*endpoint.context, wanted(endpoint, from, &tag));
  if (!found)
    return tell(endpoint, call, tag,
                {.tag = tag.tag, .error = FI_ENOMSG, .return_code = static_cast<int>(uet::ReturnCode::kNoMatch)});
  Entry entry{.octets = found->octets,
              .data = found->header_data,
              .tag = found->match_bits,
              .source = source_of(endpoint, *found)};
  if (found->has_header_data) entry.flags |= FI_REMOTE_CQ_DATA;
  if ((call.flags & (FI_CLAIM | FI_DISCARD)) != 0) {
    engine.claim(*found);
    if ((call.flags & FI_DISCARD) != 0) {
      if (const ssize_t error = discard(endpoint, *found)) return error;
    } else {
      endpoint.claimed[call.context] = *found;
    }
  }
  return tell(endpoint, call, tag, entry);
}

ssize_t receive(Endpoint& endpoint, const Call& call, fi_addr_t from, const Tag* tag) {
  const std::lock_guard lock(endpoint.domain->nic->mutex());
  if (const ssize_t error = check(endpoint, call)) return error;
  Nic& nic = *endpoint.domain->nic;
  uet::RecvWr wr = wanted(endpoint, from, tag);
  std::optional<uet::EarlyMessage> claimed;
  if (tag != nullptr && (call.flags & FI_CLAIM) != 0) {
    const auto kept = endpoint.claimed.extract(call.context);
    if (kept.empty()) return -FI_EINVAL;
    claimed = kept.mapped();
    if ((call.flags & FI_DISCARD) != 0) {
      if (const ssize_t error = discard(endpoint, *claimed)) return error;
      return tell(endpoint, call, *tag, {.octets = claimed->octets, .tag = claimed->match_bits});
    }
  }
  const bool shared = tag == nullptr && (call.flags & FI_MULTI_RECV) != 0;
  const auto begun =
      begin_fill(endpoint, call, FI_RECV | (tag != nullptr ? FI_TAGGED : FI_MSG) | (shared ? FI_MULTI_RECV : 0),
                 endpoint.receives, true, wr.local);
  if (!begun) return begun.error();
  Operation& o = **begun;
  o.tag = tag != nullptr ? tag->tag : 0;
  wr.wr_id = reinterpret_cast<std::uintptr_t>(&o);
  if (shared)
    wr.least_left = static_cast<std::uint32_t>(std::clamp<std::size_t>(endpoint.least_left, 1, ~std::uint32_t{0}));
  if (claimed) {
    nic.engine().receive_claimed(Nic::now(), *claimed, wr);
  } else if (!nic.engine().post_receive(Nic::now(), *endpoint.context, wr)) {
    endpoint.domain->give_back(o);
    return -FI_EAGAIN;
  }
  nic.complete();
  return 0;
}

ssize_t receive_one(fid_ep* handle, void* buffer, std::size_t octets, fi_addr_t from, void* context, const Tag* tag) {
  Endpoint& endpoint = of(handle);
  const iovec piece = piece_of(buffer, octets);
  return receive(endpoint, {.pieces = &piece, .count = 1, .context = context, .flags = endpoint.receive_flags}, from,
                 tag);
}

}  // namespace

// ---- Tables
// ----------------------------------------------------------------------------------------------------------

fi_ops_msg message_operations = {
    .size = sizeof(fi_ops_msg),
    .recv = [](fid_ep* ep, void* buffer, std::size_t octets, void*, fi_addr_t from,
               void* context) { return receive_one(ep, buffer, octets, from, context, nullptr); },
    .recvv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from, void* context) {
          Endpoint& endpoint = of(ep);
          return receive(endpoint,
                         {.pieces = pieces, .count = count, .context = context, .flags = endpoint.receive_flags}, from,
                         nullptr);
        },
    .recvmsg =
        [](fid_ep* ep, const fi_msg* m, std::uint64_t flags) {
          return receive(of(ep), {.pieces = m->msg_iov, .count = m->iov_count, .context = m->context, .flags = flags},
                         m->addr, nullptr);
        },
    .send = [](fid_ep* ep, const void* buffer, std::size_t octets, void*, fi_addr_t to,
               void* context) { return send_one(ep, buffer, octets, to, context, nullptr); },
    .sendv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, void* context) {
          Endpoint& endpoint = of(ep);
          return send(endpoint, {.pieces = pieces, .count = count, .context = context, .flags = endpoint.send_flags},
                      to, nullptr);
        },
    .sendmsg =
        [](fid_ep* ep, const fi_msg* m, std::uint64_t flags) {
          return send(
              of(ep),
              {.pieces = m->msg_iov, .count = m->iov_count, .context = m->context, .flags = flags, .data = m->data},
              m->addr, nullptr);
        },
    .inject = [](fid_ep* ep, const void* buffer, std::size_t octets,
                 fi_addr_t to) { return inject_one(ep, buffer, octets, to, nullptr); },
    .senddata =
        [](fid_ep* ep, const void* buffer, std::size_t octets, void*, std::uint64_t data, fi_addr_t to, void* context) {
          return send_one(ep, buffer, octets, to, context, nullptr, FI_REMOTE_CQ_DATA, data);
        },
    .injectdata = [](fid_ep* ep, const void* buffer, std::size_t octets, std::uint64_t data,
                     fi_addr_t to) { return inject_one(ep, buffer, octets, to, nullptr, FI_REMOTE_CQ_DATA, data); }};

fi_ops_tagged tagged_operations = {
    .size = sizeof(fi_ops_tagged),
    .recv =
        [](fid_ep* ep, void* buffer, std::size_t octets, void*, fi_addr_t from, std::uint64_t tag, std::uint64_t ignore,
           void* context) {
          const Tag t{tag, ignore};
          return receive_one(ep, buffer, octets, from, context, &t);
        },
    .recvv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from, std::uint64_t tag,
           std::uint64_t ignore, void* context) {
          const Tag t{tag, ignore};
          Endpoint& endpoint = of(ep);
          return receive(endpoint,
                         {.pieces = pieces, .count = count, .context = context, .flags = endpoint.receive_flags}, from,
                         &t);
        },
    .recvmsg =
        [](fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
          const Tag t{m->tag, m->ignore};
          const Call call{.pieces = m->msg_iov, .count = m->iov_count, .context = m->context, .flags = flags};
          return (flags & FI_PEEK) != 0 ? peek(of(ep), call, m->addr, t) : receive(of(ep), call, m->addr, &t);
        },
    .send =
        [](fid_ep* ep, const void* buffer, std::size_t octets, void*, fi_addr_t to, std::uint64_t tag, void* context) {
          const Tag t{tag, 0};
          return send_one(ep, buffer, octets, to, context, &t);
        },
    .sendv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, std::uint64_t tag, void* context) {
          const Tag t{tag, 0};
          Endpoint& endpoint = of(ep);
          return send(endpoint, {.pieces = pieces, .count = count, .context = context, .flags = endpoint.send_flags},
                      to, &t);
        },
    .sendmsg =
        [](fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
          const Tag t{m->tag, 0};
          return send(
              of(ep),
              {.pieces = m->msg_iov, .count = m->iov_count, .context = m->context, .flags = flags, .data = m->data},
              m->addr, &t);
        },
    .inject =
        [](fid_ep* ep, const void* buffer, std::size_t octets, fi_addr_t to, std::uint64_t tag) {
          const Tag t{tag, 0};
          return inject_one(ep, buffer, octets, to, &t);
        },
    .senddata =
        [](fid_ep* ep, const void* buffer, std::size_t octets, void*, std::uint64_t data, fi_addr_t to,
           std::uint64_t tag, void* context) {
          const Tag t{tag, 0};
          return send_one(ep, buffer, octets, to, context, &t, FI_REMOTE_CQ_DATA, data);
        },
    .injectdata =
        [](fid_ep* ep, const void* buffer, std::size_t octets, std::uint64_t data, fi_addr_t to, std::uint64_t tag) {
          const Tag t{tag, 0};
          return inject_one(ep, buffer, octets, to, &t, FI_REMOTE_CQ_DATA, data);
        }};

}  // namespace railyard::libfabric
