// From what the fabric file says of a NIC to the port behind it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "control/spec/spec.h"
#include "dataplane/packet/pool.h"
#include "dataplane/port/outside_port.h"
#include "dataplane/trunk/trunk_end.h"
#include "dataplane/trunk/trunk_wire.h"

namespace railyard::lab {

// A network interface that was made for a NIC, or the path of a vhost-user socket to make.
struct Interface {
  std::string netns;   // empty: the current one
  std::string name;    // of the interface
  std::string socket;  // if it is not an interface
};
// By the NIC, for hosts that somebody makes (`attach: namespace`, `attach: vm`).
using Interfaces = std::map<spec::PortName, Interface>;

struct OpenedPort {
  std::unique_ptr<OutsidePort> port;  // none: nothing outside is behind the NIC
  std::string description;            // for reports
  std::string socket;                 // a file that is to be removed when the port is closed
};

// Throws std::runtime_error with what would help. `mtu`: of the link, octets. `rate`: of the
// link, for interfaces that can show it; 0: nothing is shown.
OpenedPort open_port(const spec::PortName& name, const spec::NicSpec& nic, std::uint32_t mtu, const Interfaces& made,
                     PacketPool& pool, BitRate rate = {});

struct OpenedWire {
  std::unique_ptr<TrunkWire> wire;
  std::string description;  // for reports
  std::string socket;       // a file that is to be removed when the wire is closed
};

// Octets of an Ethernet frame, behind its header, that carries the longest frame of a link with this `mtu` over a
// trunk.
std::uint32_t whole_trunk_mtu(std::uint32_t mtu) noexcept;

// What carries the trunk `node`, whose end is to be `end`. `session`: of its life. `pool`: what frames are made of.
// Throws std::runtime_error with what would help.
OpenedWire open_wire(const spec::NodeSpec& node, const TrunkEndConfig& end, std::uint64_t session, PacketPool& pool);

}  // namespace railyard::lab
