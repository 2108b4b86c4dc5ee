// Event queues: what applications write there themselves, and addresses that were inserted.
#include <algorithm>
#include <cstring>
#include <memory>
#include <system_error>

#include <poll.h>

#include "transports/libfabric/objects.h"
#include "transports/libfabric/waitable.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {

void Eq::push(std::uint32_t type, const void* octets, std::size_t n) {
  const std::lock_guard lock(mutex);
  const auto* const from = static_cast<const std::byte*>(octets);
  events.push_back({type, {from, from + n}});
  signal.raise();
}

namespace {

ssize_t read(fid_eq* handle, std::uint32_t* type, void* buffer, std::size_t octets, std::uint64_t flags) {
  Eq& eq = of(handle);
  const std::lock_guard lock(eq.mutex);
  if (!eq.errors.empty()) return -FI_EAVAIL;
  if (eq.events.empty()) return -FI_EAGAIN;
  const Eq::Event& event = eq.events.front();
  if (event.octets.size() > octets) return -FI_ETOOSMALL;
  *type = event.type;
  std::ranges::copy(event.octets, static_cast<std::byte*>(buffer));
  const auto n = static_cast<ssize_t>(event.octets.size());
  if ((flags & FI_PEEK) == 0) eq.events.pop_front();
  if (eq.events.empty()) eq.signal.lower();
  return n;
}

ssize_t read_error(fid_eq* handle, fi_eq_err_entry* out, std::uint64_t flags) {
  Eq& eq = of(handle);
  const std::lock_guard lock(eq.mutex);
  if (eq.errors.empty()) return -FI_EAGAIN;
  *out = eq.errors.front();
  if ((flags & FI_PEEK) == 0) eq.errors.pop_front();
  return static_cast<ssize_t>(sizeof *out);
}

ssize_t write(fid_eq* handle, std::uint32_t type, const void* buffer, std::size_t octets, std::uint64_t) {
  of(handle).push(type, buffer, octets);
  return static_cast<ssize_t>(octets);
}

ssize_t sleep_read(fid_eq* handle, std::uint32_t* type, void* buffer, std::size_t octets, int timeout,
                   std::uint64_t flags) {
  Eq& eq = of(handle);
  if (!eq.waits) return -FI_ENOSYS;
  const ssize_t n = read(handle, type, buffer, octets, flags);
  if (n != -FI_EAGAIN) return n;
  pollfd on{.fd = eq.signal.fd(), .events = POLLIN, .revents = 0};
  ::poll(&on, 1, timeout);
  return read(handle, type, buffer, octets, flags);
}

const char* error_text(fid_eq*, int, const void*, char*, std::size_t) { return "no error of this provider"; }

int close_eq(fid* fid) {
  auto& eq = object_of<Eq>(fid);
  --eq.fabric->users;
  delete &eq;
  return 0;
}

fi_ops eq_object_operations = waitable_operations(close_eq, get_wait<Eq>);
fi_ops_eq eq_operations = {.size = sizeof(fi_ops_eq),
                           .read = read,
                           .readerr = read_error,
                           .write = write,
                           .sread = sleep_read,
                           .strerror = error_text};

}  // namespace

int open_eq(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** out, void* context) try {
  if (!is_wait_object(attr->wait_obj)) return -FI_ENOSYS;
  const bool waits = attr->wait_obj != FI_WAIT_NONE;
  auto eq = std::make_unique<Eq>(waits);
  eq->waits = waits;
  eq->fabric = &object_of<Fabric>(fabric);
  eq->fid = {.fid = {.fclass = FI_CLASS_EQ, .context = context, .ops = &eq_object_operations}, .ops = &eq_operations};
  ++eq->fabric->users;
  *out = &eq.release()->fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
} catch (const std::system_error& error) {
  return -error.code().value();
}

}  // namespace railyard::libfabric
