#include "control/report/verdict.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "control/report/pause_totals.h"
#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

using Answer = Verdict::Answer;

std::uint64_t budgeted(const Percentiles& p, int percentile) {
  switch (percentile) {
    case 5000:
      return p.p50;
    case 9000:
      return p.p90;
    case 9900:
      return p.p99;
    case 9990:
      return p.p999;
    case 9999:
      return p.p9999;
    default:
      return p.max;
  }
}

std::string percentile_word(int percentile) {
  if (percentile == 10000) return "the maximum";
  return percentile % 100 == 0 ? fmt::format("p{}", percentile / 100)
                               : fmt::format("p{}.{}", percentile / 100, percentile % 10 == 0 ? "9" : "99");
}

std::string flows_text(std::uint64_t n) { return fmt::format("{} flow{}", count_text(n), n == 1 ? "" : "s"); }

// Nothing: no budget is set.
std::optional<Verdict> latency_verdict(const Report& r) {
  if (!r.budgets.scale_out) return std::nullopt;
  const auto limit = static_cast<std::uint64_t>(nanoseconds(*r.budgets.scale_out));
  struct Of {
    std::uint64_t all = 0;
    std::uint64_t over = 0;
  } flows, ranks;
  std::string worst;
  std::uint64_t most = 0;
  const auto take = [&](const Percentiles& latency, Of& of, const std::string& name) {
    if (!latency.known()) return;
    ++of.all;
    of.over += is_within(r.budgets, latency) == false;
    const std::uint64_t found = budgeted(latency, r.budgets.percentile);
    if (worst.empty() || found > most) worst = name;
    most = std::max(most, found);
  };
  for (const FlowReport& f : r.flows) take(f.latency_ns, flows, f.name);
  for (const RankLatency& n : r.rank_latency) take(n.latency_ns, ranks, "collectives at " + n.nic);
  if (worst.empty()) return Verdict{"latency", Answer::kOpen, "no packet arrived"};
  std::string over;
  if (flows.all > 0) over = fmt::format("{} of {}", count_text(flows.over), flows_text(flows.all));
  if (ranks.all > 0)
    over += fmt::format("{}{} of {} NIC{} with ranks", over.empty() ? "" : ", ", count_text(ranks.over),
                        count_text(ranks.all), ranks.all == 1 ? "" : "s");
  return Verdict{"latency", flows.over + ranks.over == 0 ? Answer::kPass : Answer::kFail,
                 fmt::format("worst {} is {}, budget {}: {}; {} over budget", percentile_word(r.budgets.percentile),
                             nanoseconds_text(most), nanoseconds_text(limit), worst, over)};
}

// Nothing: no budget is set, or no host has a scale-up network.
std::optional<Verdict> scale_up_verdict(const Report& r) {
  if (!r.budgets.scale_up) return std::nullopt;
  const auto limit = static_cast<std::uint64_t>(nanoseconds(*r.budgets.scale_up));
  const CollectiveReport* worst = nullptr;
  const auto found = [&](const CollectiveReport& c) { return budgeted(c.scale_up->latency_ns, r.budgets.percentile); };
  for (const CollectiveReport& c : r.collectives)
    if (c.scale_up && (worst == nullptr || found(c) > found(*worst))) worst = &c;
  if (worst == nullptr) return std::nullopt;
  return Verdict{"scale-up-latency", found(*worst) <= limit ? Answer::kPass : Answer::kFail,
                 fmt::format("worst first-byte latency {} is {}, budget {}: {}", percentile_word(r.budgets.percentile),
                             nanoseconds_text(found(*worst)), nanoseconds_text(limit), worst->name)};
}

// "headroom_full 1,200 at leaf1:3 class 3, ... and 2 more places"
std::string places_text(const std::vector<LosslessDrops::Place>& places) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(places.size(), kMost); ++i)
    text += fmt::format("{}{} {} at {} class {}", i == 0 ? "" : ", ", name(places[i].reason),
                        count_text(places[i].frames), places[i].port, places[i].priority);
  if (places.size() > kMost) text += fmt::format(" and {} more places", places.size() - kMost);
  return text;
}

