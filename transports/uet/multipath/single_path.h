// One entropy value for the life of the PDC: what ROD needs, so that packets keep their order (uet §10.1).
#pragma once

#include "dataplane/base/time.h"
#include "transports/uet/multipath/entropy_set.h"

namespace railyard::uet {

class SinglePath {
 public:
  SinglePath() = default;
  explicit SinglePath(std::uint16_t value) noexcept : value_(value) {}

  std::uint16_t next(Instant, RngStream&) noexcept { return value_; }
  void on_feedback(Instant, std::uint16_t, PathFeedback) noexcept {}

 private:
  std::uint16_t value_ = 0;
};

}  // namespace railyard::uet
