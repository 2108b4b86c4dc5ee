// QPs and SRQs of IDs, and the attributes with which QPs go from state to state: those that Linux' ib_cm gives them.
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {
namespace {

bool is_ud(const Id& id) noexcept { return id.id.qp_type == IBV_QPT_UD; }

int move(Id& id, ibv_qp_state to, const std::optional<std::uint8_t>& depth = std::nullopt) {
  ibv_qp_attr attr{};
  int mask = 0;
  attr.qp_state = to;
  if (init_qp_attr(&id.id, &attr, &mask) != 0) return errno;
  if (depth && to == IBV_QPS_RTR) attr.max_dest_rd_atomic = *depth;
  if (depth && to == IBV_QPS_RTS) attr.max_rd_atomic = *depth;
  return ::ibv_modify_qp(id.id.qp, &attr, mask);
}

// A QP of an ID starts in INIT, a datagram one in RTS.
int start(Id& id) {
  if (const int error = move(id, IBV_QPS_INIT); error != 0 || !is_ud(id)) return error;
  if (const int error = move(id, IBV_QPS_RTR); error != 0) return error;
  return move(id, IBV_QPS_RTS);
}

void destroy_cqs(Id& id) noexcept {
  const auto one = [](bool& made, ibv_cq*& cq, ibv_comp_channel*& channel) {
    if (!std::exchange(made, false)) return;
    if (cq != nullptr) ::ibv_destroy_cq(std::exchange(cq, nullptr));
    if (channel != nullptr) ::ibv_destroy_comp_channel(std::exchange(channel, nullptr));
  };
  const bool one_for_both = id.id.send_cq == id.id.recv_cq;
  one(id.made_send_cq, id.id.send_cq, id.id.send_cq_channel);
  if (one_for_both) id.id.recv_cq = nullptr, id.id.recv_cq_channel = nullptr;
  one(id.made_recv_cq, id.id.recv_cq, id.id.recv_cq_channel);
}

// Those that the application does not name are made for it, each with a channel.
int make_cq(Id& id, std::uint32_t entries, bool& made, ibv_cq*& cq, ibv_comp_channel*& channel) {
  channel = ::ibv_create_comp_channel(id.id.verbs);
  if (channel == nullptr) return -1;
  made = true;
  cq = ::ibv_create_cq(id.id.verbs, static_cast<int>(entries == 0 ? 1 : entries), &id.id, channel, 0);
  return cq != nullptr ? 0 : -1;
}

}  // namespace

int create_qp_ex(rdma_cm_id* handle, ibv_qp_init_attr_ex* attr) {
  Id& id = of(handle);
  if (handle->qp != nullptr || handle->verbs == nullptr) return failed(EINVAL);
  if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) {
    attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
    attr->pd = handle->pd;
  } else if (attr->pd == nullptr) {
    attr->pd = handle->pd;
  } else if (attr->pd->context != handle->verbs) {
    return failed(EINVAL);
  }
  handle->pd = attr->pd;
  if (attr->srq == nullptr) attr->srq = handle->srq;
  if ((attr->recv_cq == nullptr && attr->srq == nullptr &&
       make_cq(id, attr->cap.max_recv_wr, id.made_recv_cq, handle->recv_cq, handle->recv_cq_channel) != 0) ||
      (attr->send_cq == nullptr &&
       make_cq(id, attr->cap.max_send_wr, id.made_send_cq, handle->send_cq, handle->send_cq_channel) != 0)) {
    const int error = errno;
    destroy_cqs(id);
    return failed(error);
  }
  if (attr->send_cq == nullptr) attr->send_cq = handle->send_cq;
  if (attr->recv_cq == nullptr) attr->recv_cq = handle->recv_cq != nullptr ? handle->recv_cq : attr->send_cq;
  handle->qp = ::ibv_create_qp_ex(handle->verbs, attr);
  if (handle->qp == nullptr) {
    const int error = errno;
    destroy_cqs(id);
    return failed(error);
  }
  handle->qp_type = attr->qp_type;
  if (const int error = start(id); error != 0) {
    destroy_qp(handle);
    return failed(error);
  }
  return 0;
}

int create_qp(rdma_cm_id* handle, ibv_pd* pd, ibv_qp_init_attr* attr) {
  ibv_qp_init_attr_ex ex{};
  std::memcpy(&ex, attr, sizeof *attr);
  ex.comp_mask = IBV_QP_INIT_ATTR_PD;
  ex.pd = pd != nullptr ? pd : handle->pd;
  if (create_qp_ex(handle, &ex) != 0) return -1;
  std::memcpy(attr, &ex, sizeof *attr);
  return 0;
}

