// Whether this program has an emulated host, and the names of the lab's hosts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataplane/wire/address.h"

namespace railyard::rdmacm {

// The folder of the host's RDMA devices, as `railyard exec` sets it (SYSFS_PATH); empty: this program is in no lab.
const std::string& lab_folder();

// Of a host, or the address that `name` is. Empty: there is none.
std::vector<wire::IpAddress> addresses_of(std::string_view name);

}  // namespace railyard::rdmacm
