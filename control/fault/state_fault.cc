#include "control/fault/state_fault.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "dataplane/base/state_archive.h"

namespace railyard::fault {

void StateFault::schedule_next() {
  const std::optional<Interval> next = activity_.next();
  waiting_ = next.has_value();
  if (!next) return;
  // What a change does may come after the fault itself is gone.
  device_.change_at(std::max(next->begin, device_.done()), [self = shared_from_this(), until = next->end](Instant now) {
    if (!self->stopped_) self->begin(now, until);
  });
}

void StateFault::begin(Instant now, Instant until) {
  active_ = true;
  ++occurrences_;
  if (!touches_.empty()) touched_before_ = touches_.of(device_.counters());
  if (happened_.size() < kMostOccurrences) happened_.push_back({now, Instant::never()});
  for (const StateChange& c : changes_) c.begin(now);
  if (until == Instant::never()) return;
  device_.change_at(std::max(until, now), [self = shared_from_this()](Instant at) {
    if (self->stopped_) return;
    self->end(at);
    self->schedule_next();
  });
}

void StateFault::end(Instant now) {
  active_ = false;
  const std::uint64_t frames = touched_since_it_began();
  touched_ += frames;
  if (occurrences_ == happened_.size()) {
    happened_.back().end = now;
    touched_by_.push_back(frames);
  }
  for (const StateChange& c : std::views::reverse(changes_)) c.end(now);
}

std::uint64_t StateFault::touched_since_it_began() const {
  return touches_.empty() ? 0 : touches_.of(device_.counters()) - touched_before_;
}

std::uint64_t StateFault::touched() const {
  if (told_) return told_->touched;
  return touched_ + (active_ ? touched_since_it_began() : 0);
}

std::vector<std::uint64_t> StateFault::touched_by_occurrence() const {
  if (told_) return told_->by_occurrence;
  std::vector<std::uint64_t> out = touched_by_;
  if (active_ && occurrences_ == happened_.size()) out.push_back(touched_since_it_began());
  out.resize(happened_.size());
  return out;
}

void StateFault::stop(Instant now) {
  stopped_ = true;
  if (!active_) return;
  active_ = false;
  device_.change_at(now, [self = shared_from_this()](Instant at) { self->end(at); });
}

void StateFault::exchange_figures(StateArchive& archive) {
  Told told;
  if (!archive.reads()) told = {touched_by_occurrence(), touched()};
  archive(happened_, occurrences_, active_, told.by_occurrence, told.touched);
  if (archive.reads()) told_ = std::move(told);
}

void StateFault::occur(Interval interval) {
  activity_.add(interval);
  if (!active_ && !waiting_ && !stopped_) schedule_next();
}

}  // namespace railyard::fault
