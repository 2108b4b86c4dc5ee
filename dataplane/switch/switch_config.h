// Everything a virtual switch is told when it is made: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/classify.h"
#include "dataplane/device/pfc_enable.h"
#include "dataplane/device/scheduler.h"
#include "dataplane/packet/fec_table.h"
#include "dataplane/switch/bfd.h"
#include "dataplane/switch/buffer_config.h"
#include "dataplane/switch/ecn_marking.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/switch/path/quality_reporter.h"
#include "dataplane/switch/path/selector.h"
#include "dataplane/switch/pfc_watchdog.h"
#include "dataplane/switch/trim.h"
#include "dataplane/switch/vlan.h"
#include "dataplane/switch/wred.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

enum class ForwardingMode : std::uint8_t { kStoreAndForward, kCutThrough };

// One traffic class at one port.
struct SwitchClassConfig {
  ClassBuffer buffer;
  std::optional<TrimConfig> trim;  // lossy: what happens to a frame that there is no room for; nothing: dropped
  EcnConfig ecn;
  WredConfig wred{};  // lossy
  ClassScheduling scheduling;
};

// Global load balancing with the switch at the other end of a port (path/remote_quality.h).
struct NeighbourQuality {
  bool is_told = false;                           // it listens to our reports
  std::shared_ptr<const ForwardingTable> beyond;  // what it forwards by, if we listen to its
};

struct SwitchPortConfig {
  wire::MacAddress mac;                       // of this port
  std::optional<wire::MacAddress> peer_mac;   // of what it is connected to; nothing: learnt from what arrives
  std::optional<wire::IpAddress> gateway_v4;  // our address on this link, for ARP towards an attached host
  std::optional<wire::IpAddress> gateway_v6;
  std::uint32_t mtu = 9216;  // longest IP packet, octets
  VlanMembership vlans;
  TrustMap trust;
  ClassRemap remap;  // of what leaves here, by its class so far
  PfcEnable pfc{};
  std::array<SwitchClassConfig, kPriorities> classes;
  NeighbourQuality quality;
  bool faces_hosts = false;  // what comes in may take detours; ARP and neighbour discovery are answered by proxy
  std::uint16_t bundle = 0;  // ports of one number are one link aggregation group; 0: none
  bool bfd = false;  // with a switch at the other end that has it, too
};

struct SwitchConfig {
  std::vector<SwitchPortConfig> ports;
  ForwardingMode mode = ForwardingMode::kStoreAndForward;
  Duration latency{600'000};  // MAC and pipeline, from arrival to the first effect of a frame
  Duration pause_response{};  // from the tail of a pause frame to its effect; 0: the standard's by port rate
  std::uint16_t pause_quanta = 0xFFFF;
  std::optional<PfcWatchdogConfig> pfc_watchdog;
  BufferConfig buffer;
  PathSelectorConfig paths;
  std::optional<QualityReportConfig> reports;  // to the neighbours that listen
  std::optional<BfdConfig> bfd;                // of the ports that have it
  std::optional<wire::IpAddress> loopback_v4;  // source of ICMP errors; also a local route
  std::optional<wire::IpAddress> loopback_v6;
  std::shared_ptr<const FecTable> fecs;
  std::vector<Route> routes;  // at first; the switch keeps what it makes of them
  std::optional<ForwardingTable> forwarding;  // the same, made already: in the place of `routes`
  // By so many octets frames may be longer than MTUs say, for in-band telemetry that RoCEv2 packets carry for their
  // congestion control (base/path_telemetry.h), to which the switch adds; 0: no packet of the lab carries any.
  std::uint32_t telemetry_octets = 0;
  Seed seed;
};

}  // namespace railyard
