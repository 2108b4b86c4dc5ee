// Remote memory access: reads and writes.
#include "transports/libfabric/post.h"

namespace railyard::libfabric {
namespace {

ssize_t access(Endpoint& endpoint, uet::Operation operation, const Call& call, fi_addr_t at, std::uint64_t offset,
               std::uint64_t key) {
  const std::lock_guard lock(endpoint.domain->nic->mutex());
  if (const ssize_t error = check(endpoint, call)) return error;
  if (endpoint.datagrams) return -FI_EOPNOTSUPP;
  const Av::Peer* const peer = endpoint.av->find(at);
  if (peer == nullptr) return -FI_EINVAL;
  if (key > kMostKey) return -FI_EINVAL;
  const bool reads = operation == uet::Operation::kRead;
  uet::SendWr wr;
  const auto begun = reads ? begin_fill(endpoint, call, FI_RMA | FI_READ, endpoint.reads, false, wr.local)
                           : begin_send(endpoint, call, FI_RMA | FI_WRITE, endpoint.writes, wr.local);
  if (!begun) return begun.error();
  wr.operation = operation;
  wr.mode = endpoint.rma_mode;
  name_target(wr, *peer);
  wr.memory_key = key;
  wr.buffer_offset = offset;
  if (!reads && (call.flags & FI_REMOTE_CQ_DATA) != 0) wr.header_data = call.data;
  wr.delivery_complete = !reads && (call.flags & FI_DELIVERY_COMPLETE) != 0;
  return post(**begun, wr);
}

ssize_t access_message(fid_ep* ep, uet::Operation operation, const fi_msg_rma* m, std::uint64_t flags) {
  const Call call{.pieces = m->msg_iov, .count = m->iov_count, .context = m->context, .flags = flags, .data = m->data};
  if (m->rma_iov_count != 1 || m->rma_iov->len != octets_of(call)) return -FI_EINVAL;
  return access(of(ep), operation, call, m->addr, m->rma_iov->addr, m->rma_iov->key);
}

ssize_t write_one(fid_ep* ep, const void* buffer, std::size_t octets, void* context, fi_addr_t to, std::uint64_t offset,
                  std::uint64_t key, std::uint64_t flags, std::uint64_t data, bool is_inject) {
  Endpoint& endpoint = of(ep);
  const iovec piece = piece_of(buffer, octets);
  return access(endpoint, uet::Operation::kWrite,
                {.pieces = &piece,
                 .count = 1,
                 .context = context,
                 .flags = flags | (is_inject ? 0 : endpoint.send_flags),
                 .is_inject = is_inject,
                 .data = data},
                to, offset, key);
}

}  // namespace

fi_ops_rma rma_operations = {
    .size = sizeof(fi_ops_rma),
    .read =
        [](fid_ep* ep, void* buffer, std::size_t octets, void*, fi_addr_t from, std::uint64_t offset, std::uint64_t key,
           void* context) {
          Endpoint& endpoint = of(ep);
          const iovec piece = piece_of(buffer, octets);
          const std::uint64_t flags = endpoint.send_flags & ~std::uint64_t{FI_INJECT};
          return access(endpoint, uet::Operation::kRead,
                        {.pieces = &piece, .count = 1, .context = context, .flags = flags}, from, offset, key);
        },
    .readv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from, std::uint64_t offset,
           std::uint64_t key, void* context) {
          Endpoint& endpoint = of(ep);
          const std::uint64_t flags = endpoint.send_flags & ~std::uint64_t{FI_INJECT};
          return access(endpoint, uet::Operation::kRead,
                        {.pieces = pieces, .count = count, .context = context, .flags = flags}, from, offset, key);
        },
    .readmsg = [](fid_ep* ep, const fi_msg_rma* m,
                  std::uint64_t flags) { return access_message(ep, uet::Operation::kRead, m, flags); },
    .write = [](fid_ep* ep, const void* buffer, std::size_t octets, void*, fi_addr_t to, std::uint64_t offset,
                std::uint64_t key,
                void* context) { return write_one(ep, buffer, octets, context, to, offset, key, 0, 0, false); },
    .writev =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, std::uint64_t offset,
           std::uint64_t key, void* context) {
          Endpoint& endpoint = of(ep);
          return access(endpoint, uet::Operation::kWrite,
                        {.pieces = pieces, .count = count, .context = context, .flags = endpoint.send_flags}, to,
                        offset, key);
        },
    .writemsg = [](fid_ep* ep, const fi_msg_rma* m,
                   std::uint64_t flags) { return access_message(ep, uet::Operation::kWrite, m, flags); },
    .inject = [](fid_ep* ep, const void* buffer, std::size_t octets, fi_addr_t to, std::uint64_t offset,
                 std::uint64_t key) { return write_one(ep, buffer, octets, nullptr, to, offset, key, 0, 0, true); },
    .writedata =
        [](fid_ep* ep, const void* buffer, std::size_t octets, void*, std::uint64_t data, fi_addr_t to,
           std::uint64_t offset, std::uint64_t key, void* context) {
          return write_one(ep, buffer, octets, context, to, offset, key, FI_REMOTE_CQ_DATA, data, false);
        },
    .injectdata =
        [](fid_ep* ep, const void* buffer, std::size_t octets, std::uint64_t data, fi_addr_t to, std::uint64_t offset,
           std::uint64_t key) {
          return write_one(ep, buffer, octets, nullptr, to, offset, key, FI_REMOTE_CQ_DATA, data, true);
        }};

}  // namespace railyard::libfabric
