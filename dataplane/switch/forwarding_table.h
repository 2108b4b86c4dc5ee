// Where a switch sends each destination: longest prefix match to a group of next hops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/packet/fec_table.h"

namespace railyard {

// A port that leads to a destination by a longer way: for path policies that take such ways (path/valiant.h).
struct Detour {
  PortIndex port;
  std::uint8_t hops;  // to the destination's switch

  auto operator<=>(const Detour&) const = default;
};

// One route of a switch: a prefix and the ports that lead there at equal cost. No port: the switch itself.
struct Route {
  wire::IpPrefix prefix;
  std::vector<PortIndex> ports;
  std::vector<std::uint32_t> weights{};  // of the ports, all > 0, for WCMP; none: all alike
  std::vector<Detour> detours{};
  std::uint8_t hops = 0;  // to the destination's switch by `ports`, where there are detours
};

// What a class of destinations is for one switch.
struct NextHops {
  enum class Kind : std::uint8_t { kNone, kLocal, kGroup };
  std::uint32_t first = 0;  // in the table's list of members
  std::uint16_t count = 0;
  Kind kind = Kind::kNone;
  std::uint8_t detours = 0;  // members behind the `count` that are equal

  bool operator==(const NextHops&) const = default;
};

// Built once for a set of routes and replaced whole. Reading it is one load at the class's number (see fec_table.h).
class ForwardingTable {
 public:
  ForwardingTable() = default;
  // Every prefix of `routes` must be one of `fecs`. Of routes with the same prefix the last one counts.
  ForwardingTable(const FecTable& fecs, std::span<const Route> routes);

  const NextHops& lookup(Fec fec) const noexcept {
    return fec.index() < entries_.size() ? entries_[fec.index()] : none_;
  }
  PortIndex member(const NextHops& hops, std::uint32_t i) const noexcept { return members_[hops.first + i]; }
  std::uint32_t weight(const NextHops& hops, std::uint32_t i) const noexcept { return weights_[hops.first + i]; }
  // To the destination's switch; 0 where there are no detours.
  std::uint8_t length(const NextHops& hops, std::uint32_t i) const noexcept { return lengths_[hops.first + i]; }

  // Every group once; groups of the same ports with the same weights are one.
  const std::vector<NextHops>& groups() const noexcept { return groups_; }
  // Of all groups together: NextHops::first + count + detours is at most this.
  std::size_t members() const noexcept { return members_.size(); }

  bool operator==(const ForwardingTable&) const = default;

 private:
  NextHops add_group(const Route& route);

  std::vector<NextHops> entries_;  // by class
  std::vector<PortIndex> members_;
  std::vector<std::uint32_t> weights_;  // of the members
  std::vector<std::uint8_t> lengths_;   // of the ways by the members
  std::vector<NextHops> groups_;
  NextHops none_;
};

}  // namespace railyard
