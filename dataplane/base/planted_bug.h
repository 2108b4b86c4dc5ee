// Bugs on purpose, to see whether they are found (tests/swarm/). A build has them only with -DRAILYARD_PLANTED_BUGS=ON,
// and then none happens before `planted_bug` says so; in any other build planted() is false when compiled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace railyard {

enum class PlantedBug : std::uint8_t {
  kNone,
  kEarlyCellRelease,     // the cells of a frame are free again when its transmission begins
  kLostXon,              // a group that has drained does not say so
  kMarkNotEct,           // Not-ECT frames get CE
  kStaleRoute,           // routes by a port whose link is up again still lose everything
  kDoubleFree,           // a duplicate is freed while it is on its way
  kPauseIgnored,         // a paused class goes on sending
  kPauseNeverExpires,    // a port does not come back to a class whose pause has run out
  kDuplicateNotCounted,  // a frame from nowhere
  kPacketLeak,           // a frame with a wrong FCS is counted and not freed
  kHeadroomPoolLeak,     // what a group had of the headroom pool is not given back
  kUnstableHash,         // the hash of a flow depends on the packet
  kCarveOutStays,        // memory that a fault took is not given back
  kStaleQualityReport,   // what a neighbour reported outlives the link to it
  kIntOtherQueue,        // in-band telemetry notes the depth of the port's first queue, whichever the packet is in
  kIntLostRecord,        // of frames that arrive together, the first only gets its hop noted
  kLostWithdrawal,       // a switch does not hear that its neighbour has lost its way
  kStaleNextHop,         // a way that routing has given up stays in the switch's table
  kBfdNeverFires,        // a session stays up however long nothing is heard
  kNoClassChange,        // frames cross a date line in the class that they are in
  kBusForgetsWaiting,    // an uplink that NICs share is free again, and those whose frames wait for it do not hear of it
  kGrantNeverAskedFor,   // a UET sender whose grant was lost waits for credit for ever
  kReducerForgetsEarly,  // what comes to a reducer before its repeat begins is not added
  kCount
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(PlantedBug::kCount)> kPlantedBugNames = {
    "none",
    "early-cell-release",
    "lost-xon",
    "mark-not-ect",
    "stale-route",
    "double-free",
    "pause-ignored",
    "pause-never-expires",
    "duplicate-not-counted",
    "packet-leak",
    "headroom-pool-leak",
    "unstable-hash",
    "carve-out-stays",
    "stale-quality-report",
    "int-other-queue",
    "int-lost-record",
    "lost-withdrawal",
    "stale-next-hop",
    "bfd-never-fires",
    "no-class-change",
    "bus-forgets-waiting",
    "grant-never-asked-for",
    "reducer-forgets-early",
};

constexpr std::optional<PlantedBug> planted_bug_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kPlantedBugNames.size(); ++i)
    if (kPlantedBugNames[i] == name) return static_cast<PlantedBug>(i);
  return std::nullopt;
}

#ifdef RAILYARD_PLANTED_BUGS
inline constexpr bool kHasPlantedBugs = true;
inline PlantedBug planted_bug = PlantedBug::kNone;  // of this process; set before anything runs
inline bool planted(PlantedBug bug) noexcept { return planted_bug == bug; }
#else
inline constexpr bool kHasPlantedBugs = false;
constexpr bool planted(PlantedBug) noexcept { return false; }
#endif

}  // namespace railyard
