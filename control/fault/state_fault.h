// A fault of the state of a device, or of its end of a link: begun and ended at the instants of its occurrences.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "control/fault/touch_count.h"
#include "dataplane/device/device.h"
#include "dataplane/fault/activity.h"

namespace railyard::fault {

// What a device does when the fault begins and when it ends; as changes of it (Device::change_at).
struct StateChange {
  std::function<void(Instant)> begin;
  std::function<void(Instant)> end;
};

// One device's share of a fault. Occurrences are scheduled one after the other by the device itself, so that a fault
// without end takes no memory; each device that the fault touches has a copy of the same activity, and so they agree.
class StateFault : public std::enable_shared_from_this<StateFault> {
 public:
  StateFault(Device& device, Activity activity, std::vector<StateChange> changes, TouchCount touches)
      : device_(device), activity_(std::move(activity)), changes_(std::move(changes)), touches_(std::move(touches)) {}

  // Only while the engine rests; Engine::wake_all() must follow. From start() on it belongs to the device, until
  // stop().
  void start() { schedule_next(); }
  // It ends at `now` if it is active, and does not begin again.
  void stop(Instant now);
  // One more occurrence, after all others: for activities that are listed. As a change of the device, or while the
  // engine rests.
  void occur(Interval interval);

  // What has happened, in order; the last one may not have ended yet. While the engine rests. The first
  // kMostOccurrences.
  static constexpr std::size_t kMostOccurrences = 1 << 16;
  const std::vector<Interval>& happened() const noexcept { return happened_; }
  std::uint64_t occurrences() const noexcept { return occurrences_; }
  // Whether the device counts what it does to frames.
  bool counts_frames() const noexcept { return !touches_.empty(); }
  // Frames of TouchCount: in each occurrence of happened(), and in all. While the engine rests.
  std::vector<std::uint64_t> touched_by_occurrence() const;
  std::uint64_t touched() const;
  bool active() const noexcept { return active_; }
  Device& device() const noexcept { return device_; }

  // What has happened: told by the process that runs its device, taken by others.
  void exchange_figures(StateArchive& archive);

 private:
  void schedule_next();
  void begin(Instant now, Instant until);
  void end(Instant now);
  std::uint64_t touched_since_it_began() const;

  Device& device_;
  Activity activity_;
  std::vector<StateChange> changes_;
  TouchCount touches_;
  std::vector<Interval> happened_;
  std::uint64_t occurrences_ = 0;
  std::vector<std::uint64_t> touched_by_;  // as happened_; of those that have ended
  std::uint64_t touched_ = 0;              // in all that have ended
  std::uint64_t touched_before_ = 0;       // what the device had counted when it began
  bool active_ = false;
  bool waiting_ = false;  // for an occurrence that is scheduled
  bool stopped_ = false;
  // By the process that runs its device.
  struct Told {
    std::vector<std::uint64_t> by_occurrence;
    std::uint64_t touched = 0;
  };
  std::optional<Told> told_;
};

}  // namespace railyard::fault