// Frames of RDMA flows in classes that are lossless anywhere on their path; of other traffic, where the class is
// lossless and the buffer was full. Losses to outages and to injected damage do not count.
Verdict loss_verdict(const Report& r) {
  if (!r.lossless_drops) return {"lossless", Answer::kOpen, "no class is lossless, and there is no RDMA traffic"};
  const LosslessDrops& d = *r.lossless_drops;
  std::string more;
  if (!d.lossy_roce.empty())
    more +=
        fmt::format("; RoCE runs in a lossy class ({}): {} frames dropped", d.lossy_roce, count_text(d.dropped_lossy));
  bool first = true;
  for (const auto& [frames, what] : {std::pair{d.to_faults, "frames lost to faults and outages"},
                                     {d.where_lossy, "frames of other traffic dropped where their class is lossy"},
                                     {d.otherwise, "frames of other traffic dropped for reasons other than buffers"}}) {
    if (frames == 0) continue;
    more += fmt::format("{}{} {}", first ? "; not counted: " : ", ", count_text(frames), what);
    first = false;
  }
  if (d.rdma + d.for_room > 0) {
    std::string text;
    if (d.rdma > 0) text = fmt::format("{} RDMA frames", count_text(d.rdma));
    if (d.for_room > 0)
      text += fmt::format("{}{} {}frames", text.empty() ? "" : " and ", count_text(d.for_room),
                          text.empty() ? "" : "other ");
    return {"lossless", Answer::kFail,
            fmt::format("{} dropped in lossless classes, allowed 0: {}{}", text, places_text(d.places), more)};
  }
  if (!d.lossy_roce.empty()) return {"lossless", Answer::kNote, more.substr(2)};
  if (!d.any_lossless) return {"lossless", Answer::kOpen, "no class of a switch is lossless" + more};
  return {"lossless", Answer::kPass, "0 frames dropped in lossless classes, allowed 0" + more};
}

// Queues that wait for each other in a circle. One that broke up again counts too: nothing moved meanwhile.
Verdict deadlock_verdict(const Report& r) {
  if (r.deadlocks.empty())
    return {"deadlock", r.watched_for_deadlocks ? Answer::kPass : Answer::kOpen,
            r.watched_for_deadlocks ? "0 deadlocks" : "run.deadlock is off"};
  std::size_t remaining = 0;
  for (const telemetry::DeadlockWatch::Seen& d : r.deadlocks) remaining += d.resolved ? 0u : 1u;
  const telemetry::DeadlockWatch::Seen& first = r.deadlocks.front();
  std::string circle;
  for (const std::string& queue : first.ring) circle += queue + " -> ";
  return {
      "deadlock", Answer::kFail,
      fmt::format("{} deadlock{}, allowed 0: {}{}, since {}{}", r.deadlocks.size(), r.deadlocks.size() == 1 ? "" : "s",
                  circle, first.ring.front(), time_text(first.since - Instant{}),
                  remaining == 0 ? fmt::format("; {} resolved", r.deadlocks.size() == 1 ? "it" : "all") : "")};
}

// Whether generators alone send. They obey pauses and have no congestion control, so an incast of theirs is paused for
// as long as it lasts, on any lossless fabric.
bool only_generators_send(const Report& r) {
  return r.lab.generator_flows > 0 && r.lab.roce_flows == 0 && r.lab.uet_flows == 0 && r.lab.attached_nics == 0 &&
         r.collectives.empty();
}

