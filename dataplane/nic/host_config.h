// Everything a host is told when it is made: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/scheduler.h"
#include "dataplane/nic/receive_buffer.h"
#include "dataplane/packet/fec_table.h"
#include "dataplane/device/classify.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

struct NicConfig {
  wire::MacAddress mac;
  std::optional<wire::IpAddress> address_v4;  // answers ping
  std::optional<wire::IpAddress> address_v6;
  std::uint32_t mtu = 9216;                   // longest IP packet, octets
  TrustMap trust;                             // class of what arrives, for PFC towards the fabric
  std::array<ClassScheduling, kPriorities> scheduling;  // ETS
  ReceiveConfig receive;
};

struct HostConfig {
  std::vector<NicConfig> nics;     // 1..8
  Duration latency{600'000};       // from a frame's arrival until the host may act on it
  Duration pause_response{};       // from the tail of a pause frame to its effect; 0: the standard's by rate
  std::uint16_t pause_quanta = 0xFFFF;
  bool real_payload = false;       // payload is written and verified octet by octet
  std::shared_ptr<const FecTable> fecs;
};

inline constexpr std::size_t kMaxNics = 8;

}  // namespace railyard
