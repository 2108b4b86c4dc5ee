// Faults as plain data: where, when, which frames, what.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/ratio.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::spec {

// A ratio of two whole numbers, reduced.
using railyard::Ratio;

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

}  // namespace railyard::spec

namespace railyard::fault {
// Of control/fault, which builds faults (fault/frame_stage.h, fault/state_changes.h); this room only names them.
struct FrameStage;
class StateChanges;
}  // namespace railyard::fault

namespace railyard::spec {

struct FaultKind;

// What goes wrong: a struct for each kind, with its parameters and two functions.
//
//   kind()    describes it: name, keys, where it may be, how it is drawn (faults/fault_kind.h); in faults/.
//   stage()   of a kind that acts on frames: what a link does to them. `alone`: to some frames, not to the whole link.
//   change()  of a kind that acts on states: what the devices at one of its places do.
//
// One of these two builds it, in control/fault/kinds/. A kind becomes known by its place in FaultAction.
namespace fault {
using Stage = railyard::fault::FrameStage;
using Changes = railyard::fault::StateChanges;

// ---- Links ----
struct Down {
  bool operator==(const Down&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
// Down and up in turn.
struct Flap {
  Duration down{};
  Duration up{};

  bool operator==(const Flap&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
// This share of its rate.
struct Rate {
  Ratio share;

  bool operator==(const Rate&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
// Frames take longer.
struct Delay {
  Duration time{};
  Duration jitter{};     // up to so much more or less than `time`, uniform; below 0 counts as 0
  Duration jitter_up{};  // up to so much more, uniform; in the place of `jitter`
  bool in_order = true;  // no frame overtakes another

  bool operator==(const Delay&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
// Each frame with this probability.
struct Loss {
  Ratio share;

  bool operator==(const Loss&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
// Gilbert-Elliott.
struct BurstLoss {
  Ratio good_to_bad;
  Ratio bad_to_good;
  Ratio in_good;
  Ratio in_bad{1, 1};

  bool operator==(const BurstLoss&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct BitErrorRate {
  Ratio rate;

  bool operator==(const BitErrorRate&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct Corrupt {
  bool operator==(const Corrupt&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct Duplicate {
  bool operator==(const Duplicate&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct Drop {
  bool operator==(const Drop&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct Mark {
  bool operator==(const Mark&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct LosePause {
  bool operator==(const LosePause&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct Reorder {
  int behind = 1;
  Duration within{};

  bool operator==(const Reorder&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct Truncate {
  std::uint32_t octets = 64;

  bool operator==(const Truncate&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
struct TrimPackets {
  std::uint32_t keep = 128;
  int dscp = 0;

  bool operator==(const TrimPackets&) const = default;
  static FaultKind kind();
  Stage stage(bool alone) const;
};
// ---- Ports ----
struct PfcStorm {
  std::vector<int> classes;

  bool operator==(const PfcStorm&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
struct IgnorePause {
  bool operator==(const IgnorePause&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
struct Mtu {
  int octets = 1500;

  bool operator==(const Mtu&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
// ---- Switches, their ports and queues ----
struct DscpMap {
  std::map<int, int> to_class;

  bool operator==(const DscpMap&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
struct EcnThresholds {
  Bytes kmin{};
  Bytes kmax{};
  std::uint32_t pmax_ppm = 1'000'000;

  bool operator==(const EcnThresholds&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
struct BufferTaken {
  Bytes size;

  bool operator==(const BufferTaken&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
struct Crash {
  bool operator==(const Crash&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
struct Drained {
  bool operator==(const Drained&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
// ---- Hosts, and their NICs ----
struct StopReceiving {
  bool operator==(const StopReceiving&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
struct SlowReceiver {
  BitRate rate;

  bool operator==(const SlowReceiver&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
// Sends at this share of its speed.
struct Straggle {
  Ratio share;

  bool operator==(const Straggle&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
// Its clock is ahead of, or behind, all others, and gains or loses this share of the time that passes.
struct Skew {
  Duration ahead{};
  Duration behind{};
  Ratio fast{};
  Ratio slow{};

  bool operator==(const Skew&) const = default;
  static FaultKind kind();
  void change(Changes& changes, const FaultPlace& at) const;
};
}  // namespace fault

// One line per kind. Its place in this list is known to nobody.
using FaultAction = std::variant<std::monostate,  //
                                 fault::Down,
                                 fault::Flap,
                                 fault::Rate,
                                 fault::Delay,
                                 fault::Loss,
                                 fault::BurstLoss,
                                 fault::BitErrorRate,
                                 fault::Corrupt,
                                 fault::Duplicate,
                                 fault::Drop,
                                 fault::Mark,
                                 fault::LosePause,
                                 fault::Reorder,
                                 fault::Truncate,
                                 fault::TrimPackets,
                                 fault::PfcStorm,
                                 fault::IgnorePause,
                                 fault::Mtu,
                                 fault::DscpMap,
                                 fault::EcnThresholds,
                                 fault::BufferTaken,
                                 fault::Crash,
                                 fault::Drained,
                                 fault::StopReceiving,
                                 fault::SlowReceiver,
                                 fault::Straggle,
                                 fault::Skew>;

// The key of the file that says it: "loss", "pfc-storm".
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
