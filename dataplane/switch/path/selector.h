// The seam for path selection: which of the equal next hops a packet takes, by traffic class.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/base/ids.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/switch/path/ecmp.h"
#include "dataplane/switch/path/spray.h"

namespace railyard {

// A policy is a file in this folder, an enumerator here, and a case in choose().
enum class PathPolicy : std::uint8_t { kEcmp, kSpray };

class PathSelector {
 public:
  PathSelector() = default;
  PathSelector(Ecmp ecmp, Spray spray, std::array<PathPolicy, kPriorities> by_class) noexcept
      : ecmp_(ecmp), spray_(std::move(spray)), by_class_(by_class) {}

  // For packets from now on. Groups that are sprayed go on in turn.
  void set(Ecmp ecmp, std::array<PathPolicy, kPriorities> by_class) noexcept {
    ecmp_ = ecmp;
    by_class_ = by_class;
  }

  // An index into `hops` (count > 0).
  std::uint32_t choose(const NextHops& hops, const Packet& packet, PortIndex in, Priority priority) {
    if (hops.count == 1) return 0;
    switch (by_class_[priority.index()]) {
      case PathPolicy::kEcmp: return ecmp_.choose(packet, in, hops.count);
      case PathPolicy::kSpray:
        // One turn per group and class: groups never share their first member's place.
        return spray_.choose(static_cast<std::uint32_t>(hops.first * kPriorities + priority.index()), hops.count);
    }
    __builtin_unreachable();
  }

  // The same for what the switch makes itself: always by hash. It is made later than the frames that arrived with its
  // cause were decided about, and must not take one of their turns.
  std::uint32_t choose_for_own(const NextHops& hops, const Packet& packet, PortIndex self) const noexcept {
    return ecmp_.choose(packet, self, hops.count);
  }

 private:
  Ecmp ecmp_;
  Spray spray_;
  std::array<PathPolicy, kPriorities> by_class_{};
};

}  // namespace railyard
