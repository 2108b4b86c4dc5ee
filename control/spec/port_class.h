// What holds for a class at one port, when the QoS profile, the rate of the link and the port have had their say.
#pragma once

#include <cstddef>

#include "control/spec/spec.h"

namespace railyard::spec {

const QosProfile& qos_of(const Lab& lab, const NodeSpec& node);

// Class `priority` of a node's `port` (from 1), whose link has `rate`: the class of the QoS profile, then what its
// `by-rate` says of that rate, then what the node says of the port. `alpha` and `xoff` replace each other.
TrafficClass class_at(const Lab& lab, const NodeSpec& node, int port, BitRate rate, std::size_t priority);

// The class that frames of class `priority` are in from here on if they leave by `port`.
int remap_at(const Lab& lab, const NodeSpec& node, int port, BitRate rate, std::size_t priority);

// The classes for which PFC is enabled at a port. Without any `pfc` that says otherwise: those that are lossless there
// and have no credits.
struct PfcClasses {
  PriorityMask rx = 0;  // pauses are obeyed
  PriorityMask tx = 0;  // pauses are sent when the buffer asks for it

  bool operator==(const PfcClasses&) const = default;
};
PfcClasses pfc_at(const Lab& lab, const NodeSpec& node, int port, BitRate rate);
// The key that decides whether PFC is on for a class there: "hosts.default.pfc", "qos.default.classes.3.pfc".
std::string pfc_key(const Lab& lab, const NodeSpec& node, int port, BitRate rate, std::size_t priority);

}  // namespace railyard::spec
