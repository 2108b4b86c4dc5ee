// What a guest is told of its network: its NICs and the names of other hosts.
//
// A guest has its addresses as single addresses (/32, /128) and reaches everybody else through its switches, which
// answer ARP and neighbour solicitations and route: no prefix is on the link. What comes from the address of a NIC
// leaves by that NIC, whatever the other end: each NIC of several has a routing table of its own, 1000 + k. For
// senders that have not chosen an address, `routes` say by which NIC. NIC k, from 1, is eth<k> in the guest, with
// rxe<k>.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/base/units.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::guest {

struct GuestNic {
  std::string socket{};  // the fabric's vhost-user socket, which the guest connects to; empty: a NIC without a link
  wire::MacAddress mac{};
  std::optional<wire::IpAddress> address_v4{};
  std::optional<wire::IpAddress> address_v6{};
  // The switch at the other end of the link. None: the other end is a host, and everybody is thought to be on the link.
  std::optional<wire::IpAddress> gateway_v4{};
  std::optional<wire::IpAddress> gateway_v6{};
  std::vector<wire::IpPrefix> routes{};  // of both families; default routes are 0.0.0.0/0 and ::/0
  int mtu = 1500;                        // longest IP packet, octets: 1280..65535
  BitRate rate{};                        // of the link, as the guest's `ethtool` shows it; 0: unknown
};

struct GuestNetwork {
  std::string hostname{};                                        // and the guest's name in messages
  std::vector<GuestNic> nics{};                                  // eth1 with rxe1, eth2 with rxe2, ...
  std::vector<std::pair<wire::IpAddress, std::string>> hosts{};  // for /etc/hosts: "h1 h1.eth1"
};

enum class IpFamily { kV4, kV6 };

// Commands for `ip -4 -batch`, which also make the NICs ready, and `ip -6 -batch`.
std::string ip_batch(const GuestNetwork& network, IpFamily family);

// Lines of /etc/hosts.
std::string hosts_text(const GuestNetwork& network);

}  // namespace railyard::guest
