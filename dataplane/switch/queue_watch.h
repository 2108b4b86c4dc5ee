// A condition on the state of an egress queue, and the instants at which it came true.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

// Belongs to its switch while the engine runs; who asked for it reads and clears `came_true` between windows.
struct QueueWatch {
  PortIndex port;
  Priority priority;
  // One of the two. What is so already when the watch begins comes true then.
  // Octets in the queue, that in transmission too: comes true when a frame makes it more than this.
  std::optional<std::uint64_t> depth_above = {};
  // How long it has been paused without a break: comes true once per pause, when it has been so for this long.
  std::optional<Duration> paused_above = {};

  std::vector<Instant> came_true = {};

  // The pause that lasts, and when it will have lasted too long; for `paused_above`.
  Instant paused_since = Instant::never();
  Instant due = Instant::never();

  // A pause frame has taken effect: the queue was paused before or not, and is now until `until`.
  void on_pause(Instant now, bool was_paused, Instant until) noexcept {
    if (until <= now) {
      paused_since = due = Instant::never();
      return;
    }
    if (!was_paused || paused_since == Instant::never()) {
      paused_since = now;
      due = Instant::never();
    } else if (due == Instant::never()) {
      // It has come true already, or will later than it was clear that the pause lasts.
      if (paused_since + *paused_above < now) return;
    }
    due = paused_since + *paused_above < until ? paused_since + *paused_above : Instant::never();
  }
};

}  // namespace railyard
