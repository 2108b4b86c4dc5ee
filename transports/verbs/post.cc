// Posting work: from verbs' work requests to the engine's.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>

#include "transports/verbs/objects.h"

namespace railyard::verbs {

int errno_of(roce::PostError error) noexcept {
  switch (error) {
    case roce::PostError::kQueueFull:
      return ENOMEM;
    case roce::PostError::kNotSupported:
      return EOPNOTSUPP;
    default:
      return EINVAL;
  }
}

bool copy_inline(QpObject& qp, const ibv_sge* pieces, int n, roce::SendWr& wr) noexcept {
  std::uint64_t octets = 0;
  for (int i = 0; i < n; ++i) octets += pieces[i].length;
  InlineData& d = qp.inline_data;
  const std::uint32_t most = qp.init.cap.max_inline_data;
  if (octets > most) return false;
  if (octets == 0) return true;
  // In the order of posting, and a send queue completes in that order: this place is not in use.
  std::byte* to = d.memory.data() + d.next * most;
  if (++d.next > qp.init.cap.max_send_wr) d.next = 0;
  wr.sges.push({reinterpret_cast<std::uintptr_t>(to), static_cast<std::uint32_t>(octets), d.key});
  for (int i = 0; i < n; ++i) {
    std::memcpy(to, reinterpret_cast<const void*>(pieces[i].addr), pieces[i].length);
    to += pieces[i].length;
  }
  return true;
}

namespace {

std::optional<roce::SendOpcode> opcode_of(ibv_wr_opcode opcode) noexcept {
  switch (opcode) {
    case IBV_WR_SEND:
      return roce::SendOpcode::kSend;
    case IBV_WR_SEND_WITH_IMM:
      return roce::SendOpcode::kSendImm;
    case IBV_WR_SEND_WITH_INV:
      return roce::SendOpcode::kSendInv;
    case IBV_WR_RDMA_WRITE:
      return roce::SendOpcode::kWrite;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return roce::SendOpcode::kWriteImm;
    case IBV_WR_RDMA_READ:
      return roce::SendOpcode::kRead;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return roce::SendOpcode::kCompareSwap;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return roce::SendOpcode::kFetchAdd;
    default:
      return std::nullopt;
  }
}

void set_target(const ibv_send_wr& from, const ibv_qp& qp, roce::SendWr& to) noexcept {
  if (qp.qp_type == IBV_QPT_UD) {
    if (from.wr.ud.ah != nullptr) to.ah = object_of<AhObject>(from.wr.ud.ah).id;
    to.remote_qp = roce::QpNumber{from.wr.ud.remote_qpn};
    to.remote_q_key = from.wr.ud.remote_qkey;
  } else if (is_atomic(to.opcode)) {
    to.remote_address = from.wr.atomic.remote_addr;
    to.r_key = from.wr.atomic.rkey;
    const bool swaps = to.opcode == roce::SendOpcode::kCompareSwap;
    to.compare = swaps ? from.wr.atomic.compare_add : 0;
    to.swap_add = swaps ? from.wr.atomic.swap : from.wr.atomic.compare_add;
  } else {
    to.remote_address = from.wr.rdma.remote_addr;
    to.r_key = from.wr.rdma.rkey;
  }
}

// 0, or an errno.
int translate(QpObject& qp, const ibv_send_wr& from, roce::SendWr& to) noexcept {
  to.wr_id = from.wr_id;
  to.signaled = (from.send_flags & IBV_SEND_SIGNALED) != 0;
  to.solicited = (from.send_flags & IBV_SEND_SOLICITED) != 0;
  to.fence = (from.send_flags & IBV_SEND_FENCE) != 0;
  if (from.opcode == IBV_WR_BIND_MW) {
    if (from.bind_mw.mw == nullptr || from.bind_mw.mw->type != IBV_MW_TYPE_2) return EINVAL;
    return to_bind(*from.bind_mw.mw, from.bind_mw.rkey, from.bind_mw.bind_info, to);
  }
  if (from.opcode == IBV_WR_LOCAL_INV) {
    to.opcode = roce::SendOpcode::kInvalidateLocal;
    to.immediate = from.invalidate_rkey;
    return 0;
  }
  const auto opcode = opcode_of(from.opcode);
  if (!opcode) return EOPNOTSUPP;
  to.opcode = *opcode;
  to.immediate = *opcode == roce::SendOpcode::kSendInv ? from.invalidate_rkey : ::ntohl(from.imm_data);
  if (qp.qp.qp.qp_type == IBV_QPT_UD && from.wr.ud.ah == nullptr) return EINVAL;
  set_target(from, qp.qp.qp, to);
  if (from.num_sge < 0 || static_cast<std::uint32_t>(from.num_sge) > qp.init.cap.max_send_sge) return EINVAL;
  if ((from.send_flags & IBV_SEND_INLINE) != 0) {
    if (is_read_or_atomic(*opcode)) return EINVAL;
    return copy_inline(qp, from.sg_list, from.num_sge, to) ? 0 : EINVAL;
  }
  for (int i = 0; i < from.num_sge; ++i)
    to.sges.push({from.sg_list[i].addr, from.sg_list[i].length, from.sg_list[i].lkey});
  return 0;
}

// False: more pieces than the queue takes.
bool translate(const ibv_recv_wr& from, std::uint32_t most_sges, roce::RecvWr& to) noexcept {
  if (from.num_sge < 0 || static_cast<std::uint32_t>(from.num_sge) > most_sges) return false;
  to.wr_id = from.wr_id;
  for (int i = 0; i < from.num_sge; ++i)
    to.sges.push({from.sg_list[i].addr, from.sg_list[i].length, from.sg_list[i].lkey});
  return true;
}

}  // namespace

int post_send(ibv_qp* handle, ibv_send_wr* wr, ibv_send_wr** bad) {
  auto& qp = object_of<QpObject>(handle);
  State& state = state_of(handle->context);
  Nic& nic = *state.nic;
  const std::lock_guard lock(nic.mutex());
  const Instant now = Nic::now();
  nic.enter(now);
  int error = 0;
  for (; wr != nullptr; wr = wr->next) {
    roce::SendWr to;
    const std::size_t inline_before = qp.inline_data.next;
    error = translate(qp, *wr, to);
    if (error == 0)
      if (const auto posted = nic.engine().post_send(now, qp.number, to); !posted) error = errno_of(posted.error());
    if (error != 0) {
      qp.inline_data.next = inline_before;
      *bad = wr;
      break;
    }
    if (to.signaled || qp.init.sq_sig_all != 0) ++state.outstanding;
  }
  // Never waits: what does not fit into the ring goes when there is room.
  nic.send(now);
  state.on_progress();
  return error;
}

int post_one(QpObject& qp, const roce::SendWr& wr) noexcept {
  State& state = state_of(qp.qp.qp.context);
  Nic& nic = *state.nic;
  const std::lock_guard lock(nic.mutex());
  const Instant now = Nic::now();
  nic.enter(now);
  const auto posted = nic.engine().post_send(now, qp.number, wr);
  if (!posted) return errno_of(posted.error());
  if (wr.signaled || qp.init.sq_sig_all != 0) ++state.outstanding;
  nic.send(now);
  state.on_progress();
  return 0;
}

int post_recv(ibv_qp* handle, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  auto& qp = object_of<QpObject>(handle);
  State& state = state_of(handle->context);
  const std::lock_guard lock(state.nic->mutex());
  const Instant now = Nic::now();
  for (; wr != nullptr; wr = wr->next) {
    roce::RecvWr to;
    int error = translate(*wr, qp.init.cap.max_recv_sge, to) ? 0 : EINVAL;
    if (error == 0)
      if (const auto posted = state.nic->engine().post_recv(now, qp.number, to); !posted)
        error = errno_of(posted.error());
    if (error == 0) continue;
    *bad = wr;
    return error;
  }
  state.on_progress();
  return 0;
}

int post_srq_recv(ibv_srq* handle, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  auto& srq = object_of<SrqObject>(handle);
  State& state = state_of(handle->context);
  const std::lock_guard lock(state.nic->mutex());
  for (; wr != nullptr; wr = wr->next) {
    roce::RecvWr to;
    int error = translate(*wr, srq.max_sge, to) ? 0 : EINVAL;
    if (error == 0)
      if (const auto posted = state.nic->engine().post_srq_recv(srq.id, to); !posted) error = errno_of(posted.error());
    if (error == 0) continue;
    *bad = wr;
    return error;
  }
  return 0;
}

}  // namespace railyard::verbs
