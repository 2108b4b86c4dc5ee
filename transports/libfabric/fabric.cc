// Fabrics, and what all objects share.
#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transports/libfabric/objects.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {

std::string to_string(const Address& a) {
  return fmt::format("fi_uet://{}:{}.{}", wire::to_string(a.fabric_address), a.pid_on_fep, a.resource_index);
}

Signal::Signal(bool wanted) : fd_(wanted ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1) {
  if (wanted && !fd_) throw std::system_error(errno, std::generic_category());
}

void Signal::raise() noexcept {
  if (!fd_ || raised_) return;
  raised_ = true;
  wake();
}

void Signal::wake() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(fd_.get(), &one, sizeof one));
}

void Signal::lower() noexcept {
  if (!fd_) return;
  raised_ = false;
  std::uint64_t count = 0;
  static_cast<void>(::read(fd_.get(), &count, sizeof count));
}

bool is_wait_object(fi_wait_obj wanted) noexcept {
  return wanted == FI_WAIT_NONE || wanted == FI_WAIT_UNSPEC || wanted == FI_WAIT_FD || wanted == FI_WAIT_YIELD;
}

namespace {

int close_fabric(fid* fid) {
  auto& fabric = object_of<Fabric>(fid);
  if (fabric.users > 0) return -FI_EBUSY;
  delete &fabric;
  return 0;
}

// Whether the caller may sleep on the descriptors of all of these.
int try_wait(fid_fabric*, fid** fids, int count) {
  for (int i = 0; i < count; ++i) {
    if (fids[i]->fclass == FI_CLASS_CQ) {
      auto& cq = object_of<Cq>(fids[i]);
      const std::lock_guard lock(cq.domain->nic->mutex());
      if (!cq.entries.empty()) return -FI_EAGAIN;
      progress(*cq.domain, true);
      if (!cq.entries.empty()) return -FI_EAGAIN;
      cq.signal.lower();
    } else if (fids[i]->fclass == FI_CLASS_EQ) {
      auto& eq = object_of<Eq>(fids[i]);
      const std::lock_guard lock(eq.mutex);
      if (!eq.events.empty() || !eq.errors.empty()) return -FI_EAGAIN;
    } else if (fids[i]->fclass == FI_CLASS_CNTR) {
      auto& counter = object_of<Counter>(fids[i]);
      const std::lock_guard lock(counter.domain->nic->mutex());
      progress(*counter.domain, true);
    } else {
      return -FI_EINVAL;
    }
  }
  return 0;
}

fi_ops fabric_object_operations = {.size = sizeof(fi_ops),
                                   .close = close_fabric,
                                   .bind = kNotImplemented,
                                   .control = kNotImplemented,
                                   .ops_open = kNotImplemented,
                                   .tostr = kNotImplemented,
                                   .ops_set = kNotImplemented};
fi_ops_fabric fabric_operations = {.size = sizeof(fi_ops_fabric),
                                   .domain = open_domain,
                                   .passive_ep = kNotImplemented,
                                   .eq_open = open_eq,
                                   .wait_open = kNotImplemented,
                                   .trywait = try_wait,
                                   .domain2 = kNotImplemented};

}  // namespace

int open_fabric(fi_fabric_attr* attr, fid_fabric** out, void* context) try {
  auto* const fabric = new Fabric;
  fabric->fid = {.fid = {.fclass = FI_CLASS_FABRIC, .context = context, .ops = &fabric_object_operations},
                 .ops = &fabric_operations,
                 .api_version = attr->api_version};
  *out = &fabric->fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
}

}  // namespace railyard::libfabric
