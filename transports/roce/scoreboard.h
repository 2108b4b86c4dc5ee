// What a requester with selective repeat (selective_repeat.h) knows of its packets in flight.
#pragma once

#include <cstdint>

#include "transports/roce/psn_bitmap.h"
#include "transports/roce/selective_repeat.h"

namespace railyard::roce {

struct Scoreboard {
  explicit Scoreboard(const SelectiveRepeatConfig& c) : config(c), window(c.window()), arrived(window), again(window) {}

  // Begins at `psn`, nothing known.
  void start(Psn psn) noexcept {
    arrived.clear_all();
    again.clear_all();
    cumulative = arrived_end = answered_end = forced_end = recovery_end = psn;
    timed_out = false;
    lost_psns = 0;
  }

  // Of requests: all before `end` are there.
  void note_cumulative(Psn end) noexcept {
    if (end - cumulative > 0) cumulative = end;
    if (end - arrived_end > 0) arrived_end = end;
  }
  void note_arrived(Psn psn) noexcept {
    if (psn + 1 - arrived_end > 0) arrived_end = psn + 1;
  }
  // Of responses, which are sent in order: those before `end` have been.
  void note_answered(Psn end) noexcept {
    if (end - answered_end > 0) answered_end = end;
  }

  // One that has not arrived, and enough behind it has.
  bool request_lost(Psn psn) const noexcept { return beyond(arrived_end, psn); }
  bool response_lost(Psn psn) const noexcept { return beyond(answered_end, psn); }
  bool forced(Psn psn) const noexcept { return psn - forced_end < 0; }

  const SelectiveRepeatConfig config;
  const std::uint32_t window;
  PsnBitmap arrived;  // SEND, WRITE: selectively acknowledged; READ, atomic: its response is here
  PsnBitmap again;    // sent again since the last timeout
  Psn cumulative{};   // the responder has executed everything before
  Psn arrived_end{};  // behind the newest request that has arrived
  Psn answered_end{};
  Psn forced_end{};  // what has not arrived before here goes again in any case: after a timeout or an RNR delay
  bool timed_out = false;
  Psn recovery_end{};  // timed_out: what had been sent
  // What goes again next; lost_psns 0: nothing. Of a READ the responses from `lost` on.
  Psn lost{};
  std::uint32_t lost_psns = 0;

 private:
  bool beyond(Psn end, Psn psn) const noexcept { return end - psn > static_cast<std::int32_t>(config.reorder_packets); }
};

}  // namespace railyard::roce