void destroy_qp(rdma_cm_id* handle) {
  if (handle->qp != nullptr) ::ibv_destroy_qp(std::exchange(handle->qp, nullptr));
  destroy_cqs(of(handle));
}

int create_srq(rdma_cm_id* handle, ibv_pd* pd, ibv_srq_init_attr* attr) {
  if (handle->verbs == nullptr) return failed(EINVAL);
  if (pd == nullptr) pd = handle->pd;
  if (pd->context != handle->verbs) return failed(EINVAL);
  handle->srq = ::ibv_create_srq(pd, attr);
  if (handle->srq == nullptr) return -1;
  handle->pd = pd;
  return 0;
}

void destroy_srq(rdma_cm_id* handle) {
  if (handle->srq != nullptr) ::ibv_destroy_srq(std::exchange(handle->srq, nullptr));
}

ibv_ah_attr way(const Id& id, const roce::AddressVector& av) noexcept {
  ibv_ah_attr a{};
  a.is_global = 1;
  a.port_num = 1;
  a.grh.sgid_index = static_cast<std::uint8_t>(id.device->gid_index(av.source));
  a.grh.hop_limit = av.hop_limit;
  a.grh.traffic_class = static_cast<std::uint8_t>(av.dscp << 2 | (av.ect ? 2 : 0));
  std::memcpy(a.grh.dgid.raw, av.destination.octets.data(), av.destination.octets.size());
  return a;
}

int init_qp_attr(rdma_cm_id* handle, ibv_qp_attr* attr, int* mask) {
  Id& id = of(handle);
  if (id.device == nullptr) return failed(EINVAL);
  const std::lock_guard lock(id.device->management->mutex());
  const ibv_qp_state to = attr->qp_state;
  if (to == IBV_QPS_INIT) {
    *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (is_ud(id) ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    attr->pkey_index = 0;
    attr->port_num = 1;
    attr->qkey = RDMA_UDP_QKEY;
    attr->qp_access_flags = 0;
    if (id.agreement)
      attr->qp_access_flags =
          IBV_ACCESS_REMOTE_WRITE |
          (id.responder_resources != 0 ? unsigned{IBV_ACCESS_REMOTE_READ} | IBV_ACCESS_REMOTE_ATOMIC : 0u);
    return 0;
  }
  if (is_ud(id)) {
    if (to != IBV_QPS_RTR && to != IBV_QPS_RTS) return failed(EINVAL);
    *mask = IBV_QP_STATE | (to == IBV_QPS_RTS ? int{IBV_QP_SQ_PSN} : 0);
    attr->sq_psn = 0;
    return 0;
  }
  if (!id.agreement) return failed(EINVAL);
  const auto& a = *id.agreement;
  const bool rc = handle->qp_type != IBV_QPT_UC;
  if (to == IBV_QPS_RTR) {
    *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
    attr->ah_attr = way(id, a.way);
    attr->path_mtu = static_cast<ibv_mtu>(a.path_mtu);
    attr->dest_qp_num = a.remote_qpn;
    attr->rq_psn = a.rq_psn;
    attr->max_dest_rd_atomic = id.responder_resources;
    // DEVIATION Linux' ib_cm (0, 655 ms): a program that shares its processor with others is often not ready.
    attr->min_rnr_timer = 12;  // 0.64 ms
    return 0;
  }
  if (to != IBV_QPS_RTS) return failed(EINVAL);
  *mask = IBV_QP_STATE | IBV_QP_SQ_PSN |
          (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
  attr->sq_psn = a.sq_psn;
  attr->timeout = a.ack_timeout;
  attr->retry_cnt = a.retry_count;
  attr->rnr_retry = a.rnr_retry_count;
  attr->max_rd_atomic = id.initiator_depth;
  return 0;
}

// INIT again, because what the peer may do is known only now.
int to_rts(Id& id) {
  if (const int error = move(id, IBV_QPS_INIT); error != 0) return error;
  if (const int error = move(id, IBV_QPS_RTR, id.responder_resources); error != 0) return error;
  return move(id, IBV_QPS_RTS, id.initiator_depth);
}

void to_err(Id& id) noexcept {
  if (id.id.qp == nullptr) return;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  ::ibv_modify_qp(id.id.qp, &attr, IBV_QP_STATE);
}

}  // namespace railyard::rdmacm
