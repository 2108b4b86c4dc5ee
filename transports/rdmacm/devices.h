// The RDMA devices of the program's emulated host, opened once for all IDs.
#pragma once

#include <memory>
#include <vector>

#include "dataplane/wire/address.h"
#include "transports/rdmacm/cm_nic.h"
#include "transports/verbs/management.h"

struct ibv_context;
struct ibv_pd;

namespace railyard::rdmacm {

struct Device {
  ibv_context* context = nullptr;
  verbs::Management* management = nullptr;
  std::vector<wire::IpAddress> addresses;  // by GID index
  std::unique_ptr<CmNic> cm;
  ibv_pd* pd = nullptr;  // of IDs whose application names none

  // Has the index of an own address; -1: it is none.
  int gid_index(const wire::IpAddress& address) const noexcept;
};

// Opens them at the first call. Empty, and errno: there are none.
const std::vector<std::unique_ptr<Device>>& devices();
// One that is open already, whose connections are managed from here on. Throws std::system_error: there can be no more
// threads. nullptr, and errno: it makes no domain.
Device* add_device(ibv_context* context, verbs::Management& management);
// The device that has an address; nullptr: none.
Device* device_with(const wire::IpAddress& address);
// The one to a peer; nullptr: none has an address of its family.
Device* device_to(const wire::IpAddress& peer);

}  // namespace railyard::rdmacm
