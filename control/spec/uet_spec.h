// What a fabric file says of built-in Ultra Ethernet NICs and of traffic over them.
#pragma once

#include <cstdint>
#include <optional>

#include "control/spec/fault_spec.h"
#include "control/spec/uet_security_spec.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::spec {

// traffic.<n>.service, with `transport: uet`: the delivery mode.
enum class UetService { kRud, kRod, kRudi, kUud };

// ---- NICs: hosts.<name>.uet -----------------------------------------------------------------------------------------

enum class UetCongestion { kNone, kNscc, kRccc, kBoth };
constexpr bool has_nscc(UetCongestion c) { return c == UetCongestion::kNscc || c == UetCongestion::kBoth; }
constexpr bool has_rccc(UetCongestion c) { return c == UetCongestion::kRccc || c == UetCongestion::kBoth; }

enum class UetPathPolicy { kSingle, kOblivious, kBitmap, kReps, kMixed };
enum class UetRtoTimer { kPdc, kPacket };
enum class UetRtoBackoff { kDouble, kNone };
enum class UetProfile { kStandard, kRefProv };

// NSCC's parameters (transports/uet/congestion/nscc_config.h). What follows from a network is scaled as the reference
// does it: a = BDP / (100 Gb/s x 12 us), b = target / 12 us.
struct NsccSpec {
  std::optional<Duration> base_rtt;  // nothing: the longest way there and back between NICs of this lab's UET
  // Queueing delay; nothing: of the base RTT 3/4 with trimming, else all; but max_window - 1 if that is more.
  std::optional<Duration> target;
  std::optional<Ratio> max_window;      // BDPs; nothing: 5/2 with trimming, else 3/2. The reference's is 3/2
  std::optional<Ratio> initial_window;  // BDPs; nothing: max_window
  Ratio min_window{1, 16};              // full packets; the reference's is 1
  Ratio part_gain{1, 4};                // below a packet: of each that arrives
  Ratio alpha{4, 1};                 // proportional increase: x mtu a b / target
  Ratio fi{5, 1};                    // fair increase: x mtu a
  Ratio eta{3, 20};                  // x mtu a
  Ratio fi_scale{1, 4};              // fast increase: x a
  Ratio gamma{4, 5};
  Ratio max_md_jump{1, 2};
  int qa_gate = 3;
  Ratio qa_threshold{4, 1};  // targets
  std::optional<Duration> adjust_period;  // nothing: base RTT
  int adjust_packets = 8;                 // full ones
  Duration no_queue{1'000'000};
  Ratio delay_weight{1, 80};

  bool operator==(const NsccSpec&) const = default;
};

// RCCC's parameters (transports/uet/congestion/rccc.h, credit_pacer.h).
struct RcccSpec {
  std::optional<Duration> base_rtt;  // as of NsccSpec
  Ratio max_window{3, 2};            // BDPs
  int grant_packets = 4;             // MTUs
  Ratio rate_share{99, 100};         // of the receiver's link
  std::optional<Ratio> oversubscription;  // of the fabric: a receiver then grants less where it has no room

  bool operator==(const RcccSpec&) const = default;
};

struct UetNicSpec {
  UetProfile profile = UetProfile::kStandard;
  UetCongestion congestion = UetCongestion::kNscc;
  NsccSpec nscc;
  RcccSpec rccc;
  std::optional<bool> trimming;  // whether switches trim; nothing: whether any does in the data's class
  UetPathPolicy path_policy = UetPathPolicy::kReps;
  int paths = 256;
  int recycled = 16384;
  // Acknowledgements.
  bool ack_cc = true;
  // Nothing: the reference's 16384, and half of it while packets are missing: REPS knows of as many good paths as there
  // are ACKs.
  std::optional<std::uint32_t> ack_bytes;
  // Loss.
  Duration rto{5'000'000'000};
  UetRtoTimer rto_timer = UetRtoTimer::kPdc;
  UetRtoBackoff rto_backoff = UetRtoBackoff::kDouble;
  int retries = 5;
  std::optional<bool> loss_inference;  // nothing: unless all switches keep the data's class lossless
  bool probe = false;
  // Windows and PDCs.
  int window = 512;
  int mp_range = 512;
  int pdcs = 65'535;
  Duration idle_close{1'000'000'000};
  int rudi_window = 512;
  // Of applications and of what answers them: 24 bits. Flows and collectives have those from 1 on.
  int job_id = 0xFF'FFFF;
  bool keep_alive = true;  // NOOPs while data of READs are waited for
  // On the wire.
  bool udp = true;
  int udp_port = 4793;
  int ip_protocol = 253;
  bool crc = true;
  int control_dscp = 46;
  std::optional<int> control_priority;  // class at the NIC; nothing: what its QoS profile makes of the DSCP
  std::optional<int> trimmed_dscp;
  std::optional<int> trimmed_lasthop_dscp;
  std::optional<UetSecuritySpec> security;  // nothing: packets are not encrypted

  static UetNicSpec of(UetProfile profile);

  bool operator==(const UetNicSpec&) const = default;
};

}  // namespace railyard::spec
