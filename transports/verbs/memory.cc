// Protection domains and memory regions. Registering is bookkeeping: the engine runs in the application, whose memory
// it reads and writes as it is.
#include <cerrno>
#include <optional>

#include "transports/verbs/objects.h"

namespace railyard::verbs {

ibv_pd* alloc_pd(ibv_context* context) {
  State& state = state_of(context);
  auto* const pd = new PdObject{};
  const std::lock_guard lock(state.nic->mutex());
  if (state.open.pds >= kMostPds) {
    delete pd;
    errno = ENOMEM;
    return nullptr;
  }
  ++state.open.pds;
  pd->domain = ProtectionDomain{state.next_domain++};
  return &pd->pd;
}

int dealloc_pd(ibv_pd* handle) {
  auto& pd = object_of<PdObject>(handle);
  {
    State& state = state_of(handle->context);
    const std::lock_guard lock(state.nic->mutex());
    if (pd.users > 0) return EBUSY;
    --state.open.pds;
  }
  delete &pd;
  return 0;
}

namespace {

// nullopt: something that this device does not have (on demand, zero-based).
std::optional<AccessSet> access_of(int flags) noexcept {
  constexpr int kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                         IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
  // Hints that nothing rests on: the standard lets a device ignore them.
  constexpr int kHints = IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;
  if ((flags & ~(kKnown | kHints)) != 0) return std::nullopt;
  AccessSet set;
  for (const Access a : {Access::kLocalWrite, Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic,
                         Access::kBindWindow})
    if ((flags & static_cast<int>(a)) != 0) set = set | a;
  return set;
}

int errno_of(RegisterError error) noexcept { return error == RegisterError::kTooMany ? ENOMEM : EINVAL; }

}  // namespace

ibv_mr* reg_mr(ibv_pd* handle, void* address, std::size_t octets, std::uint64_t hca_va, int access) {
  const auto allowed = access_of(access);
  if (!allowed) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto& pd = object_of<PdObject>(handle);
  State& state = state_of(handle->context);
  auto* const mr = new MrObject{};
  const std::lock_guard lock(state.nic->mutex());
  if (state.open.mrs >= kMostMrs) {
    delete mr;
    errno = ENOMEM;
    return nullptr;
  }
  const auto key = state.nic->engine().memory().add({.address = hca_va,
                                              .octets = octets,
                                              .access = *allowed,
                                              .domain = pd.domain,
                                              .memory = static_cast<std::byte*>(address)});
  if (!key) {
    delete mr;
    errno = errno_of(key.error());
    return nullptr;
  }
  ++pd.users;
  ++state.open.mrs;
  mr->mr.mr.lkey = mr->mr.mr.rkey = *key;
  return &mr->mr.mr;
}

// The keys stay. On error nothing changes.
int rereg_mr(abi::Mr* handle, int flags, ibv_pd* to, void* address, std::size_t octets, int access) {
  constexpr int kKnown = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
  if ((flags & ~kKnown) != 0 || flags == 0) return EINVAL;
  Nic& nic = *state_of(handle->mr.context).nic;
  const std::lock_guard lock(nic.mutex());
  MemoryRegions& memory = nic.engine().memory();
  const MemoryRegion* const now = memory.region(handle->mr.lkey);
  if (now == nullptr) return EINVAL;  // a peer has invalidated it
  if (memory.has_windows(handle->mr.lkey)) return EBUSY;
  MemoryRegion changed = *now;
  if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
    changed.address = reinterpret_cast<std::uintptr_t>(address);
    changed.octets = octets;
    changed.memory = static_cast<std::byte*>(address);
  }
  if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) changed.domain = object_of<PdObject>(to).domain;
  if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0) {
    const auto allowed = access_of(access);
    if (!allowed) return EOPNOTSUPP;
    changed.access = *allowed;
  }
  if (const auto done = memory.replace(handle->mr.lkey, changed); !done) return errno_of(done.error());
  if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) {
    --object_of<PdObject>(handle->mr.pd).users;
    ++object_of<PdObject>(to).users;
  }
  return 0;
}

int dereg_mr(abi::Mr* handle) {
  auto& mr = object_of<MrObject>(handle);
  {
    State& state = state_of(handle->mr.context);
    const std::lock_guard lock(state.nic->mutex());
    MemoryRegions& memory = state.nic->engine().memory();
    if (memory.has_windows(handle->mr.lkey)) return EBUSY;
    memory.remove(handle->mr.lkey);
    --state.open.mrs;
    --object_of<PdObject>(handle->mr.pd).users;
  }
  delete &mr;
  return 0;
}

}  // namespace railyard::verbs
