// Everything a host is told when it is made: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/shared_work.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/classify.h"
#include "dataplane/device/pfc_enable.h"
#include "dataplane/device/scheduler.h"
#include "dataplane/nic/nic_clock.h"
#include "dataplane/nic/receive_buffer.h"
#include "dataplane/packet/fec_table.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/vlan.h"

namespace railyard {

struct NicConfig {
  wire::MacAddress mac;
  std::optional<wire::IpAddress> address_v4;  // answers ping
  std::optional<wire::IpAddress> address_v6;
  std::uint32_t mtu = 9216;                             // longest IP packet, octets
  TrustMap trust;                                       // class of what arrives, for PFC towards the fabric
  std::array<ClassScheduling, kPriorities> scheduling;  // ETS
  ReceiveConfig receive;
  BitRate bus{};    // at which the endpoint's frames come over the host's bus; 0: as fast as the link
  NicClock clock;  // of its MAC; what drives the NIC is told by itself
  PfcEnable pfc{};
  // The 802.1Q tag of frames that the endpoint leaves to the NIC: its VID (0: a priority tag), or none; and the PCP by
  // class of any tag that does not say its own.
  std::optional<std::uint16_t> vid;
  std::array<std::uint8_t, kPriorities> pcp_of_class{0, 1, 2, 3, 4, 5, 6, 7};

  std::uint32_t telemetry_octets = 0;  // as SwitchConfig's

  // With tag and FCS, octets.
  std::uint32_t largest_frame() const noexcept {
    return mtu + std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets + wire::kFcsOctets} + telemetry_octets;
  }
};

// A bus that NICs share: each direction carries this rate.
struct BusConfig {
  BitRate rate;
  std::vector<PortIndex> nics;  // all with NicConfig::bus and a receive rate
};

struct HostConfig {
  std::vector<NicConfig> nics;  // 1..kMaxNics
  std::vector<BusConfig> buses;  // a NIC is in one at most
  Duration latency{600'000};    // from a frame's arrival until the host may act on it
  Duration pause_response{};    // from the tail of a pause frame to its effect; 0: the standard's by rate
  std::uint16_t pause_quanta = 0xFFFF;
  bool real_payload = false;  // payload is written and verified octet by octet
  std::shared_ptr<const FecTable> fecs;
  // Endpoints of this host may share something. They set this when by what receive() of one has done another one's
  // ready() may have changed; the host asks all again, and takes it back. Nothing: they share nothing.
  std::shared_ptr<bool> others_changed;
  // What they share with endpoints of other hosts; others_changed is set, too. Nothing: nothing.
  std::shared_ptr<SharedWork> shared;
};

inline constexpr std::size_t kMaxNics = 64;

}  // namespace railyard
