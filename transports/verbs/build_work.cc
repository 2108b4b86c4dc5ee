// ibv_wr_*: work requests built call by call, posted together by ibv_wr_complete().
#include <cerrno>

#include <arpa/inet.h>

#include "transports/verbs/objects.h"

namespace railyard::verbs {
namespace {

QpObject& of(ibv_qp_ex* ex) noexcept { return object_of<QpObject>(ex); }

// A request of this kind begins; what was built before is complete.
roce::SendWr& begin(ibv_qp_ex* ex, roce::SendOpcode opcode) {
  QpObject& qp = of(ex);
  roce::SendWr& wr = qp.batch.emplace_back().wr;
  wr.wr_id = ex->wr_id;
  wr.opcode = opcode;
  wr.signaled = (ex->wr_flags & IBV_SEND_SIGNALED) != 0;
  wr.solicited = (ex->wr_flags & IBV_SEND_SOLICITED) != 0;
  wr.fence = (ex->wr_flags & IBV_SEND_FENCE) != 0;
  return wr;
}

roce::SendWr& begin_remote(ibv_qp_ex* ex, roce::SendOpcode opcode, std::uint32_t key, std::uint64_t address) {
  roce::SendWr& wr = begin(ex, opcode);
  wr.r_key = key;
  wr.remote_address = address;
  return wr;
}

void fail(QpObject& qp, int error) noexcept {
  if (qp.batch_error == 0) qp.batch_error = error;
}

void set_sges(ibv_qp_ex* ex, std::size_t n, const ibv_sge* list) noexcept {
  QpObject& qp = of(ex);
  if (qp.batch.empty() || n > qp.init.cap.max_send_sge) return fail(qp, EINVAL);
  for (std::size_t i = 0; i < n; ++i) qp.batch.back().wr.sges.push({list[i].addr, list[i].length, list[i].lkey});
}

void set_inline(ibv_qp_ex* ex, std::size_t n, const ibv_data_buf* list) {
  QpObject& qp = of(ex);
  std::size_t octets = 0;
  for (std::size_t i = 0; i < n && octets <= kMostInline; ++i) octets += list[i].length;
  if (qp.batch.empty() || octets > qp.init.cap.max_inline_data) return fail(qp, EINVAL);
  QpObject::Built& built = qp.batch.back();
  built.is_inline = true;
  built.inline_at = qp.batch_data.size();
  built.inline_octets = octets;
  for (std::size_t i = 0; i < n; ++i) {
    const auto* const from = static_cast<const std::byte*>(list[i].addr);
    qp.batch_data.insert(qp.batch_data.end(), from, from + list[i].length);
  }
}

// Other calls may come in between, of this thread, too: nothing else is held.
void start(ibv_qp_ex* ex) {
  QpObject& qp = of(ex);
  qp.building.lock();
  qp.batch.clear();
  qp.batch_data.clear();
  qp.batch_error = 0;
}

int post(QpObject& qp, QpObject::Built& built, State& state, Instant now) {
  const std::size_t before = qp.inline_data.next;
  if (built.is_inline) {
    const ibv_sge piece{reinterpret_cast<std::uintptr_t>(qp.batch_data.data() + built.inline_at),
                        static_cast<std::uint32_t>(built.inline_octets), 0};
    if (!copy_inline(qp, &piece, 1, built.wr)) return EINVAL;
  }
  if (const auto posted = state.nic->engine().post_send(now, qp.number, built.wr); !posted) {
    qp.inline_data.next = before;
    return errno_of(posted.error());
  }
  if (built.wr.signaled || qp.init.sq_sig_all != 0) ++state.outstanding;
  return 0;
}

int complete(ibv_qp_ex* ex) {
  QpObject& qp = of(ex);
  const std::lock_guard built(qp.building, std::adopt_lock);
  State& state = state_of(ex->qp_base.context);
  Nic& nic = *state.nic;
  const std::lock_guard lock(nic.mutex());
  const Instant now = Nic::now();
  nic.enter(now);
  int error = qp.batch_error;
  for (std::size_t i = 0; i < qp.batch.size() && error == 0; ++i) error = post(qp, qp.batch[i], state, now);
  nic.send(now);
  state.on_progress();
  return error;
}

void abandon(ibv_qp_ex* ex) { of(ex).building.unlock(); }

}  // namespace

void set_builders(QpObject& qp) noexcept {
  using enum roce::SendOpcode;
  qp.qp.comp_mask |= abi::kQpIsEx;
  ibv_qp_ex& e = qp.qp.ex;
  e.comp_mask = 0;
  e.wr_start = start;
  e.wr_complete = complete;
  e.wr_abort = abandon;
  e.wr_atomic_cmp_swp = [](ibv_qp_ex* q, std::uint32_t key, std::uint64_t to, std::uint64_t compare,
                           std::uint64_t swap) {
    roce::SendWr& wr = begin_remote(q, kCompareSwap, key, to);
    wr.compare = compare;
    wr.swap_add = swap;
  };
  e.wr_atomic_fetch_add = [](ibv_qp_ex* q, std::uint32_t key, std::uint64_t to, std::uint64_t add) {
    begin_remote(q, kFetchAdd, key, to).swap_add = add;
  };
  e.wr_rdma_read = [](ibv_qp_ex* q, std::uint32_t key, std::uint64_t to) { begin_remote(q, kRead, key, to); };
  e.wr_rdma_write = [](ibv_qp_ex* q, std::uint32_t key, std::uint64_t to) { begin_remote(q, kWrite, key, to); };
  e.wr_rdma_write_imm = [](ibv_qp_ex* q, std::uint32_t key, std::uint64_t to, __be32 immediate) {
    begin_remote(q, kWriteImm, key, to).immediate = ::ntohl(immediate);
  };
  e.wr_send = [](ibv_qp_ex* q) { begin(q, kSend); };
  e.wr_send_imm = [](ibv_qp_ex* q, __be32 immediate) { begin(q, kSendImm).immediate = ::ntohl(immediate); };
  e.wr_send_inv = [](ibv_qp_ex* q, std::uint32_t key) { begin(q, kSendInv).immediate = key; };
  e.wr_local_inv = [](ibv_qp_ex* q, std::uint32_t key) { begin(q, kInvalidateLocal).immediate = key; };
  e.wr_bind_mw = [](ibv_qp_ex* q, ibv_mw* window, std::uint32_t key, const ibv_mw_bind_info* info) {
    roce::SendWr& wr = begin(q, kBindWindow);
    if (window->type != IBV_MW_TYPE_2) return fail(of(q), EINVAL);
    if (const int error = to_bind(*window, key, *info, wr); error != 0) fail(of(q), error);
  };
  e.wr_set_ud_addr = [](ibv_qp_ex* q, ibv_ah* ah, std::uint32_t qpn, std::uint32_t q_key) {
    if (of(q).batch.empty()) return fail(of(q), EINVAL);
    roce::SendWr& wr = of(q).batch.back().wr;
    wr.ah = object_of<AhObject>(ah).id;
    wr.remote_qp = roce::QpNumber{qpn};
    wr.remote_q_key = q_key;
  };
  e.wr_set_sge = [](ibv_qp_ex* q, std::uint32_t key, std::uint64_t address, std::uint32_t octets) {
    const ibv_sge piece{address, octets, key};
    set_sges(q, 1, &piece);
  };
  e.wr_set_sge_list = set_sges;
  e.wr_set_inline_data = [](ibv_qp_ex* q, void* address, std::size_t octets) {
    const ibv_data_buf piece{address, octets};
    set_inline(q, 1, &piece);
  };
  e.wr_set_inline_data_list = set_inline;
}

}  // namespace railyard::verbs
