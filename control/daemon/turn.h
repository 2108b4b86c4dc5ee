// Something asked of the engine that happens wholly or not at all.
#pragma once

#include <atomic>

namespace railyard::daemon {

// Who comes first, the engine to what it was asked or the one who asked to the end of his patience, decides whether it
// happens: never half.
class Turn {
 public:
  bool take() noexcept { return !taken_.exchange(true); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace railyard::daemon
