// What stands behind the ports of a lab that lead out of it.
#pragma once

#include "control/spec/spec.h"

namespace railyard::lab {

// Calls `f` with what stands behind each NIC and each trunk (a spec::Attachment), and where that is said.
template <class F>
void for_each_behind(const spec::Lab& lab, F&& f) {
  for (const spec::NodeSpec& node : lab.nodes) {
    for (const spec::NicSpec& nic : node.nics) f(nic.attach, nic.place);
    if (node.kind == spec::NodeSpec::Kind::kTrunk) f(node.trunk.attach, node.place);
  }
}

}  // namespace railyard::lab
