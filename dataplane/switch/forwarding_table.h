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

// Built once for a set of routes and replaced whole. Reading it is two loads by the class's number (see fec_table.h), of
// 2 octets each: a large fabric has many classes, and few groups lead to them. Classes are in the order of their
// prefixes, so most pages of them are forwarded alike: equal pages are kept once.
class ForwardingTable {
 public:
  class Builder;

  ForwardingTable() : targets_(2) {}
  // Of routes with the same prefix the last one counts. Throws std::length_error for more groups than kMostGroups.
  ForwardingTable(const FecTable& fecs, std::span<const Route> routes);

  const NextHops& lookup(Fec fec) const noexcept {
    const std::size_t i = fec.index();
    return targets_[i < classes_ ? targets_of_[page_of_[i / kPage] * kPage + i % kPage] : kNone];
  }
  PortIndex member(const NextHops& hops, std::uint32_t i) const noexcept { return members_[hops.first + i]; }
  std::uint32_t weight(const NextHops& hops, std::uint32_t i) const noexcept { return weights_[hops.first + i]; }
  // To the destination's switch; 0 where there are no detours.
  std::uint8_t length(const NextHops& hops, std::uint32_t i) const noexcept { return lengths_[hops.first + i]; }

  // Every group once; groups of the same ports with the same weights are one.
  std::span<const NextHops> groups() const noexcept { return std::span(targets_).subspan(kGroups); }
  // How many pages of classes are kept, of how many there are.
  std::size_t pages_kept() const noexcept { return targets_of_.size() / kPage; }
  std::size_t pages() const noexcept { return page_of_.size(); }
  // Of all groups together: NextHops::first + count + detours is at most this.
  std::size_t members() const noexcept { return members_.size(); }

  bool operator==(const ForwardingTable&) const = default;

 private:
  using Target = std::uint16_t;
  static constexpr Target kNone = 0;
  static constexpr Target kLocal = 1;
  static constexpr std::size_t kGroups = 2;  // the first of them

  static constexpr std::size_t kPage = 128;
  static constexpr std::size_t kMostPages = 0x10000;

  void set_targets(const std::vector<Target>& of);

  std::size_t classes_ = 0;
  std::vector<std::uint16_t> page_of_;  // by class / kPage: its place in targets_of_
  std::vector<Target> targets_of_;      // of the classes of each page
  std::vector<NextHops> targets_;  // nothing, the switch itself, and then the groups
  std::vector<PortIndex> members_;
  std::vector<std::uint32_t> weights_;  // of the members
  std::vector<std::uint8_t> lengths_;   // of the ways by the members
};

// Makes a table of which the groups are known already.
class ForwardingTable::Builder {
 public:
  using Target = ForwardingTable::Target;
  static constexpr std::size_t kMostGroups = 0xFFFF - kGroups;
  static constexpr Target kItself = kLocal;

  // `fecs` outlives it.
  explicit Builder(const FecTable& fecs);
  // A group that is not there yet; what Route says of these. Throws std::length_error for one too many.
  Target add_group(std::span<const PortIndex> ports, std::span<const std::uint32_t> weights,
                   std::span<const Detour> detours = {}, std::uint8_t hops = 0);
  // A route to what `fec` itself stands for.
  void set(Fec fec, Target target) noexcept { target_of_[fec.index()] = target; }
  // The same of a prefix, which need not be one of `fecs`.
  void set(const wire::IpPrefix& prefix, Target target);
  // Without a route of its own, a class is forwarded by that of the longest prefix that contains it.
  ForwardingTable build() &&;

 private:
  struct Other {
    wire::IpPrefix prefix;
    Target target;
  };
  std::vector<std::uint8_t> inherit();
  void apply(const Other& other, std::vector<std::uint8_t>& lengths);

  const FecTable& fecs_;
  std::vector<Target> target_of_;  // by class
  std::vector<Other> others_;  // routes whose prefix is not one of `fecs`
  ForwardingTable table_;
};

}  // namespace railyard
