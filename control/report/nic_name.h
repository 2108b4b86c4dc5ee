// What people call a NIC.
#pragma once

#include <string>

#include <fmt/format.h>

#include "control/build/built_lab.h"

namespace railyard::report {

// "h1", or "h1:2" of a host with several.
inline std::string nic_name(const build::BuiltLab& lab, const spec::PortName& p) {
  return lab.spec().find(p.node)->nics.size() == 1 ? p.node : fmt::format("{}:{}", p.node, p.port);
}

}  // namespace railyard::report
