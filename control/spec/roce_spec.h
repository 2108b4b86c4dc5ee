// What a fabric file says of built-in RoCEv2 NICs and of traffic over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "control/spec/fault_spec.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::spec {

// ---- Traffic: traffic.<n> with `transport: roce` --------------------------------------------------------------------

// kRping: the sender is a client of rping, the receiver its server; connected by rdma_cm.
enum class RoceOperation { kWrite, kSend, kRead, kRping };

// traffic.<n>.rping: as rping's options.
struct RpingTraffic {
  std::uint32_t size = 100;  // octets of a ping
  int count = 0;             // pings; 0: no end
  int port = 7174;
  int path_mtu = 1024;
  Duration retry_after{};  // 0: who is refused has failed

  bool operator==(const RpingTraffic&) const = default;
};

// Reliable or unreliable connections; rping's are reliable.
enum class RoceQpType { kRc, kUc };

struct RoceTraffic {
  RoceOperation operation = RoceOperation::kWrite;
  std::uint32_t message = 1'000'000;  // octets of a work request
  int outstanding = 4;                // work requests per QP that are posted and not complete
  int path_mtu = 4096;
  int qps = 1;                  // per flow
  std::optional<int> receives;  // SEND: receive requests per QP at the receiver; nothing: `outstanding`
  Duration repost_after{};      // SEND: how long after a message came its receive request is posted again
  RpingTraffic rping{};
  RoceQpType qp_type = RoceQpType::kRc;

  bool operator==(const RoceTraffic&) const = default;
};

// ---- NICs: hosts.<name>.roce ----------------------------------------------------------------------------------------

// What peers may connect to, by rdma_cm.
enum class RoceService { kRpingServer, kUdaddyServer, kAtomicsServer };
enum class RoceLossRecovery { kGoBackN, kSelectiveRepeat };

// DCQCN's notification point.
struct CnpSpec {
  enum class Scope { kQp, kDestinationIp, kPort };
  std::optional<Duration> interval;  // N, MIN_TIME_BETWEEN_CNPS; nothing: that of the dcqcn profile
  Scope scope = Scope::kQp;
  int dscp = 48;
  std::optional<int> priority;  // class at the NIC; nothing: what its QoS profile makes of the DSCP

  bool operator==(const CnpSpec&) const = default;
};

// Selective repeat after IRN (Mittal et al., SIGCOMM 2018): transports/roce/selective_repeat.h.
struct SelectiveRepeatSpec {
  int bdp_packets = 110;     // BDP-FC
  int window_packets = 512;  // taken beyond the first missing one
  int reorder_packets = 3;
  Duration rto_low{100'000'000};
  Duration rto_high{320'000'000};
  int rto_low_packets = 3;  // N

  bool operator==(const SelectiveRepeatSpec&) const = default;
};

// In which class acknowledgements go; nothing: in that of the data.
struct AckSpec {
  std::optional<int> dscp = {};
  std::optional<int> priority = {};  // at the NIC; nothing: what the host's QoS profile makes of the DSCP

  bool operator==(const AckSpec&) const = default;
};

struct RoceNicSpec {
  // The number of a kind (transports/roce/congestion/kinds.h); 0: none. Automatic in a lab that has been read: it has no
  // RoCE traffic.
  std::size_t congestion = roce::kAutomaticCongestion;
  roce::CongestionSettings congestion_settings{};  // of every kind
  CnpSpec cnp;
  AckSpec ack;
  RoceLossRecovery loss_recovery = RoceLossRecovery::kGoBackN;
  SelectiveRepeatSpec selective_repeat;
  int ack_timeout = 14;  // code: 4.096 us * 2^n; 0: none
  int retry_count = 7;
  int rnr_retry = 7;       // 7: without end
  int min_rnr_timer = 12;  // code of the delay that RNR NAKs ask for
  int ack_every = 64;      // packets; and the last one of each message
  int window = 0;          // packets that are sent and not acknowledged; 0: no limit but the PSNs'
  int max_reads = 16;      // READs of a QP under way
  std::vector<RoceService> services;
  int cm_response_timeout = 20;  // code: 4.096 us * 2^n until a message of connection management goes again
  int cm_retries = 15;

  template <class Kind>
  bool is_controlled_by() const noexcept {
    return congestion == roce::congestion_number<Kind>();
  }
  // The settings of a kind, chosen or not.
  template <class Kind>
  const typename Kind::Settings& settings_of() const noexcept {
    return std::get<typename Kind::Settings>(congestion_settings);
  }
  template <class Kind>
  typename Kind::Settings& settings_of() noexcept {
    return std::get<typename Kind::Settings>(congestion_settings);
  }

  // Whether its data packets carry in-band telemetry.
  bool reads_telemetry() const noexcept { return roce::reads_telemetry(congestion); }

  bool operator==(const RoceNicSpec&) const = default;
};

}  // namespace railyard::spec
