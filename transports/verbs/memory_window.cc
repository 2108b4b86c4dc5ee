// Memory windows: keys for pieces of a region, given and taken away by work requests.
#include <cerrno>

#include "transports/verbs/objects.h"

namespace railyard::verbs {

ibv_mw* alloc_mw(ibv_pd* handle, ibv_mw_type type) {
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
    errno = EINVAL;
    return nullptr;
  }
  auto& pd = object_of<PdObject>(handle);
  State& state = state_of(handle->context);
  auto* const window = new MwObject{};
  const std::lock_guard lock(state.nic->mutex());
  const auto key = state.open.mws < kMostMws ? state.nic->engine().memory().add_window(pd.domain)
                                             : std::unexpected(RegisterError::kTooMany);
  if (!key) {
    delete window;
    errno = ENOMEM;
    return nullptr;
  }
  ++pd.users;
  ++state.open.mws;
  window->mw = {.context = handle->context, .pd = handle, .rkey = *key, .handle = *key, .type = type};
  return &window->mw;
}

int to_bind(const ibv_mw& window, std::uint32_t key, const ibv_mw_bind_info& info, roce::SendWr& to) noexcept {
  // Local writes are the region's own; programs say them all the same.
  constexpr unsigned kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                              IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED;
  if ((info.mw_access_flags & ~kKnown) != 0 || info.length > kMostWindowOctets ||
      (info.length > 0 && info.mr == nullptr) || (key ^ window.handle) >> 8 != 0)
    return EINVAL;
  to.opcode = roce::SendOpcode::kBindWindow;
  to.r_key = key;
  if (info.length > 0) to.sges.push({info.addr, static_cast<std::uint32_t>(info.length), info.mr->lkey});
  for (const Access a : {Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic})
    if ((info.mw_access_flags & static_cast<unsigned>(a)) != 0) to.access = to.access | a;
  to.zero_based = (info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0;
  to.own_window = window.type == IBV_MW_TYPE_2;
  return 0;
}

// Of type 1: the key is ours to choose.
int bind_mw(ibv_qp* handle, ibv_mw* window, ibv_mw_bind* bind) {
  auto& qp = object_of<QpObject>(handle);
  roce::SendWr wr;
  wr.wr_id = bind->wr_id;
  wr.signaled = (bind->send_flags & IBV_SEND_SIGNALED) != 0;
  wr.fence = (bind->send_flags & IBV_SEND_FENCE) != 0;
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  int error = to_bind(*window, key, bind->bind_info, wr);
  if (error == 0) error = post_one(qp, wr);
  if (error == 0) window->rkey = key;
  return error;
}

int dealloc_mw(ibv_mw* handle) {
  auto& window = object_of<MwObject>(handle);
  {
    State& state = state_of(handle->context);
    const std::lock_guard lock(state.nic->mutex());
    state.nic->engine().memory().remove_window(handle->handle);
    --state.open.mws;
    --object_of<PdObject>(handle->pd).users;
  }
  delete &window;
  return 0;
}

}  // namespace railyard::verbs
