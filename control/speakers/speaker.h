// Speakers: routing stacks of the user's in front of switches of a live lab, and what they have to know.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "control/routing/bgp/as_paths.h"
#include "control/spec/spec.h"
#include "dataplane/wire/address.h"

namespace railyard::speakers {

// A port of a switch that is linked.
struct SpeakerPort {
  int port = 0;  // from 1
  spec::PortName peer;
  bool to_switch = false;
  std::vector<wire::IpAddress> hosts;  // addresses of the NIC at the other end
};

struct Speaker {
  std::string name;  // of the switch
  spec::ControlSpec control;
  std::optional<wire::IpAddress> loopback_v4;
  std::optional<wire::IpAddress> loopback_v6;
  routing::bgp::AsNumber as = 0;  // as RoutingSpec::as_numbers has it
  std::vector<SpeakerPort> ports;
};

// Of all switches with a `control` that is not `model`, in the order of the nodes. `lab` is expanded and valid.
std::vector<Speaker> speakers_of(const spec::Lab& lab);

// A port's interface in the namespace of its switch: "swp3".
std::string interface_of(int port);

}  // namespace railyard::speakers
