// The NICs of a lab that are there for applications (`attach: application`): what the fabric file says of each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "control/daemon/verbs_tree.h"
#include "control/spec/spec.h"
#include "transports/application/handshake.h"
#include "transports/libfabric/nic_settings.h"
#include "transports/verbs/nic_settings.h"

namespace railyard::daemon {

struct ApplicationNic {
  spec::PortName name;
  application::NicGrant grant{};  // without what is each process's own
  verbs::NicSettings settings{};
  libfabric::NicSettings uet_settings{};

  VerbsDevice device() const;
};

// In the order of the file.
std::vector<ApplicationNic> application_nics(const spec::Lab& lab);

// The addresses of all hosts of the lab, each with the host's name, and with that of its NIC ("h1:2").
std::vector<std::pair<wire::IpAddress, std::string>> host_names(const spec::Lab& lab);

}  // namespace railyard::daemon
