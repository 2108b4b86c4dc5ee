#include "dataplane/fault/frame_fault.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/state_archive.h"

namespace railyard {

FrameFault::FrameFault(FrameFaultConfig config, Seed seed, const std::string& drawer) : config_(std::move(config)) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    State& s = states_[lane];
    const std::string name = lane == 0 ? drawer : drawer + "/control";
    // Whether an occurrence happens is the same for both.
    s.activity = Activity(config_.when, RngStream(seed, drawer + "/when"));
    s.of_action.rng = RngStream(seed, name);
    s.current = {Instant{}, Instant{}};
  }
}

bool FrameFault::acts(Lane lane, const Packet& packet, Instant arrival) {
  State& s = states_[static_cast<std::size_t>(lane)];
  if (!config_.lanes[static_cast<std::size_t>(lane)] || arrival >= ended_) return false;
  while (s.current.end <= arrival && !s.over) {
    if (const auto next = s.activity.next()) {
      s.current = *next;
      s.matched = 0;
    } else {
      s.over = true;
    }
  }
  if (arrival < s.current.begin || arrival >= s.current.end) return false;
  if (config_.most != 0 && s.touched >= config_.most) return false;
  if (!config_.match.matches(packet)) return false;
  if (++s.matched != config_.nth && config_.nth != 0) return false;
  return config_.chance.happens(s.of_action.rng);
}

void FrameFault::touch(Lane lane) {
  State& s = states_[static_cast<std::size_t>(lane)];
  ++s.touched;
  touched_.increment();
  if (s.by_occurrence.empty() || s.by_occurrence.back().when != s.current) {
    if (s.by_occurrence.size() == kMostOccurrences) return;
    s.by_occurrence.push_back({s.current, 0});
  }
  ++s.by_occurrence.back().frames;
}

void FrameFault::occur(Interval interval) {
  for (State& s : states_) {
    s.activity.add(interval);
    s.over = false;
  }
}

std::vector<FrameFault::Touched> FrameFault::touched_by_occurrence() const {
  if (told_) return *told_;
  std::vector<Touched> all;
  for (const State& s : states_) {
    for (const Touched& t : s.by_occurrence) {
      const auto same = std::ranges::find(all, t.when, &Touched::when);
      if (same == all.end())
        all.push_back(t);
      else
        same->frames += t.frames;
    }
  }
  std::ranges::sort(all, {}, [](const Touched& t) { return t.when.begin; });
  return all;
}

void FrameFault::exchange_figures(StateArchive& archive) {
  std::vector<Touched> touched;
  if (!archive.reads()) touched = touched_by_occurrence();
  archive(touched_, touched);
  if (archive.reads()) told_ = std::move(touched);
}

}  // namespace railyard
