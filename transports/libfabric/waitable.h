// What completion queues, counters and event queues have in common as objects of libfabric: a descriptor to wait by, and
// their end.
#pragma once

#include "transports/libfabric/objects.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {

// fi_control() of an object with a signal: FI_GETWAIT stores its descriptor. -FI_ENODATA: it was opened without one.
template <class Object>
int get_wait(fid* fid, int command, void* argument) {
  auto& object = object_of<Object>(fid);
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  if (object.signal.fd() < 0) return -FI_ENODATA;
  *static_cast<int*>(argument) = object.signal.fd();
  return 0;
}

// fi_close() of an object of a domain. -FI_EBUSY: endpoints use it.
template <class Object>
int close_unused(fid* fid) {
  auto& object = object_of<Object>(fid);
  {
    const std::lock_guard lock(object.domain->nic->mutex());
    if (object.users > 0) return -FI_EBUSY;
    --object.domain->users;
  }
  delete &object;
  return 0;
}

inline fi_ops waitable_operations(int (*close)(fid*), int (*control)(fid*, int, void*)) {
  return {.size = sizeof(fi_ops),
          .close = close,
          .bind = kNotImplemented,
          .control = control,
          .ops_open = kNotImplemented,
          .tostr = kNotImplemented,
          .ops_set = kNotImplemented};
}

}  // namespace railyard::libfabric
