// When the steps of one rank began and ended, repeat by repeat: for timelines. Kept only for those who ask for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/state_archive.h"
#include "dataplane/base/time.h"

namespace railyard {

struct StepTimes {
  // kCompute: its stream takes it up. kSend: it is posted. A receive: the message is whole here. never(): it has not.
  Instant began = Instant::never();
  Instant ended = Instant::never();
};

class StepRecord {
 public:
  // Of the first `repeats` repeats.
  StepRecord(std::size_t steps, std::uint32_t repeats) : steps_(steps), repeats_(repeats) {}

  // The most repeats of `steps` steps that fit into `most` steps; not more than `repeats`.
  static std::uint32_t fitting(std::size_t steps, std::uint32_t repeats, std::uint64_t most) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(repeats, most / std::max<std::size_t>(steps, 1)));
  }

  // Repeats are begun in their order, each once.
  void begin_repeat() {
    if (begun_ < repeats_) times_.resize(times_.size() + steps_);
    ++begun_;
  }
  // Of the repeat that was begun last.
  void begin(Instant now, std::uint32_t step) noexcept {
    if (begun_ <= repeats_) times_[(begun_ - 1) * steps_ + step].began = now;
  }
  void end(Instant now, std::uint32_t step) noexcept {
    if (begun_ <= repeats_) times_[(begun_ - 1) * steps_ + step].ended = now;
  }

  // Repeats that it has times of.
  std::size_t repeats() const noexcept { return std::min<std::size_t>(begun_, repeats_); }
  const StepTimes& at(std::size_t repeat, std::uint32_t step) const noexcept { return times_[repeat * steps_ + step]; }

  // What has been recorded, to or from another process.
  void exchange(StateArchive& archive) { archive(begun_, times_); }

 private:
  std::size_t steps_;
  std::uint32_t repeats_;
  std::size_t begun_ = 0;
  std::vector<StepTimes> times_;
};

}  // namespace railyard