// Pauses once the lab has settled. The default budgets say whether congestion control does its work: where nobody has
// any, they judge nothing.
std::optional<Verdict> pauses_verdict(const Report& r) {
  const Budgets& b = r.budgets;
  if (!b.pause_share && !b.xoff_rate) return std::nullopt;
  if (!r.steady_pauses)
    return Verdict{"pauses", Answer::kOpen, "traffic ended before the warm-up (run.budgets.warm-up)"};
  const SteadyPauses& s = *r.steady_pauses;
  const Budgets usual;
  const bool is_judged =
      b.pause_share != usual.pause_share || b.xoff_rate != usual.xoff_rate || !only_generators_send(r);
  std::string text;
  bool good = true;
  const auto at = [](const std::string& where) { return where.empty() ? std::string() : " at " + where; };
  if (b.pause_share) {
    const double budget =
        static_cast<double>(b.pause_share->numerator) / static_cast<double>(b.pause_share->denominator);
    good = good && s.share <= budget;
    text = fmt::format("paused {} of the time{}{}", percent_text(s.share),
                       is_judged ? ", budget " + percent_text(budget) : std::string(), at(s.share_at));
  }
  if (b.xoff_rate) {
    good = good && s.xoff_per_second <= *b.xoff_rate;
    text += fmt::format("{}{} XOFFs per second{}{}", text.empty() ? "" : "; ",
                        count_text(static_cast<std::uint64_t>(s.xoff_per_second + 0.5)),
                        is_judged ? ", budget " + count_text(static_cast<std::uint64_t>(*b.xoff_rate)) : std::string(),
                        at(s.xoff_at));
  }
  text += fmt::format(" (from {} to {})", nanoseconds_text(static_cast<std::uint64_t>(s.from_ns)),
                      nanoseconds_text(static_cast<std::uint64_t>(s.to_ns)));
  if (!good && !is_judged)
    return Verdict{
        "pauses", Answer::kNote,
        text +
            "; only generators send, without congestion control: run.budgets.pause-share and xoff-rate set a "
            "limit"};
  return Verdict{"pauses", good ? Answer::kPass : Answer::kFail, std::move(text)};
}

// CE marks should slow senders down before PFC has to pause them.
Verdict order_verdict(const Report& r) {
  const CeAndXoff o = ce_and_xoff(r);
  if (o.queues == 0)
    return {"ce-before-xoff", Answer::kPass, "no ingress group crossed XOFF; " + pause_totals(r).text()};
  return {"ce-before-xoff", o.ce_first == o.queues ? Answer::kPass : Answer::kFail,
          fmt::format("{} of {} congested queue{} marked CE before XOFF, expected all{}{}", o.ce_first, o.queues,
                      o.queues == 1 ? "" : "s",
                      o.xoff_first > 0 ? fmt::format("; {} marked after XOFF", o.xoff_first) : std::string(),
                      o.never_marked > 0 ? fmt::format("; {} never marked", o.never_marked) : std::string())};
}

// "1 flow stalled: t/h1->h2 delivered nothing after 1 ms of 20.0 ms"; empty: none did.
std::string stood_still_text(const Report& r) {
  const FlowReport* first = nullptr;
  std::uint64_t n = 0;
  for (const FlowReport& f : r.flows) {
    if (!f.stood_still()) continue;
    ++n;
    if (first == nullptr || f.last_delivered_ns.value_or(0) < first->last_delivered_ns.value_or(0)) first = &f;
  }
  if (first == nullptr) return "";
  return fmt::format("{} stalled: {} delivered nothing after {} of {}", flows_text(n), first->name,
                     nanoseconds_text(static_cast<std::uint64_t>(first->last_delivered_ns.value_or(0))),
                     nanoseconds_text(static_cast<std::uint64_t>(first->goodput_ns)));
}

