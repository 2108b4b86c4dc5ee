// Atomic operations: one value each, of the types and operations that UET has (UE-Spec 1.0 tables 3-21, 3-22).
#include <cstring>
#include <optional>

#include "transports/libfabric/post.h"
#include "transports/libfabric/stub.h"
#include "transports/uet/ses/atomics.h"

namespace railyard::libfabric {
namespace {

enum class Kind { kPlain, kFetching, kComparing };

std::optional<uet::AtomicDatatype> type_of(fi_datatype type) noexcept {
  using enum uet::AtomicDatatype;
  switch (type) {
    case FI_INT8:
      return kInt8;
    case FI_UINT8:
      return kUint8;
    case FI_INT16:
      return kInt16;
    case FI_UINT16:
      return kUint16;
    case FI_INT32:
      return kInt32;
    case FI_UINT32:
      return kUint32;
    case FI_INT64:
      return kInt64;
    case FI_UINT64:
      return kUint64;
    case FI_FLOAT:
      return kFloat;
    case FI_DOUBLE:
      return kDouble;
    default:
      return std::nullopt;  // complex, and longer than 8 octets
  }
}

std::optional<uet::AtomicOpcode> opcode_of(fi_op op) noexcept {
  using enum uet::AtomicOpcode;
  constexpr uet::AtomicOpcode kOpcodes[] = {kMin,     kMax,     kSum,     kProd,    kLor,   kLand,  kBor,
                                            kBand,    kLxor,    kBxor,    kRead,    kWrite, kCswap, kCswapNe,
                                            kCswapLe, kCswapLt, kCswapGe, kCswapGt, kMswap};
  static_assert(std::size(kOpcodes) == FI_ATOMIC_OP_LAST);
  return op < std::size(kOpcodes) ? std::optional(kOpcodes[op]) : std::nullopt;
}

struct Request {
  uet::AtomicOpcode opcode{};
  uet::AtomicDatatype type{};
  std::uint32_t octets = 0;
};

// What is asked for; nullopt: it is not to be had.
std::optional<Request> request_of(Kind kind, fi_datatype datatype, fi_op op) noexcept {
  const auto type = type_of(datatype);
  const auto opcode = opcode_of(op);
  if (!type || !opcode) return std::nullopt;
  if ((kind == Kind::kComparing) != uet::is_compare_and_swap(*opcode)) return std::nullopt;
  if (kind == Kind::kPlain && *opcode == uet::AtomicOpcode::kRead) return std::nullopt;
  const bool bitwise = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
  if (bitwise && (datatype == FI_FLOAT || datatype == FI_DOUBLE)) return std::nullopt;
  return Request{*opcode, *type, uet::octets_of(*type)};
}

struct Where {
  fi_addr_t peer = FI_ADDR_UNSPEC;
  std::uint64_t offset = 0;
  std::uint64_t key = 0;
};

std::uint64_t value_at(const void* at, std::uint32_t octets) noexcept {
  std::uint64_t value = 0;
  if (at != nullptr) std::memcpy(&value, at, octets);
  return value;
}

ssize_t atomic(fid_ep* ep, Kind kind, const void* operand, const void* compare, void* result, std::size_t count,
               const Where& where, fi_datatype datatype, fi_op op, Call call) {
  Endpoint& endpoint = of(ep);
  if (endpoint.datagrams) return -FI_EOPNOTSUPP;
  const auto request = request_of(kind, datatype, op);
  if (!request) return -FI_EOPNOTSUPP;
  if (count != 1 || where.key > kMostKey) return -FI_EINVAL;
  const std::lock_guard lock(endpoint.domain->nic->mutex());
  if (const ssize_t error = check(endpoint, call)) return error;
  const Av::Peer* const peer = endpoint.av->find(where.peer);
  if (peer == nullptr) return -FI_EINVAL;
  const iovec into = piece_of(result, kind == Kind::kPlain ? 0 : request->octets);
  call.pieces = &into;
  call.count = 1;
  uet::SendWr wr;
  const auto begun = begin_fill(endpoint, call, FI_ATOMIC | (kind == Kind::kPlain ? FI_WRITE : FI_READ),
                                kind == Kind::kPlain ? endpoint.writes : endpoint.reads, false, wr.local);
  if (!begun) return begun.error();
  wr.operation = kind == Kind::kPlain ? uet::Operation::kAtomic : uet::Operation::kFetchingAtomic;
  wr.mode = endpoint.rma_mode;
  name_target(wr, *peer);
  wr.memory_key = where.key;
  wr.buffer_offset = where.offset;
  wr.atomic = request->opcode;
  wr.datatype = request->type;
  wr.operand = value_at(operand, request->octets);
  wr.compare = value_at(compare, request->octets);
  return post(**begun, wr);
}

Call call_of(fid_ep* ep, void* context) noexcept {
  return {.context = context, .flags = of(ep).send_flags & ~std::uint64_t{FI_INJECT}};
}
Call call_of(const fi_msg_atomic& m, std::uint64_t flags) noexcept {
  return {.context = m.context, .flags = flags & ~std::uint64_t{FI_INJECT}};
}
// (What is asked for in no piece, FI_ATOMIC_READ, has no operand.)
const void* first(const fi_ioc* pieces, std::size_t count) noexcept { return count > 0 ? pieces->addr : nullptr; }
std::size_t all(const fi_ioc* pieces, std::size_t count) noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += pieces[i].count;
  return sum;
}
std::size_t all(const fi_msg_atomic& m) noexcept { return m.rma_iov_count == 1 ? m.rma_iov->count : 0; }
Where where_of(const fi_msg_atomic& m) noexcept {
  return m.rma_iov_count == 1 ? Where{m.addr, m.rma_iov->addr, m.rma_iov->key} : Where{};
}

int valid(Kind kind, fi_datatype type, fi_op op, std::size_t* count) noexcept {
  if (!request_of(kind, type, op)) return -FI_EOPNOTSUPP;
  if (count != nullptr) *count = 1;
  return 0;
}

}  // namespace

