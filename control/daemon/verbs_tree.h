// What makes libibverbs find the NICs of an emulated host: a folder of files as the kernel's sysfs has them for RDMA
// devices, which programs are pointed to by SYSFS_PATH.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::daemon {

struct VerbsDevice {
  std::string name;  // as applications see it: "railyard0"
  std::string host;  // of the lab, with its NIC from 1, for the provider
  int nic = 1;
  wire::MacAddress mac{};
  std::vector<wire::IpAddress> gids;  // RoCE v2, by index
};

// The name of the RDMA device of NIC `nic` (from 1) of any host.
std::string verbs_device_name(int nic);

// Writes the tree of `devices` to `folder`, which is made. `socket`: where the daemon hands out rings. Throws
// std::runtime_error with the file that cannot be written.
void write_verbs_tree(const std::filesystem::path& folder, const std::vector<VerbsDevice>& devices,
                      const std::string& socket);

// Writes `folder`/hosts, by which librailyard-rdmacm.so knows the names of the lab's hosts: lines as in /etc/hosts. Throws
// as above.
void write_host_names(const std::filesystem::path& folder,
                      const std::vector<std::pair<wire::IpAddress, std::string>>& names);

}  // namespace railyard::daemon
