// Protection domains and memory regions. Registering is bookkeeping: the engine runs in the application, whose memory
// it reads and writes as it is.
#include <cerrno>

#include "transports/verbs/objects.h"

namespace railyard::verbs {

ibv_pd* alloc_pd(ibv_context* context) {
  State& state = state_of(context);
  auto* const pd = new PdObject{};
  const std::lock_guard lock(state.nic->mutex());
  pd->domain = ProtectionDomain{state.next_domain++};
  return &pd->pd;
}

int dealloc_pd(ibv_pd* handle) {
  auto& pd = object_of<PdObject>(handle);
  {
    const std::lock_guard lock(state_of(handle->context).nic->mutex());
    if (pd.users > 0) return EBUSY;
  }
  delete &pd;
  return 0;
}

ibv_mr* reg_mr(ibv_pd* handle, void* address, std::size_t octets, std::uint64_t hca_va, int access) {
  constexpr int kKnown =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  // Hints that nothing rests on: the standard lets a device ignore them.
  constexpr int kHints = IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;
  if ((access & ~(kKnown | kHints)) != 0) {  // on demand, windows, zero-based
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto& pd = object_of<PdObject>(handle);
  Nic& nic = *state_of(handle->context).nic;
  AccessSet allowed;
  for (const Access a : {Access::kLocalWrite, Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic})
    if ((access & static_cast<int>(a)) != 0) allowed = allowed | a;
  auto* const mr = new MrObject{};
  const std::lock_guard lock(nic.mutex());
  const auto key = nic.engine().memory().add({.address = hca_va,
                                              .octets = octets,
                                              .access = allowed,
                                              .domain = pd.domain,
                                              .memory = static_cast<std::byte*>(address)});
  if (!key) {
    delete mr;
    errno = key.error() == RegisterError::kTooMany ? ENOMEM : EINVAL;
    return nullptr;
  }
  ++pd.users;
  mr->mr.mr.lkey = mr->mr.mr.rkey = *key;
  return &mr->mr.mr;
}

int dereg_mr(abi::Mr* handle) {
  auto& mr = object_of<MrObject>(handle);
  {
    Nic& nic = *state_of(handle->mr.context).nic;
    const std::lock_guard lock(nic.mutex());
    nic.engine().memory().remove(handle->mr.lkey);
    --object_of<PdObject>(handle->mr.pd).users;
  }
  delete &mr;
  return 0;
}

}  // namespace railyard::verbs
