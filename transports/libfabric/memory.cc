// Memory regions: what peers may read and write. Registering is bookkeeping: the engine runs in the application, whose
// memory it reads and writes as it is. Buffers of its own need not be registered.
#include <memory>

#include "transports/libfabric/objects.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {
namespace {

AccessSet access_of(std::uint64_t asked) noexcept {
  AccessSet access = Access::kLocalWrite;
  // (libfabric's atomics need what its RMA needs.)
  if ((asked & FI_REMOTE_WRITE) != 0) access = access | Access::kRemoteWrite | Access::kRemoteAtomic;
  if ((asked & FI_REMOTE_READ) != 0) access = access | Access::kRemoteRead | Access::kRemoteAtomic;
  return access;
}

int close_memory(fid* fid) {
  auto& mr = object_of<Mr>(fid);
  {
    const std::lock_guard lock(mr.domain->nic->mutex());
    if (mr.domain->memory.chosen_keys) mr.domain->nic->engine().give_up_key(mr.fid.key);
    if (mr.key != 0) mr.domain->nic->engine().memory().remove(mr.key);
    --mr.domain->users;
  }
  delete &mr;
  return 0;
}

// (Events of remote operations are not offered, so that nothing has to be bound.)
int bind_memory(fid*, fid*, std::uint64_t) { return -FI_EINVAL; }

int control_memory(fid* fid, int command, void* argument) {
  if (command == FI_ENABLE) return 0;
  if (command != FI_GET_RAW_MR) return -FI_ENOSYS;
  auto* const raw = static_cast<struct fi_mr_raw_attr*>(argument);
  const std::uint64_t key = object_of<Mr>(fid).fid.key;
  if (*raw->key_size < sizeof key) {
    *raw->key_size = sizeof key;
    return -FI_ETOOSMALL;
  }
  *raw->key_size = sizeof key;
  *reinterpret_cast<std::uint64_t*>(raw->raw_key) = key;
  if (raw->base_addr != nullptr) *raw->base_addr = 0;
  return 0;
}

fi_ops memory_object_operations = {.size = sizeof(fi_ops),
                                   .close = close_memory,
                                   .bind = bind_memory,
                                   .control = control_memory,
                                   .ops_open = kNotImplemented,
                                   .tostr = kNotImplemented,
                                   .ops_set = kNotImplemented};

int add(fid* owner, const void* buffer, std::size_t octets, std::uint64_t access, std::uint64_t wanted_key,
        void* context, fid_mr** out) try {
  if (owner->fclass != FI_CLASS_DOMAIN) return -FI_EINVAL;
  Domain& domain = *domain_of(owner);
  if (domain.memory.chosen_keys && wanted_key > kMostKey) return -FI_EKEYREJECTED;
  auto mr = std::make_unique<Mr>();
  mr->domain = &domain;
  const auto at = reinterpret_cast<std::uintptr_t>(buffer);
  const std::lock_guard lock(domain.nic->mutex());
  uet::Engine& engine = domain.nic->engine();
  if (octets > 0) {
    const auto key = engine.memory().add({.address = at,
                                          .octets = octets,
                                          .access = access_of(access),
                                          .memory = static_cast<std::byte*>(const_cast<void*>(buffer))});
    if (!key) return key.error() == RegisterError::kTooMany ? -FI_ENOMEM : -FI_EINVAL;
    mr->key = *key;
  }
  if (domain.memory.chosen_keys && !engine.choose_key(wanted_key, mr->key)) {
    if (mr->key != 0) engine.memory().remove(mr->key);
    return -FI_ENOKEY;
  }
  mr->fid = {.fid = {.fclass = FI_CLASS_MR, .context = context, .ops = &memory_object_operations},
             .mem_desc = mr.get(),
             .key = domain.memory.chosen_keys ? wanted_key : mr->key};
  ++domain.users;
  *out = &mr.release()->fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
}

int reg(fid* owner, const void* buffer, std::size_t octets, std::uint64_t access, std::uint64_t, std::uint64_t key,
        std::uint64_t flags, fid_mr** out, void* context) {
  return flags != 0 ? -FI_EBADFLAGS : add(owner, buffer, octets, access, key, context, out);
}

int reg_pieces(fid* owner, const iovec* pieces, std::size_t count, std::uint64_t access, std::uint64_t offset,
               std::uint64_t key, std::uint64_t flags, fid_mr** out, void* context) {
  if (count != 1) return -FI_EINVAL;  // fi_domain_attr::mr_iov_limit
  return reg(owner, pieces->iov_base, pieces->iov_len, access, offset, key, flags, out, context);
}

int reg_attr(fid* owner, const fi_mr_attr* attr, std::uint64_t flags, fid_mr** out) {
  if (attr->iface != FI_HMEM_SYSTEM) return -FI_ENOSYS;
  return reg_pieces(owner, attr->mr_iov, attr->iov_count, attr->access, attr->offset, attr->requested_key, flags, out,
                    attr->context);
}

}  // namespace

fi_ops_mr memory_operations = {.size = sizeof(fi_ops_mr), .reg = reg, .regv = reg_pieces, .regattr = reg_attr};

}  // namespace railyard::libfabric
