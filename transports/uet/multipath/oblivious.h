// Packet spraying that listens to nobody: all paths in turn (uet §10.2).
#pragma once

#include "dataplane/base/time.h"
#include "transports/uet/multipath/entropy_set.h"

namespace railyard::uet {

class ObliviousPaths {
 public:
  explicit ObliviousPaths(const EntropySet& set) noexcept : set_(set) {}

  std::uint16_t next(Instant, RngStream& chance) noexcept { return set_.value(set_.walk(chance)); }
  void on_feedback(Instant, std::uint16_t, PathFeedback) noexcept {}

 private:
  EntropySet set_;
};

}  // namespace railyard::uet
