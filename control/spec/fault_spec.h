// Faults as plain data: where, when, which frames, what.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::spec {

// A ratio of two whole numbers, reduced.
struct Ratio {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  bool operator==(const Ratio&) const = default;
};

// "leaf1", "spine*:2", "leaf1:3 out", "leaf1:3/5", "rail 2": nodes, ports, links, directions, queues, by where they
// are.
struct FaultPlace {
  enum class Direction { kBoth, kIn, kOut };  // as the node sees it

  std::string node;        // '*' and '?' as in selectors (select.h)
  int port = 0;            // from 1; 0: all
  int traffic_class = -1;  // -1: all
  Direction direction = Direction::kBoth;
  bool is_rail = false;  // NIC `port` of every host

  bool operator==(const FaultPlace&) const = default;
};

// What goes wrong. "Of a link" acts on all links of the places, in the directions said; the others on the devices,
// ports or queues that they name.
namespace fault {
struct Down {
  bool operator==(const Down&) const = default;
};             // of a link
struct Flap {  // of a link: down and up in turn
  Duration down{};
  Duration up{};
  bool operator==(const Flap&) const = default;
};
struct Rate {  // of a link: this share of its rate
  Ratio share;
  bool operator==(const Rate&) const = default;
};
struct Delay {  // of a link: so much longer, and up to `jitter` more
  Duration time{};
  Duration jitter{};
  bool operator==(const Delay&) const = default;
};
struct Loss {  // of a link: each frame with this probability
  Ratio share;
  bool operator==(const Loss&) const = default;
};
struct BurstLoss {  // of a link: Gilbert-Elliott
  Ratio good_to_bad;
  Ratio bad_to_good;
  Ratio in_good;
  Ratio in_bad{1, 1};
  bool operator==(const BurstLoss&) const = default;
};
struct BitErrorRate {  // of a link
  Ratio rate;
  bool operator==(const BitErrorRate&) const = default;
};
// Of a link: what is done to the frames that are meant.
struct Corrupt {
  bool operator==(const Corrupt&) const = default;
};
struct Duplicate {
  bool operator==(const Duplicate&) const = default;
};
struct Drop {
  bool operator==(const Drop&) const = default;
};
struct Mark {
  bool operator==(const Mark&) const = default;
};
struct LosePause {
  bool operator==(const LosePause&) const = default;
};
struct Reorder {
  int behind = 1;
  Duration within{};
  bool operator==(const Reorder&) const = default;
};
struct Truncate {
  std::uint32_t octets = 64;
  bool operator==(const Truncate&) const = default;
};
struct TrimPackets {
  std::uint32_t keep = 128;
  int dscp = 0;
  bool operator==(const TrimPackets&) const = default;
};
// Of ports.
struct PfcStorm {
  std::vector<int> classes;
  bool operator==(const PfcStorm&) const = default;
};
struct IgnorePause {
  bool operator==(const IgnorePause&) const = default;
};
struct Mtu {
  int octets = 1500;
  bool operator==(const Mtu&) const = default;
};
// Of switches, or their ports.
struct DscpMap {
  std::map<int, int> to_class;
  bool operator==(const DscpMap&) const = default;
};
struct EcnThresholds {
  Bytes kmin{};
  Bytes kmax{};
  std::uint32_t pmax_ppm = 1'000'000;
  bool operator==(const EcnThresholds&) const = default;
};
struct BufferTaken {
  Bytes size;
  bool operator==(const BufferTaken&) const = default;
};
struct Crash {
  bool operator==(const Crash&) const = default;
};
// Of hosts, or their NICs.
struct StopReceiving {
  bool operator==(const StopReceiving&) const = default;
};
struct SlowReceiver {
  BitRate rate;
  bool operator==(const SlowReceiver&) const = default;
};
struct Straggle {  // sends at this share of its speed
  Ratio share;
  bool operator==(const Straggle&) const = default;
};
struct Skew {  // its clock is ahead of, or behind, everybody's, and gains or loses so much of the time that goes by
  Duration ahead{};
  Duration behind{};
  Ratio fast{};
  Ratio slow{};
  bool operator==(const Skew&) const = default;
};
}  // namespace fault

using FaultAction =
    std::variant<std::monostate, fault::Down, fault::Flap, fault::Rate, fault::Delay, fault::Loss, fault::BurstLoss,
                 fault::BitErrorRate, fault::Corrupt, fault::Duplicate, fault::Drop, fault::Mark, fault::LosePause,
                 fault::Reorder, fault::Truncate, fault::TrimPackets, fault::PfcStorm, fault::IgnorePause, fault::Mtu,
                 fault::DscpMap, fault::EcnThresholds, fault::BufferTaken, fault::Crash, fault::StopReceiving,
                 fault::SlowReceiver, fault::Straggle, fault::Skew>;

// The key that says it: "loss", "pfc-storm".
std::string word(const FaultAction& action);

// One thing that a frame must be: a header field (wire/header_field.h), `size`, or `flow`; as written.
struct MatchTerm {
  std::string field;
  std::string value;

  bool operator==(const MatchTerm&) const = default;
};

// "queue leaf1:3/3 depth > 200KiB", "queue leaf1:3/3 paused > 1ms": a state of an egress queue.
struct FaultTrigger {
  std::string node;
  int port = 0;  // from 1
  int traffic_class = 0;
  std::optional<Bytes> depth_above = {};
  std::optional<Duration> paused_above = {};  // without a break

  bool operator==(const FaultTrigger&) const = default;
};

struct FaultSpec {
  std::string name;
  std::vector<FaultPlace> on;
  FaultAction action;
  std::optional<Duration> at;     // since the run began
  std::optional<Duration> after;  // since the fault was there: added live, or the run began
  std::optional<Duration> every;
  std::optional<Duration> lasts;  // `for`
  std::uint64_t count = 0;        // with `every`: occurrences; else frames. 0: no end
  std::optional<Ratio> probability;
  std::vector<MatchTerm> match;
  std::uint64_t nth = 0;             // of those that match; 0: all
  std::optional<FaultTrigger> when;  // begins each time this comes true; `after` counts from then

  bool operator==(const FaultSpec&) const = default;
};

// Gives those without a name one: the key of what they do, and a number.
void name_faults(std::vector<FaultSpec>& faults);

// Whether it acts on frames that pass a link; else on the state of links and devices.
bool acts_on_frames(const FaultAction& action) noexcept;

}  // namespace railyard::spec
