// Several taps on one port.
#pragma once

#include <array>
#include <cstddef>

#include "dataplane/device/tap.h"

namespace railyard {

// Changed only while the engine rests.
class TapList final : public Tap {
 public:
  static constexpr std::size_t kMost = 16;

  // At most kMost.
  void add(Tap* tap) noexcept { taps_[count_++] = tap; }
  // Does nothing if it is not there.
  void remove(const Tap* tap) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i)
      if (taps_[i] != tap) taps_[kept++] = taps_[i];
    count_ = kept;
  }
  bool empty() const noexcept { return count_ == 0; }

  void see(Instant at, const Packet& packet, const TapNote& note) override {
    for (std::size_t i = 0; i < count_; ++i) taps_[i]->see(at, packet, note);
  }

 private:
  std::array<Tap*, kMost> taps_{};
  std::size_t count_ = 0;
};

}  // namespace railyard
