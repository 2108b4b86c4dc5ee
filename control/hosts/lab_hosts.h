// What is to be known of a lab to make network namespaces of its hosts: plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/framing.h"
#include "dataplane/base/units.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::hosts {

// What a NIC's link leads to.
struct Neighbour {
  // A switch routes and so is the gateway to everything else. A host, linked back to back, is reached and no more.
  bool is_switch = true;
  wire::MacAddress mac;
  std::optional<wire::IpAddress> address_v4;  // of a switch: its loopback
  std::optional<wire::IpAddress> address_v6;
};

struct HostNic {
  std::string interface;  // its name in the namespace
  wire::MacAddress mac;
  std::optional<wire::IpAddress> address_v4;
  std::optional<wire::IpAddress>
      address_v6;                      // left out if the MTU is below 1280 (RFC 8200 §5) or the kernel has no IPv6
  int mtu = 9216;                      // longest IP packet, octets, 68..65535
  BitRate rate;                        // of the link, per second of wall time; 0: not shaped
  Framing framing{};                   // of the link
  std::optional<Neighbour> neighbour;  // nothing: not linked
};

struct NamespaceHost {
  std::string name;
  std::vector<HostNic> nics;
  std::size_t first_nic = 0;  // how many NICs the lab's hosts before it have, whatever these are
};

// An address of the lab that is not in one of its namespaces: of a virtual machine, a built-in host, a switch.
struct OtherAddress {
  std::string name;  // of the host or switch
  int port = 0;      // of the NIC, from 1; 0: a switch's loopback
  std::optional<wire::IpAddress> address_v4;
  std::optional<wire::IpAddress> address_v6;
  std::string interface{};  // of the NIC, as its host calls it
};

struct LabHosts {
  std::string name;  // of the lab
  std::vector<NamespaceHost> hosts;
  std::vector<OtherAddress> others;
};

}  // namespace railyard::hosts
