#include "control/telemetry/deadlock.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace railyard::telemetry {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

// For each queue that has been paused long enough one that it waits for and that has been, too, so that a way along
// these never ends; kNone for all others.
std::vector<std::size_t> endless(const PauseGraph& graph, Duration least) {
  std::vector<bool> stays(graph.paused.size());
  for (std::size_t i = 0; i < stays.size(); ++i) stays[i] = graph.at - graph.paused[i].since >= least;
  std::vector<std::size_t> next(stays.size(), kNone);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < stays.size(); ++i) {
      if (!stays[i]) continue;
      const auto& to = graph.paused[i].waits_for;
      const auto found = std::ranges::find_if(to, [&](std::size_t j) { return stays[j]; });
      next[i] = found == to.end() ? kNone : *found;
      if (next[i] != kNone) continue;
      stays[i] = false;
      changed = true;
    }
  }
  return next;
}

}  // namespace

std::vector<Deadlock> find_deadlocks(const PauseGraph& graph, Duration least) {
  const std::vector<std::size_t> next = endless(graph, least);
  std::vector<Deadlock> found;
  std::vector<std::size_t> walk_of(next.size(), kNone);  // which walk came by first
  for (std::size_t begin = 0; begin < next.size(); ++begin) {
    std::size_t i = begin;
    for (; i != kNone && walk_of[i] == kNone; i = next[i]) walk_of[i] = begin;
    if (i == kNone || walk_of[i] != begin) continue;
    Deadlock deadlock{};
    for (std::size_t j = i; deadlock.ring.empty() || j != i; j = next[j]) {
      deadlock.ring.push_back(graph.paused[j].queue);
      deadlock.since = std::max(deadlock.since, graph.paused[j].since);
    }
    std::ranges::rotate(deadlock.ring, std::ranges::min_element(deadlock.ring));
    found.push_back(std::move(deadlock));
  }
  return found;
}

void DeadlockWatch::look(const build::BuiltLab& lab, const PauseGraph& graph) {
  std::vector<Seen> now;
  for (const Deadlock& d : find_deadlocks(graph, least_)) {
    Seen& s = now.emplace_back();
    s.since = d.since;
    s.seen = graph.at;
    for (const PortClass& q : d.ring) s.ring.push_back(format(lab, q));
  }
  const auto same = [](const Seen& a, const Seen& b) { return a.ring == b.ring && a.since == b.since; };
  for (Seen& before : seen_)
    if (!before.resolved && std::ranges::none_of(now, [&](const Seen& s) { return same(s, before); }))
      before.resolved = graph.at;
  for (Seen& s : now)
    if (std::ranges::none_of(seen_, [&](const Seen& before) { return !before.resolved && same(before, s); }))
      seen_.push_back(std::move(s));
}

}  // namespace railyard::telemetry