int query_atomic(fid_domain*, fi_datatype type, fi_op op, fi_atomic_attr* attr, std::uint64_t flags) {
  if ((flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC)) != 0) return -FI_EBADFLAGS;
  const Kind kind = (flags & FI_COMPARE_ATOMIC) != 0 ? Kind::kComparing
                    : (flags & FI_FETCH_ATOMIC) != 0 ? Kind::kFetching
                                                     : Kind::kPlain;
  const auto request = request_of(kind, type, op);
  if (!request) return -FI_EOPNOTSUPP;
  attr->count = 1;
  attr->size = request->octets;
  return 0;
}

fi_ops_atomic atomic_operations = {
    .size = sizeof(fi_ops_atomic),
    .write =
        [](fid_ep* ep, const void* buffer, std::size_t count, void*, fi_addr_t to, std::uint64_t offset,
           std::uint64_t key, fi_datatype type, fi_op op, void* context) {
          return atomic(ep, Kind::kPlain, buffer, nullptr, nullptr, count, {to, offset, key}, type, op,
                        call_of(ep, context));
        },
    .writev =
        [](fid_ep* ep, const fi_ioc* pieces, void**, std::size_t count, fi_addr_t to, std::uint64_t offset,
           std::uint64_t key, fi_datatype type, fi_op op, void* context) {
          return atomic(ep, Kind::kPlain, first(pieces, count), nullptr, nullptr, all(pieces, count), {to, offset, key},
                        type, op, call_of(ep, context));
        },
    .writemsg =
        [](fid_ep* ep, const fi_msg_atomic* m, std::uint64_t flags) {
          return atomic(ep, Kind::kPlain, first(m->msg_iov, m->iov_count), nullptr, nullptr, all(*m), where_of(*m),
                        m->datatype, m->op, call_of(*m, flags));
        },
    .inject =
        [](fid_ep* ep, const void* buffer, std::size_t count, fi_addr_t to, std::uint64_t offset, std::uint64_t key,
           fi_datatype type, fi_op op) {
          return atomic(ep, Kind::kPlain, buffer, nullptr, nullptr, count, {to, offset, key}, type, op,
                        {.is_inject = true});
        },
    .readwrite =
        [](fid_ep* ep, const void* buffer, std::size_t count, void*, void* result, void*, fi_addr_t to,
           std::uint64_t offset, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
          return atomic(ep, Kind::kFetching, buffer, nullptr, result, count, {to, offset, key}, type, op,
                        call_of(ep, context));
        },
    .readwritev =
        [](fid_ep* ep, const fi_ioc* pieces, void**, std::size_t count, fi_ioc* results, void**,
           std::size_t result_count, fi_addr_t to, std::uint64_t offset, std::uint64_t key, fi_datatype type, fi_op op,
           void* context) {
          return atomic(ep, Kind::kFetching, first(pieces, count), nullptr,
                        const_cast<void*>(first(results, result_count)), all(results, result_count), {to, offset, key},
                        type, op, call_of(ep, context));
        },
    .readwritemsg =
        [](fid_ep* ep, const fi_msg_atomic* m, fi_ioc* results, void**, std::size_t result_count, std::uint64_t flags) {
          return atomic(ep, Kind::kFetching, first(m->msg_iov, m->iov_count), nullptr,
                        const_cast<void*>(first(results, result_count)), all(*m), where_of(*m), m->datatype, m->op,
                        call_of(*m, flags));
        },
    .compwrite =
        [](fid_ep* ep, const void* buffer, std::size_t count, void*, const void* compare, void*, void* result, void*,
           fi_addr_t to, std::uint64_t offset, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
          return atomic(ep, Kind::kComparing, buffer, compare, result, count, {to, offset, key}, type, op,
                        call_of(ep, context));
        },
    .compwritev =
        [](fid_ep* ep, const fi_ioc* pieces, void**, std::size_t count, const fi_ioc* compares, void**,
           std::size_t compare_count, fi_ioc* results, void**, std::size_t result_count, fi_addr_t to,
           std::uint64_t offset, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
          return atomic(ep, Kind::kComparing, first(pieces, count), first(compares, compare_count),
                        const_cast<void*>(first(results, result_count)), all(pieces, count), {to, offset, key}, type,
                        op, call_of(ep, context));
        },
    .compwritemsg =
        [](fid_ep* ep, const fi_msg_atomic* m, const fi_ioc* compares, void**, std::size_t compare_count,
           fi_ioc* results, void**, std::size_t result_count, std::uint64_t flags) {
          return atomic(ep, Kind::kComparing, first(m->msg_iov, m->iov_count), first(compares, compare_count),
                        const_cast<void*>(first(results, result_count)), all(*m), where_of(*m), m->datatype, m->op,
                        call_of(*m, flags));
        },
    .writevalid = [](fid_ep*, fi_datatype type, fi_op op,
                     std::size_t* count) { return valid(Kind::kPlain, type, op, count); },
    .readwritevalid = [](fid_ep*, fi_datatype type, fi_op op,
                         std::size_t* count) { return valid(Kind::kFetching, type, op, count); },
    .compwritevalid = [](fid_ep*, fi_datatype type, fi_op op,
                         std::size_t* count) { return valid(Kind::kComparing, type, op, count); }};

}  // namespace railyard::libfabric
