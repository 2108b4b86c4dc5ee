// Settings of a RoCE engine.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/framing.h"
#include "dataplane/base/gap_jitter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/roce/congestion/cnp_pacing.h"
#include "transports/roce/congestion/congestion_control.h"
#include "transports/roce/wire/p_key.h"

namespace railyard::roce {

// Where ACKs, NAKs and atomic responses go.
struct AckClass {
  std::uint8_t dscp = 48;     // 0..63
  std::uint8_t priority = 6;  // at the NIC, 0..7
};

struct EngineConfig {
  std::uint32_t first_qpn = 0x11;                   // QP numbers count up from here; rxe, too, begins above 16
  std::uint32_t most_qps = 1u << 20;                // at most that many QPs at a time
  std::vector<std::uint16_t> p_keys{kDefaultPKey};  // the partition table
  std::uint32_t port_mtu = 4096;                    // the most payload of a UD message, octets
  // Requester: AckReq is set on the last packet of every message and on every n-th since the last; >= 1. rxe: 64.
  std::uint32_t ack_every = 64;
  // Requester: packets that may be sent and not acknowledged, at most 2^23 - 1; 0: as many. rxe: 128.
  std::uint32_t window_packets = 0;
  bool retry_7_is_endless = false;  // rxe takes retry_cnt 7 so; the standard means seven
  bool advertise_credits = false;   // responder: ACKs say how many receives are posted; else "no limit"
  bool enforce_credits = false;     // requester: waits for them
  CongestionConfig congestion{};    // of every RC and UC QP
  Framing framing{};                // of the port's link: for rates
  PacingConfig pacing{};            // of QPs with a rate limit
  CnpConfig cnp{};
  std::optional<AckClass> ack{};  // nothing: ACKs go in the class of the QP's data
};

}  // namespace railyard::roce
