// Queue pairs: made, modified, asked, destroyed.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "transports/roce/wire/udp_source_port.h"
#include "transports/verbs/objects.h"

namespace railyard::verbs {
namespace {

using roce::QpAttribute;

std::optional<roce::QpType> type_of(ibv_qp_type type) noexcept {
  switch (type) {
    case IBV_QPT_RC:
      return roce::QpType::kRc;
    case IBV_QPT_UC:
      return roce::QpType::kUc;
    case IBV_QPT_UD:
      return roce::QpType::kUd;
    default:
      return std::nullopt;  // XRC, raw packets, vendors' own
  }
}

bool within_limits(const ibv_qp_cap& cap, bool has_srq) noexcept {
  return cap.max_send_wr <= kMostWrs && (has_srq || cap.max_recv_wr <= kMostWrs) &&
         cap.max_send_sge <= roce::kMostSges && cap.max_recv_sge <= roce::kMostSges &&
         cap.max_inline_data <= kMostInline;
}

// libibverbs leaves this to the provider.
void fill(QpObject& qp, ibv_pd* pd, const ibv_qp_init_attr& init) {
  ibv_qp& q = qp.qp.qp;
  q.context = pd->context;
  q.qp_context = init.qp_context;
  q.pd = pd;
  q.send_cq = init.send_cq;
  q.recv_cq = init.recv_cq;
  q.srq = init.srq;
  q.handle = q.qp_num = qp.number.value;
  q.state = IBV_QPS_RESET;
  q.qp_type = init.qp_type;
  pthread_mutex_init(&q.mutex, nullptr);
  pthread_cond_init(&q.cond, nullptr);
}

// Room for inline data, as memory that the engine may read.
bool make_inline(State& state, QpObject& qp, ProtectionDomain domain) {
  if (qp.init.cap.max_inline_data == 0) return true;
  InlineData& d = qp.inline_data;
  d.memory.resize((std::size_t{qp.init.cap.max_send_wr} + 1) * qp.init.cap.max_inline_data);
  const auto key = state.nic->engine().memory().add({.address = reinterpret_cast<std::uintptr_t>(d.memory.data()),
                                                     .octets = d.memory.size(),
                                                     .access = {},
                                                     .domain = domain,
                                                     .memory = d.memory.data()});
  d.key = key.value_or(0);
  return key.has_value();
}

int errno_of(roce::CreateError error) noexcept { return error == roce::CreateError::kTooManyQps ? ENOMEM : EINVAL; }

ibv_qp* failed(QpObject* qp, int error) {
  delete qp;
  errno = error;
  return nullptr;
}

struct AttributeBit {
  int mask;
  QpAttribute attribute;
};
constexpr AttributeBit kBits[] = {{IBV_QP_ACCESS_FLAGS, QpAttribute::kAccessFlags},
                                  {IBV_QP_PKEY_INDEX, QpAttribute::kPKeyIndex},
                                  {IBV_QP_PORT, QpAttribute::kPort},
                                  {IBV_QP_QKEY, QpAttribute::kQKey},
                                  {IBV_QP_AV, QpAttribute::kAv},
                                  {IBV_QP_PATH_MTU, QpAttribute::kPathMtu},
                                  {IBV_QP_TIMEOUT, QpAttribute::kTimeout},
                                  {IBV_QP_RETRY_CNT, QpAttribute::kRetryCnt},
                                  {IBV_QP_RNR_RETRY, QpAttribute::kRnrRetry},
                                  {IBV_QP_RQ_PSN, QpAttribute::kRqPsn},
                                  {IBV_QP_MAX_QP_RD_ATOMIC, QpAttribute::kMaxRdAtomic},
                                  {IBV_QP_MIN_RNR_TIMER, QpAttribute::kMinRnrTimer},
                                  {IBV_QP_SQ_PSN, QpAttribute::kSqPsn},
                                  {IBV_QP_MAX_DEST_RD_ATOMIC, QpAttribute::kMaxDestRdAtomic},
                                  {IBV_QP_DEST_QPN, QpAttribute::kDestQpn}};
// Those that say how, and set nothing.
constexpr int kOtherBits = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_RATE_LIMIT;

AccessSet access_of(unsigned flags) noexcept {
  AccessSet set;
  for (const Access a : {Access::kLocalWrite, Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic})
    if ((flags & static_cast<unsigned>(a)) != 0) set = set | a;
  return set;
}

// What verbs calls the engine's states; they are in one order.
ibv_qp_state state_of(roce::QpState s) noexcept { return static_cast<ibv_qp_state>(s); }

// Keeps what was set, for ibv_query_qp().
void remember(ibv_qp_attr& kept, const ibv_qp_attr& attr, int mask) noexcept {
  const auto keep = [&](int bit, auto ibv_qp_attr::*member) {
    if ((mask & bit) != 0) kept.*member = attr.*member;
  };
  keep(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  keep(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
  keep(IBV_QP_PORT, &ibv_qp_attr::port_num);
  keep(IBV_QP_QKEY, &ibv_qp_attr::qkey);
  keep(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  keep(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
  keep(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  keep(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  keep(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
  keep(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
  keep(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  keep(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
  keep(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
  keep(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  keep(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
  keep(IBV_QP_RATE_LIMIT, &ibv_qp_attr::rate_limit);
}

// False: a value that the device does not have.
bool values_of(const State& state, const QpObject& qp, const ibv_qp_attr& attr, int mask,
               roce::QpAttributes& v) noexcept {
  v.access_flags = access_of(attr.qp_access_flags);
  v.pkey_index = attr.pkey_index;
  v.port = attr.port_num;
  v.q_key = attr.qkey;
  v.timeout = attr.timeout;
  v.retry_cnt = attr.retry_cnt;
  v.rnr_retry = attr.rnr_retry;
  v.rq_psn = attr.rq_psn;
  v.max_rd_atomic = attr.max_rd_atomic;
  v.min_rnr_timer = attr.min_rnr_timer;
  v.sq_psn = attr.sq_psn;
  v.max_dest_rd_atomic = attr.max_dest_rd_atomic;
  v.dest_qpn = attr.dest_qp_num;
  if ((mask & IBV_QP_PATH_MTU) != 0) {
    if (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > active_mtu(state.nic->grant())) return false;
    v.path_mtu = *roce::path_mtu(std::size_t{128} << attr.path_mtu);
  }
  if ((mask & IBV_QP_AV) != 0) {
    if (!address_vector(state, attr.ah_attr, v.av)) return false;
    // Without a flow label of the application's, one of the two QP numbers, as Linux does.
    const std::uint32_t peer = (mask & IBV_QP_DEST_QPN) != 0 ? attr.dest_qp_num : qp.attr.dest_qp_num;
    if (attr.ah_attr.grh.flow_label == 0) v.av.source_port = roce::source_port(roce::flow_label(qp.number.value, peer));
  }
  return ((mask & IBV_QP_MAX_QP_RD_ATOMIC) == 0 || attr.max_rd_atomic <= kMostReads) &&
         ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) == 0 || attr.max_dest_rd_atomic <= kMostReads);
}

// What a QP has completed before it was reset or destroyed nobody polls any more, as with other devices.
void forget_completions(State& state, const QpObject& qp) noexcept {
  for (ibv_cq* const cq : {qp.init.send_cq, qp.init.recv_cq})
    state.nic->engine().cq(object_of<CqObject>(cq).id).forget(qp.number);
  state.outstanding = 0;  // right again when what others have posted is complete
}

}  // namespace

ibv_qp* create_qp(ibv_pd* handle, ibv_qp_init_attr* init) {
  const auto type = type_of(init->qp_type);
  if (!type) return failed(nullptr, EOPNOTSUPP);
  if (!within_limits(init->cap, init->srq != nullptr) || init->send_cq == nullptr || init->recv_cq == nullptr)
    return failed(nullptr, EINVAL);
  auto& pd = object_of<PdObject>(handle);
  State& state = verbs::state_of(handle->context);
  auto* const qp = new QpObject{};
  auto& send_cq = object_of<CqObject>(init->send_cq);
  auto& recv_cq = object_of<CqObject>(init->recv_cq);
  init->cap.max_send_wr = std::max<std::uint32_t>(init->cap.max_send_wr, 1);
  init->cap.max_send_sge = std::max<std::uint32_t>(init->cap.max_send_sge, 1);
  if (init->srq != nullptr) {
    init->cap.max_recv_wr = init->cap.max_recv_sge = 0;
  } else {
    init->cap.max_recv_wr = std::max<std::uint32_t>(init->cap.max_recv_wr, 1);
    init->cap.max_recv_sge = std::max<std::uint32_t>(init->cap.max_recv_sge, 1);
  }
  qp->init = *init;
  const std::lock_guard lock(state.nic->mutex());
  roce::QpInit q;
  q.type = *type;
  q.domain = pd.domain;
  q.send_cq = send_cq.id;
  q.recv_cq = recv_cq.id;
  if (init->srq != nullptr) q.srq = object_of<SrqObject>(init->srq).id;
  q.max_send_wr = init->cap.max_send_wr;
  q.max_recv_wr = std::max<std::uint32_t>(init->cap.max_recv_wr, 1);
  q.signal_all = init->sq_sig_all != 0;
  if (*type == roce::QpType::kRc) q.selective_repeat = state.nic->settings().selective_repeat;
  try {
    state.nic->start_thread();
  } catch (const std::system_error& error) {
    return failed(qp, error.code().value());
  }
  if (!make_inline(state, *qp, pd.domain)) return failed(qp, ENOMEM);
  const auto number = state.nic->engine().create_qp(q);
  if (!number) {
    if (qp->inline_data.key != 0) state.nic->engine().memory().remove(qp->inline_data.key);
    return failed(qp, errno_of(number.error()));
  }
  qp->number = *number;
  qp->attr.cap = init->cap;
  ++pd.users;
  ++send_cq.users;
  ++recv_cq.users;
  if (init->srq != nullptr) ++object_of<SrqObject>(init->srq).users;
  state.qps[number->value] = qp;
  fill(*qp, handle, *init);
  return &qp->qp.qp;
}

ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* init) {
  constexpr std::uint32_t kKnown =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  // There is no multicast that could come back.
  constexpr std::uint32_t kFlags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
  constexpr std::uint64_t kOperations = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                                        IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                                        IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                                        IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV |
                                        IBV_QP_EX_WITH_BIND_MW;
  const bool builds = (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  const bool has_flags = (init->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0;
  if ((init->comp_mask & ~kKnown) != 0 || (builds && (init->send_ops_flags & ~kOperations) != 0) ||
      (has_flags && (init->create_flags & ~kFlags) != 0))
    return failed(nullptr, EOPNOTSUPP);
  if ((init->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || init->pd == nullptr) return failed(nullptr, EINVAL);
  // It begins as the plain one.
  ibv_qp* const made = create_qp(init->pd, reinterpret_cast<ibv_qp_init_attr*>(init));
  if (made != nullptr && builds) set_builders(object_of<QpObject>(made));
  return made;
}

int modify_qp(ibv_qp* handle, ibv_qp_attr* attr, int mask) {
  auto& qp = object_of<QpObject>(handle);
  State& state = verbs::state_of(handle->context);
  int known = kOtherBits;
  roce::QpAttributeSet given;
  for (const AttributeBit& b : kBits) {
    known |= b.mask;
    if ((mask & b.mask) != 0) given = given | roce::QpAttributeSet{b.attribute};
  }
  if ((mask & ~known) != 0) return EOPNOTSUPP;  // alternate paths, migration, other sizes of queues
  const std::lock_guard lock(state.nic->mutex());
  const auto now_in = state.nic->engine().state(qp.number);
  if (!now_in || ((mask & IBV_QP_CUR_STATE) != 0 && attr->cur_qp_state != state_of(*now_in))) return EINVAL;
  if ((mask & IBV_QP_STATE) != 0 && (attr->qp_state < IBV_QPS_RESET || attr->qp_state > IBV_QPS_ERR)) return EINVAL;
  const roce::QpState to = (mask & IBV_QP_STATE) != 0 ? static_cast<roce::QpState>(attr->qp_state) : *now_in;
  roce::QpAttributes values;
  if (!values_of(state, qp, *attr, mask, values)) return EINVAL;
  const Instant now = Nic::now();
  if (!state.nic->engine().modify_qp(now, qp.number, to, given, values)) return EINVAL;
  if ((mask & IBV_QP_RATE_LIMIT) != 0)  // kb/s
    state.nic->engine().set_rate_limit(now, qp.number, BitRate{std::int64_t{attr->rate_limit} * 1000});
  remember(qp.attr, *attr, mask);
  if (to == roce::QpState::kReset) forget_completions(state, qp);
  // Into error: completions of what was flushed.
  state.nic->pump(now);
  state.on_progress();
  return 0;
}

int query_qp(ibv_qp* handle, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
  auto& qp = object_of<QpObject>(handle);
  State& state = verbs::state_of(handle->context);
  const std::lock_guard lock(state.nic->mutex());
  *attr = qp.attr;
  attr->qp_state = attr->cur_qp_state = state_of(state.nic->engine().state(qp.number).value_or(roce::QpState::kErr));
  attr->cap = qp.init.cap;
  handle->state = attr->qp_state;
  *init = qp.init;
  return 0;
}

int destroy_qp(ibv_qp* handle) {
  auto& qp = object_of<QpObject>(handle);
  State& state = verbs::state_of(handle->context);
  {
    const std::lock_guard lock(state.nic->mutex());
    // What is acknowledged already, and what was asked for, still goes.
    state.nic->pump(Nic::now());
    state.nic->engine().destroy_qp(qp.number);
    forget_completions(state, qp);
    if (qp.inline_data.key != 0) state.nic->engine().memory().remove(qp.inline_data.key);
    state.qps.erase(qp.number.value);
    --object_of<PdObject>(handle->pd).users;
    --object_of<CqObject>(handle->send_cq).users;
    --object_of<CqObject>(handle->recv_cq).users;
    if (handle->srq != nullptr) --object_of<SrqObject>(handle->srq).users;
  }
  wait_for_acknowledgements(qp);
  pthread_mutex_destroy(&handle->mutex);
  pthread_cond_destroy(&handle->cond);
  delete &qp;
  return 0;
}

}  // namespace railyard::verbs
