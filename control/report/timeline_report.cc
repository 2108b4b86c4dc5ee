#include "control/report/timeline_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/units.h"
#include "control/timeline/critical_path.h"
#include "control/timeline/timeline.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::report {
namespace {

using timeline::Interval;
using timeline::RankTimes;
using timeline::RepeatTimes;
using timeline::Timeline;
using timeline::Waiting;

std::vector<Interval> idle_of(const RankTimes& times) {
  std::vector<Interval> all;
  for (const Waiting& w : times.waiting) all.push_back(w.when);
  return all;
}

double share(std::int64_t part, std::int64_t all) { return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0; }

// Shares from sums in picoseconds.
struct Sums {
  std::int64_t compute = 0, exposed = 0, idle = 0;

  void add(const Sums& o) {
    compute += o.compute;
    exposed += o.exposed;
    idle += o.idle;
  }
  TimelineReport::Shares shares() const {
    const std::int64_t all = compute + exposed + idle;
    return {share(compute, all), share(exposed, all), share(idle, all)};
  }
};

void set_ranks(TimelineReport& out, const Timeline& t) {
  const std::size_t n = t.ranks.size();
  std::vector<Sums> sums(n);
  std::vector<std::map<std::uint32_t, std::int64_t>> waited(n);  // for whom, ps
  for (const RepeatTimes& repeat : t.repeats) {
    TimelineReport::Repeat& of = out.repeats.emplace_back();
    of.repeat = repeat.repeat + 1;
    for (std::size_t r = 0; r < n; ++r) {
      const RankTimes& rank = repeat.ranks[r];
      const Sums own{timeline::length(rank.compute).ps, timeline::length(rank.exposed).ps, timeline::length(idle_of(rank)).ps};
      sums[r].add(own);
      of.compute_ns.push_back(nanoseconds(Duration{own.compute}));
      of.exposed_ns.push_back(nanoseconds(Duration{own.exposed}));
      of.idle_ns.push_back(nanoseconds(Duration{own.idle}));
      for (const Waiting& w : rank.waiting)
        if (w.rank != Waiting::kNobody) waited[r][w.rank] += (w.when.to - w.when.from).ps;
    }
  }
  Sums all;
  for (std::size_t r = 0; r < n; ++r) {
    if (r < t.working) all.add(sums[r]);
    TimelineReport::Rank& rank = out.ranks.emplace_back();
    static_cast<TimelineReport::Shares&>(rank) = sums[r].shares();
    const auto longest = std::ranges::max_element(waited[r], {}, [](const auto& w) { return w.second; });
    if (longest == waited[r].end()) continue;
    rank.waits_for = fmt::format("rank {} ({})", longest->first, t.ranks[longest->first]);
    rank.waits_ns = nanoseconds(Duration{longest->second});
  }
  out.all = all.shares();
}

void set_path(TimelineReport& out, const build::Collective& collective, const RepeatTimes& repeat) {
  using Kind = timeline::PathPart::Kind;
  TimelineReport::Path& path = out.path;
  path.repeat = repeat.repeat + 1;
  path.ns = nanoseconds(repeat.to - repeat.from);
  std::map<std::uint32_t, std::int64_t> computing;
  std::map<std::pair<std::uint32_t, std::uint32_t>, TimelineReport::Hop> hops;
  for (const timeline::PathPart& part : timeline::critical_path(collective, repeat)) {
    const std::int64_t ps = (part.when.to - part.when.from).ps;
    if (part.kind == Kind::kCompute) {
      path.compute_ns += ps;
      computing[part.rank] += ps;
    } else if (part.kind == Kind::kWait) {
      path.wait_ns += ps;
    } else {
      (part.kind == Kind::kMessage ? path.message_ns : path.acknowledgement_ns) += ps;
      TimelineReport::Hop& hop = hops[{part.rank, part.peer}];
      const RankConnection& connection = collective.ranks[part.rank]->program().connections[part.connection];
      hop.from = part.rank;
      hop.to = part.peer;
      if (part.kind == Kind::kMessage) {
        ++hop.messages;
        hop.bytes += part.octets;
      }
      hop.ns += ps;
      hop.scale_up = connection.scale_up;
      const auto nic = [&](std::uint32_t rank, std::uint32_t c) {
        return collective.through.empty() || collective.through[rank].empty() ? collective.nics[rank] : collective.through[rank][c];
      };
      hop.from_nic = nic(part.rank, part.connection);
      hop.to_nic = nic(part.peer, connection.at_peer);
    }
  }
  // Summed as picoseconds.
  for (std::int64_t* sum : {&path.compute_ns, &path.wait_ns, &path.message_ns, &path.acknowledgement_ns})
    *sum = nanoseconds(Duration{*sum});
  for (auto& [ends, hop] : hops) hop.ns = nanoseconds(Duration{hop.ns});
  for (const auto& [rank, ps] : computing) path.ranks.emplace_back(rank, nanoseconds(Duration{ps}));
  std::ranges::stable_sort(path.ranks, std::ranges::greater{}, [](const auto& r) { return r.second; });
  for (auto& [ends, hop] : hops) path.hops.push_back(std::move(hop));
  std::ranges::stable_sort(path.hops, std::ranges::greater{}, &TimelineReport::Hop::ns);
}

// How much of each part `intervals` take, ps.
std::vector<std::int64_t> by_part(const std::vector<Interval>& intervals, const RepeatTimes& repeat) {
  constexpr auto kParts = static_cast<std::int64_t>(TimelineReport::kParts);
  std::vector<std::int64_t> out(TimelineReport::kParts);
  const Int128 all = (repeat.to - repeat.from).ps;
  if (all <= 0) return out;
  const auto edge = [&](std::int64_t part) { return static_cast<std::int64_t>(all * part / kParts); };
  for (const Interval& i : intervals) {
    const std::int64_t from = (i.from - repeat.from).ps, to = (i.to - repeat.from).ps;
    for (auto p = static_cast<std::int64_t>(Int128{from} * kParts / all); p < kParts && edge(p) < to; ++p)
      out[static_cast<std::size_t>(p)] += std::max<std::int64_t>(0, std::min(to, edge(p + 1)) - std::max(from, edge(p)));
  }
  return out;
}

void set_picture(TimelineReport& out, const RepeatTimes& repeat) {
  for (std::size_t r = 0; r < std::min(repeat.ranks.size(), TimelineReport::kMostRows); ++r) {
    const RankTimes& rank = repeat.ranks[r];
    const auto compute = by_part(rank.compute, repeat), exposed = by_part(rank.exposed, repeat), idle = by_part(idle_of(rank), repeat);
    std::vector<TimelineReport::Part>& row = out.picture.emplace_back();
    for (std::size_t p = 0; p < compute.size(); ++p)
      row.push_back(compute[p] >= exposed[p] && compute[p] >= idle[p] ? TimelineReport::Part::kCompute
                    : exposed[p] >= idle[p]                           ? TimelineReport::Part::kExposed
                                                                      : TimelineReport::Part::kIdle);
  }
}

}  // namespace

std::optional<TimelineReport> timeline_report(const build::BuiltLab& lab, const build::Collective& collective) {
  const auto t = timeline::timeline_of(lab, collective);
  if (!t || t->repeats.empty()) return std::nullopt;
  TimelineReport out;
  out.names = t->ranks;
  set_ranks(out, *t);
  const RepeatTimes& longest = *std::ranges::max_element(t->repeats, {}, [](const RepeatTimes& r) { return r.to - r.from; });
  set_path(out, collective, longest);
  set_picture(out, longest);
  return out;
}

}  // namespace railyard::report