Verdict completion_verdict(const Report& r) {
  std::uint64_t with_end = 0;
  std::uint64_t complete = 0;
  std::uint64_t failed = 0;
  std::uint64_t ended_with_loss = 0;
  std::uint64_t lost = 0;
  for (const TrafficReport& t : r.traffic) {
    with_end += t.with_end;
    complete += t.complete;
    failed += t.failed;
    ended_with_loss += t.ended_with_loss;
    lost += t.lost_of_these;
  }
  std::uint64_t collectives = 0;
  for (const CollectiveReport& c : r.collectives) collectives += c.completed;
  const auto pings_failed = static_cast<std::uint64_t>(
      std::ranges::count_if(r.rpings, [](const RpingReport& p) { return !p.failure.empty(); }));
  const std::string stood_still = stood_still_text(r);
  if (with_end == 0 && failed == 0 && pings_failed == 0 && r.collectives.empty())
    return stood_still.empty() ? Verdict{"completion", Answer::kOpen, "no finite flows"}
                               : Verdict{"completion", Answer::kNote, stood_still};
  std::string text;
  if (!r.collectives.empty())
    text = fmt::format("{} of {} collective{} completed", count_text(collectives), count_text(r.collectives.size()),
                       r.collectives.size() == 1 ? "" : "s");
  if (with_end > 0 || failed > 0)
    text += fmt::format("{}{} of {} finite flow{} completed{}", text.empty() ? "" : "; ", count_text(complete),
                        count_text(with_end), with_end == 1 ? "" : "s",
                        failed > 0 ? fmt::format("; {} failed", count_text(failed)) : std::string());
  if (pings_failed > 0)
    text += fmt::format("{}{} of {} rping client{} failed", text.empty() ? "" : "; ", count_text(pings_failed),
                        count_text(r.rpings.size()), r.rpings.size() == 1 ? "" : "s");
  if (ended_with_loss > 0)
    text += fmt::format("; {} over UC or UUD ended with {} lost packets (allowed: unreliable)",
                        flows_text(ended_with_loss), count_text(lost));
  const auto waits = [](const FlowReport& f) { return !f.waits_for.empty(); };
  if (const auto first = std::ranges::find_if(r.flows, waits); first != r.flows.end())
    text += fmt::format("; {} never started: {} waits for {}",
                        count_text(static_cast<std::uint64_t>(std::ranges::count_if(r.flows, waits))), first->name,
                        first->waits_for);
  if (!stood_still.empty()) text += "; " + stood_still;
  const bool all = complete + ended_with_loss == with_end && failed == 0 && pings_failed == 0 &&
                   collectives == r.collectives.size();
  return {"completion", all ? Answer::kPass : Answer::kFail, std::move(text)};
}

Verdict data_verdict(const Report& r) {
  std::uint64_t corrupted = 0;
  for (const FlowReport& f : r.flows) corrupted += f.corrupted;
  for (const RpingReport& p : r.rpings) corrupted += p.corrupted;
  for (const CollectiveReport& c : r.collectives)
    if (!c.wrong.empty()) return {"data", Answer::kFail, fmt::format("{}: wrong data: {}", c.name, c.wrong)};
  if (corrupted > 0)
    return {"data", Answer::kFail,
            fmt::format("{} packets or messages arrived corrupted, allowed 0", count_text(corrupted))};
  std::uint64_t waiting = 0;
  for (const FlowReport& f : r.flows) waiting += f.uet ? f.uet->waiting() : 0;
  if (r.audit.balanced && waiting > 0)
    return {
        "data", Answer::kOpen,
        fmt::format("{} messages wait at the target for a receive buffer; data verified, packet accounting balances",
                    count_text(waiting))};
  return {"data", r.audit.balanced ? Answer::kPass : Answer::kFail,
          r.audit.balanced ? "0 packets corrupted; packet accounting balances" : "packet accounting does not balance"};
}

}  // namespace

std::optional<bool> is_within(const Budgets& budgets, const Percentiles& latency_ns) {
  if (!budgets.scale_out) return std::nullopt;
  return budgeted(latency_ns, budgets.percentile) <= static_cast<std::uint64_t>(nanoseconds(*budgets.scale_out));
}

CeAndXoff ce_and_xoff(const Report& r) {
  CeAndXoff o;
  for (const PortReport& p : r.ports)
    for (const ClassCounters& c : p.counters.classes) {
      if (!p.is_switch || c.first_xoff == Instant::never()) continue;
      ++o.queues;
      if (c.first_ce == Instant::never())
        ++o.never_marked;
      else
        ++(c.first_ce < c.first_xoff ? o.ce_first : o.xoff_first);
    }
  return o;
}

