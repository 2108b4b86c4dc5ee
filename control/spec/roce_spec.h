// What a fabric file says of built-in RoCEv2 NICs and of traffic over them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/spec/fault_spec.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

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

enum class RoceCongestion { kNone, kDcqcn, kSwift };
// What peers may connect to, by rdma_cm.
enum class RoceService { kRpingServer, kUdaddyServer, kAtomicsServer };
enum class RoceLossRecovery { kGoBackN, kSelectiveRepeat };

// DCQCN's reaction point. Letters are those of Zhu et al., SIGCOMM 2015; capitals the names of NVIDIA's firmware.
struct DcqcnSpec {
  enum class Profile { kPaper, kVendor };  // what all the rest begins as
  Profile profile = Profile::kPaper;
  bool cut_at_once = true;           // on a CNP; else at the end of a rate_reduce_monitor_period with one
  Duration dce_tcp_rtt{55'000'000};  // K: alpha is updated so often
  Duration rate_reduce_monitor_period{4'000'000};
  Duration rpg_time_reset{55'000'000};  // T
  Bytes rpg_byte_reset{10'000'000};     // B; 0: no byte counter
  int rpg_threshold = 5;                // F
  Ratio g{1, 256};                      // (1024 - DCE_TCP_G) / 1024
  Ratio initial_alpha{1, 1};
  int alpha_steps = 0;  // alpha is kept in so many steps; 0: exactly
  BitRate rpg_ai_rate{40'000'000};
  BitRate rpg_hai_rate{400'000'000};
  BitRate rpg_min_rate{40'000'000};
  BitRate rpg_max_rate{};                     // 0: the link's
  Ratio rpg_min_dec_fac{1, 2};                // periodic cuts: one leaves at least this part
  bool clamp_tgt_rate = false;                // periodic cuts: each sets the target to the rate before it, ...
  bool clamp_tgt_rate_after_time_inc = true;  // ... or those with an increase since the last do
  BitRate rate_to_set_on_first_cnp{};         // periodic cuts; 0: as it is

  static DcqcnSpec of(Profile profile);

  bool operator==(const DcqcnSpec&) const = default;
};

// DCQCN's notification point.
struct CnpSpec {
  enum class Scope { kQp, kDestinationIp, kPort };
  std::optional<Duration> interval;  // N, MIN_TIME_BETWEEN_CNPS; nothing: that of the dcqcn profile
  Scope scope = Scope::kQp;
  int dscp = 48;
  std::optional<int> priority;  // class at the NIC; nothing: what its QoS profile makes of the DSCP

  bool operator==(const CnpSpec&) const = default;
};

// Swift (Kumar et al., SIGCOMM 2020): the names of its Algorithm 1.
struct SwiftSpec {
  Duration base_target{25'000'000};
  Duration hop_scale{};
  int hops = 0;
  Duration fs_range{50'000'000};
  Ratio fs_min_cwnd{1, 10};  // packets, as all windows
  int fs_max_cwnd = 100;
  Ratio ai{1, 1};
  Ratio beta{4, 5};
  Ratio max_mdf{1, 2};
  Ratio min_cwnd{1, 1000};
  int max_cwnd = 1000;
  int initial_cwnd = 100;
  int retx_reset_threshold = 4;

  bool operator==(const SwiftSpec&) const = default;
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
  RoceCongestion congestion = RoceCongestion::kNone;
  DcqcnSpec dcqcn;
  SwiftSpec swift;
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

  bool operator==(const RoceNicSpec&) const = default;
};

}  // namespace railyard::spec
