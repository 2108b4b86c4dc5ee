// What passes while a lab settles: when it first lost something and when that was first mended, and how much of each
// flow had arrived at every instant of a grid.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/build/built_lab.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

class TransientWatch {
 public:
  // Looks come every `every` from the first on; what is known of an instant is as coarse as that.
  TransientWatch(const build::BuiltLab& lab, Duration every);

  // Looks at a lab that rests, settled at `at`. Looks come in order of time; those that were passed over, because
  // nothing changed, count as if they had seen what the one before saw.
  void look(Instant at);

  Duration every() const noexcept { return every_; }
  // The look at which a switch had first dropped or trimmed a frame.
  std::optional<Instant> first_loss() const noexcept { return first_loss_; }
  // The first look after that at which a flow had sent a packet again.
  std::optional<Instant> first_repair() const noexcept { return first_repair_; }
  // Of payload that had arrived of flow `i` (BuiltLab::flows()), each octet once: at instants 0, every, 2 x every, ...
  const std::vector<std::uint64_t>& arrived(std::size_t i) const noexcept { return arrived_[i]; }

 private:
  void look_for_loss(Instant at);

  const build::BuiltLab& lab_;
  Duration every_;
  std::optional<Instant> first_loss_;
  std::optional<Instant> first_repair_;
  std::uint64_t again_before_ = 0;
  std::vector<std::vector<std::uint64_t>> arrived_;
};

}  // namespace railyard::telemetry
