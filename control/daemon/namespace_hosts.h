// The hosts of a lab that are network namespaces, as who makes them wants to have them.
#pragma once

#include <string>

#include "control/hosts/lab_hosts.h"
#include "control/spec/spec.h"

namespace railyard::daemon {

// Switches with a speaker are there as well, without NICs. `name`: that the lab is up under. Rates are per second of
// wall time: a dilated lab's links are slower.
hosts::LabHosts namespace_hosts(const spec::Lab& lab, const std::string& name);

}  // namespace railyard::daemon