namespace {

constexpr double kBusy = 0.5;

// "leaf1:5 98.1 %, leaf2:5 97.9 %": of all that have carried anything.
std::string busiest_ports(const Report& r, std::size_t most) {
  std::vector<const PortReport*> ports;
  for (const PortReport& p : r.ports)
    if (p.utilisation > 0) ports.push_back(&p);
  most = std::min(most, ports.size());
  std::ranges::partial_sort(ports, ports.begin() + static_cast<std::ptrdiff_t>(most), std::ranges::greater{}, &PortReport::utilisation);
  std::string text;
  for (std::size_t i = 0; i < most; ++i)
    text += fmt::format("{}{}:{} {}", i == 0 ? "" : ", ", ports[i]->node, ports[i]->port, percent_text(ports[i]->utilisation));
  return text;
}

// Of jobs and traces whose steps are not recorded, the one that an ideal network would help most. Nothing: none is below half of
// the speed of an ideal network.
std::optional<Verdict> efficiency_verdict(const Report& r) {
  constexpr std::size_t kMostPorts = 3;
  const CollectiveReport* least = nullptr;
  for (const CollectiveReport& c : r.collectives) {
    if (c.timeline || !c.figures || c.figures->ideal_ns <= 0 || c.figures->efficiency.value_or(1) >= kBusy) continue;
    if (least == nullptr || *c.figures->efficiency < *least->figures->efficiency) least = &c;
  }
  if (least == nullptr) return std::nullopt;
  const double efficiency = *least->figures->efficiency;
  const std::string ports = busiest_ports(r, kMostPorts);
  return Verdict{"utilisation", Answer::kNote,
                 fmt::format("efficiency of {} is {}; limit {}: network-bound; an ideal network would be {:.1f} times as fast{}", least->name,
                             percent_text(efficiency), percent_text(kBusy), efficiency > 0 ? 1 / efficiency : 0,
                             ports.empty() ? "" : "; busiest links of the run: " + ports)};
}

// Nothing: no job's steps are recorded, and none is slow.
std::optional<Verdict> utilisation_verdict(const Report& r) {
  const CollectiveReport* least = nullptr;
  for (const CollectiveReport& c : r.collectives)
    if (c.job && c.timeline && (least == nullptr || c.job->utilisation < least->job->utilisation)) least = &c;
  if (least == nullptr) return efficiency_verdict(r);
  const double used = least->job->utilisation;
  const TimelineReport::Path& path = least->timeline->path;
  const std::string text = fmt::format("ranks of {} compute {} of the time; limit {}", least->name, percent_text(used), percent_text(kBusy));
  if (used >= kBusy) return Verdict{"utilisation", Answer::kPass, text};
  // Messages on the critical path take at least half of what is not computed.
  if (path.message_share() < (1 - used) / 2)
    return Verdict{"utilisation", Answer::kNote,
                   fmt::format("{}: bound by the schedule; messages are {} of the critical path", text,
                               percent_text(path.message_share()))};
  std::string links;
  for (std::size_t i = 0; i < std::min<std::size_t>(path.hops.size(), 2); ++i)
    for (const TimelineReport::Hop::Link& l : path.hops[i].links)
      if (links.find(l.port + " ") == links.npos) links += fmt::format("{}{} {}", links.empty() ? "" : ", ", l.port, percent_text(l.utilisation));
  return Verdict{"utilisation", Answer::kNote,
                 fmt::format("{}: network-bound; messages are {} of the critical path{}", text, percent_text(path.message_share()),
                             links.empty() ? "" : "; busiest links on it: " + links)};
}

}  // namespace

std::string_view word(Verdict::Answer answer) {
  switch (answer) {
    case Answer::kPass:
      return "pass";
    case Answer::kFail:
      return "fail";
    case Answer::kOpen:
      return "open";
    case Answer::kNote:
      return "note";
  }
  return "";
}

namespace {

// Nothing: it went to its end.
std::optional<Verdict> interruption_verdict(const Report& r) {
  if (!r.run.interrupted) return std::nullopt;
  return Verdict{"interrupted", Answer::kFail,
                 fmt::format("a signal ended the run early, at {} of simulated time",
                             time_text(Duration{static_cast<std::int64_t>(r.engine.simulated_seconds * 1e12)}))};
}

}  // namespace

std::vector<Verdict> Report::verdicts() const {
  std::vector<Verdict> all;
  const auto add = [&](std::optional<Verdict> v) {
    if (v) all.push_back(std::move(*v));
  };
  add(interruption_verdict(*this));
  add(latency_verdict(*this));
  add(scale_up_verdict(*this));
  add(loss_verdict(*this));
  add(deadlock_verdict(*this));
  add(pauses_verdict(*this));
  add(order_verdict(*this));
  add(utilisation_verdict(*this));
  add(completion_verdict(*this));
  add(data_verdict(*this));
  return all;
}

}  // namespace railyard::report
