// What a fabric file says of classes of traffic: trust, buffers, pauses and credits, ECN, trimming, paths, scheduling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/switch/path/path_config.h"

namespace railyard::spec {

enum class Trust { kDscp, kPcp };

struct Ecn {
  bool enabled = false;
  bool auto_thresholds = false;  // kmin and kmax by the rate of the port, as automatic_kmin() and _kmax() say
  Bytes kmin{};
  Bytes kmax{};
  std::uint32_t pmax_ppm = 200'000;  // marking probability at kmax, in parts per million
  bool at_dequeue = false;           // mark: enqueue | dequeue
  bool drop_not_ect = false;         // lossy classes: WRED drops Not-ECT frames
  std::optional<bool> last_hop;      // ports towards hosts mark; nothing: as last_hop_marks.h says

  bool operator==(const Ecn&) const = default;
};

// Early drops by the depth of a queue: none up to `min`, the probability at `max`, all above.
struct WredRamp {
  Bytes min{};
  Bytes max{};
  std::uint32_t probability_ppm = 100'000;

  bool operator==(const WredRamp&) const = default;
};

// Early drops of a lossy class (dataplane/switch/wred.h).
struct Wred {
  std::optional<WredRamp> all;      // of every packet for which there is none of its own below
  std::optional<WredRamp> ect;      // ECN-capable packets
  std::optional<WredRamp> not_ect;  // others

  bool any() const noexcept { return all || ect || not_ect; }
  bool operator==(const Wred&) const = default;
};

// The usual rule of thumb: 4 KB and 16 KB per Gb/s, that is 32 and 128 microseconds of queue.
constexpr Bytes automatic_kmin(BitRate rate) noexcept { return {rate.bps / 250'000}; }
constexpr Bytes automatic_kmax(BitRate rate) noexcept { return {rate.bps / 62'500}; }

// How one of several equal next hops is chosen: as the switch knows it (dataplane/switch/path/policies.h).
using railyard::PathPolicy;
using PathSpec = PathConfig;

// What becomes of a frame that there is no room for, instead of being dropped.
struct Trim {
  std::uint32_t keep = 128;  // octets from the Ethernet header on, without FCS
  int dscp = 0;              // of what is left
  int to_class = 0;          // whose queue it goes to
  std::optional<int> last_hop_dscp = {};  // of what is left at a port with a host behind it; nothing: the same
  bool coin = false;  // the arriving frame or the last one of the queue, with even chances; false: the arriving one

  bool operator==(const Trim&) const = default;
};

// Credit-based flow control: dataplane/device/credit_config.h.
struct CbfcSpec {
  std::optional<Bytes> credits;  // per port; nothing: computed from the link
  std::optional<Bytes> update;   // nothing: a frame
  Duration sync{100'000'000};

  bool operator==(const CbfcSpec&) const = default;
};

// For which direction PFC is enabled (IEEE 802.1Q clause 36: per port and priority). kAuto: the next wider place
// decides, and in the end whether the class is lossless.
enum class PfcMode { kAuto, kOn, kOff, kRx, kTx };

// What of a class is another at some ports: at those of one rate, or at one port. What is absent stays.
struct ClassOverride {
  PfcMode pfc = PfcMode::kAuto;
  std::optional<int> alpha_exponent;
  std::optional<Bytes> xoff;
  std::optional<Bytes> xon_offset;
  std::optional<Bytes> headroom;
  std::optional<int> remap_to;  // of frames that leave by the port

  bool operator==(const ClassOverride&) const = default;
};

// One traffic class, at every port of the switches that use the profile.
struct TrafficClass {
  bool lossless = false;
  PfcMode pfc = PfcMode::kAuto;   // auto: on where it is lossless
  std::optional<CbfcSpec> cbfc;   // lossless: the sender has credits in the place of being paused
  Bytes reserved{};               // guaranteed to the ingress priority group
  int alpha_exponent = 0;         // of the ingress group: 2^n; in a file "1/8", "2"
  std::optional<Bytes> xoff;      // a fixed limit in the place of alpha
  std::optional<Bytes> headroom;  // nothing: computed from the link
  Bytes xon_offset{18432};
  Bytes queue_reserved{};
  int queue_alpha_exponent = 0;  // lossy: of the egress queue
  std::optional<Bytes> queue_limit;  // lossy: a fixed limit in the place of queue_alpha_exponent
  bool accept_loss = false;      // less headroom than computed is meant
  bool accept_deadlock = false;  // lossless: buffers that wait for each other in a circle are meant
  std::map<BitRate, ClassOverride> by_rate;  // at ports whose link has the rate
  std::optional<Trim> trim;      // lossy
  Ecn ecn;
  Wred drop;  // lossy
  bool strict = false;
  int weight = 1;  // DWRR, 1..1000
  PathSpec path;
  int remap_to = -1;               // class that frames leave in; -1: the same
  std::uint32_t least_frame = 64;  // shortest frame expected in it, octets with FCS: what headroom in cells rests on

  bool operator==(const TrafficClass&) const = default;
};

struct QosProfile {
  Trust trust = Trust::kDscp;
  std::array<int, 64> dscp_to_class = [] {
    std::array<int, 64> shifted{};
    for (int dscp = 0; dscp < 64; ++dscp) shifted[static_cast<std::size_t>(dscp)] = dscp >> 3;
    return shifted;
  }();
  std::array<int, 8> pcp_to_class{0, 1, 2, 3, 4, 5, 6, 7};
  int default_class = 0;
  std::array<TrafficClass, kPriorities> classes;

  // The class of IP frames without 802.1Q tag, as built-in NICs send them.
  int class_of_untagged(int dscp) const noexcept {
    return trust == Trust::kDscp ? dscp_to_class[static_cast<std::size_t>(dscp)] : default_class;
  }

  bool operator==(const QosProfile&) const = default;
};

}  // namespace railyard::spec
