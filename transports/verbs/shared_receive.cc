// Shared receive queues.
#include <algorithm>
#include <cerrno>

#include "transports/verbs/objects.h"

namespace railyard::verbs {

ibv_srq* create_srq(ibv_pd* handle, ibv_srq_init_attr* init) {
  ibv_srq_attr& wanted = init->attr;
  if (wanted.max_wr == 0 || wanted.max_wr > kMostWrs || wanted.max_sge > roce::kMostSges) {
    errno = EINVAL;
    return nullptr;
  }
  auto& pd = object_of<PdObject>(handle);
  State& state = state_of(handle->context);
  auto* const srq = new SrqObject{};
  const std::lock_guard lock(state.nic->mutex());
  if (state.open.srqs >= kMostSrqs) {
    delete srq;
    errno = ENOMEM;
    return nullptr;
  }
  ++state.open.srqs;
  const auto free = std::ranges::find(state.srqs, nullptr);
  if (free != state.srqs.end()) {
    srq->id = roce::SrqId{static_cast<std::uint32_t>(free - state.srqs.begin())};
    state.nic->engine().srq(srq->id) = roce::ReceiveQueue(wanted.max_wr, pd.domain);
    *free = srq;
  } else {
    srq->id = state.nic->engine().create_srq(pd.domain, wanted.max_wr);
    state.srqs.push_back(srq);
  }
  srq->max_wr = wanted.max_wr;
  srq->max_sge = wanted.max_sge = std::max<std::uint32_t>(wanted.max_sge, 1);
  ++pd.users;
  return &srq->srq.srq;
}

int modify_srq(ibv_srq* handle, ibv_srq_attr* attr, int mask) {
  auto& srq = object_of<SrqObject>(handle);
  State& state = state_of(handle->context);
  const bool resizes = (mask & IBV_SRQ_MAX_WR) != 0, limits = (mask & IBV_SRQ_LIMIT) != 0;
  if ((mask & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR)) != 0) return EINVAL;
  if (resizes && (attr->max_wr == 0 || attr->max_wr > kMostWrs)) return EINVAL;
  const std::lock_guard lock(state.nic->mutex());
  const std::uint32_t limit = limits ? attr->srq_limit : srq.limit;
  if (limit > (resizes ? attr->max_wr : srq.max_wr)) return EINVAL;
  roce::ReceiveQueue& queue = state.nic->engine().srq(srq.id);
  if (resizes && !queue.resize(attr->max_wr)) return EINVAL;
  if (resizes) srq.max_wr = attr->max_wr;
  srq.limit = limit;
  if (limits) queue.set_limit(limit);
  return 0;
}

int query_srq(ibv_srq* handle, ibv_srq_attr* attr) {
  const auto& srq = object_of<SrqObject>(handle);
  const std::lock_guard lock(state_of(handle->context).nic->mutex());
  *attr = {.max_wr = srq.max_wr, .max_sge = srq.max_sge, .srq_limit = srq.limit};
  return 0;
}

int destroy_srq(ibv_srq* handle) {
  auto& srq = object_of<SrqObject>(handle);
  State& state = state_of(handle->context);
  {
    const std::lock_guard lock(state.nic->mutex());
    if (srq.users > 0) return EBUSY;
    state.srqs[srq.id.index()] = nullptr;
    --state.open.srqs;
    --object_of<PdObject>(handle->pd).users;
  }
  wait_for_acknowledgements(srq);
  delete &srq;
  return 0;
}

}  // namespace railyard::verbs
