#include "control/agents/agent_report.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "control/agents/modelled.h"
#include "control/report/collective_limit.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/value.h"

namespace railyard::agents {
namespace {

using report::CollectiveReport;

// A rank's repeats in modelled time.
struct Times {
  std::vector<Instant> started;
  std::vector<Instant> finished;
};

Times times_of(const build::BuiltLab& lab, const AgentCollectiveState& s, std::size_t rank) {
  if (!s.what->is_agents(rank)) return {s.what->ranks[rank]->started(), s.what->ranks[rank]->finished()};
  Times t;
  if (!s.results[rank] || s.went == Instant::never()) return t;
  const auto at = [&](std::uint64_t ns) { return s.went + modelled(lab, ns); };
  for (const RankResult::Repeat& r : s.results[rank]->repeats) {
    t.started.push_back(at(r.start_ns));
    t.finished.push_back(r.finish_ns == 0 ? Instant::never() : at(r.finish_ns));
  }
  return t;
}

// Of steps of training, once all are done (report::CollectiveReport::Job).
void set_job(CollectiveReport& r, const build::BuiltLab& lab, const AgentCollectiveState& s,
             const std::vector<Times>& ranks, double link_bps) {
  if (!r.job || !r.completed || r.iterations.empty()) return;
  const spec::CollectiveSpec& c = lab.spec().collectives[s.what->spec];
  double compute = 0;
  double all = 0;
  Instant start = Instant::never();
  Instant end{};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    compute += s.what->is_agents(i) ? seconds(modelled(lab, s.results[i]->computed_ns))
                                    : seconds(s.what->ranks[i]->computed());
    all += seconds(ranks[i].finished.back() - ranks[i].started.front());
    start = std::min(start, ranks[i].started.front());
    end = std::max(end, ranks[i].finished.back());
  }
  if (all > 0) r.job->utilisation = std::min(1.0, compute / all);
  const double repeats = static_cast<double>(r.iterations.size());
  const double communication = repeats * 8 * static_cast<double>(r.bytes) * r.factor / link_bps;
  const double exposed = seconds(end - start) - repeats * seconds(c.forward + c.backward);
  if (communication > 0) r.job->overlap = 1 - exposed / communication;
}

void set_times(CollectiveReport& r, const std::vector<Times>& ranks, Duration gap, bool steps) {
  std::vector<Duration> times;
  std::optional<Instant> before;
  for (std::size_t k = 0;; ++k) {
    Instant start = Instant::never();
    Instant end{};
    for (const Times& t : ranks) {
      if (k < t.started.size()) start = std::min(start, t.started[k]);
      end = std::max(end, k < t.finished.size() ? t.finished[k] : Instant::never());
    }
    if (start == Instant::never()) break;
    start = report::counts_from(start, before, gap, steps);
    CollectiveReport::Repeat& repeat = r.iterations.emplace_back();
    repeat.start_ns = nanoseconds(start - Instant{});
    if (end == Instant::never()) continue;
    times.push_back(end - start);
    repeat.time_ns = nanoseconds(end - start);
    before = end;
  }
  report::summarise(r, std::move(times));
}

void add_agents(CollectiveReport& r, const RankResult& of) {
  r.fabric_bytes += of.octets;
  r.wrong_bytes += of.wrong_octets;
  r.wrong_messages += of.wrong_messages;
}

void add_built_in(CollectiveReport& r, const CollectiveRank& of) {
  r.fabric_bytes += of.octets();
  r.wrong_bytes += of.wrong().octets;
  r.wrong_messages += of.wrong_messages();
  report::add(r, of.traffic());
}

}  // namespace

CollectiveReport agent_collective_report(const build::BuiltLab& lab, const AgentCollectiveState& s) {
  const spec::CollectiveSpec& c = lab.spec().collectives[s.what->spec];
  const std::size_t ranks = s.what->nics.size();
  CollectiveReport r;
  r.name = c.name;
  r.collective = c.operation_name();
  r.algorithm = c.algorithm_name();
  r.bytes = static_cast<std::uint64_t>(c.size.n);
  r.chunk = c.chunk;
  r.channels = c.channel_count();
  r.repeats = c.repeats;
  r.factor = spec::busbw_factor(lab.spec(), c, s.what->nics);
  if (c.computes()) r.job = {nanoseconds(c.computing()), c.is_graph() ? 0 : c.buckets, 0, {}, {}, {}};
  std::vector<Times> times;
  for (std::size_t i = 0; i < ranks; ++i) times.push_back(times_of(lab, s, i));
  set_times(r, times, c.gap, c.computes());
  std::vector<const RankProgram*> programs;
  std::vector<report::RankOnLinks> on_links;
  r.completed = true;
  Histogram messages;  // of built-in ranks
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const spec::PortName& nic = s.what->nics[i];
    const bool agents = s.what->is_agents(i);
    programs.push_back(&s.what->program(i));
    r.ranks.push_back(agents ? fmt::format("{} (agent)", spec::format(nic)) : spec::format(nic));
    on_links.push_back({programs.back(), nic, {}});
    const bool complete = agents ? s.results[i] && s.results[i]->complete && s.results[i]->failure.empty()
                                 : s.what->ranks[i]->complete();
    r.completed = r.completed && complete;
    const std::uint64_t before = r.wrong_bytes;
    if (agents && s.results[i]) add_agents(r, *s.results[i]);
    if (!agents) {
      add_built_in(r, *s.what->ranks[i]);
      messages.merge(s.what->ranks[i]->message_times());
    }
    if (before == 0 && r.wrong_bytes > 0)
      r.wrong = fmt::format("{} bytes at rank {} ({}), iteration {}, from byte {}", r.wrong_bytes, i, spec::format(nic),
                            (agents ? s.results[i]->wrong_repeat : s.what->ranks[i]->wrong().repeat) + 1,
                            agents ? s.results[i]->wrong_offset : s.what->ranks[i]->wrong().offset);
  }
  report::set_messages(r, messages);
  const double octets = static_cast<double>(r.bytes) * r.factor;
  const double framing = report::framing_share(programs, c, false, {}, lab.framing(lab.port(s.what->nics[0])));
  const auto rate_of = [&](const spec::PortName& nic) { return lab.rate(lab.port(nic)); };
  r.limit_bps = report::busbw_limit(lab.spec(), rate_of, on_links, octets, framing);
  set_job(r, lab, s, times, report::busbw_limit(lab.spec(), rate_of, on_links, octets, 1));
  if (!r.completed) r.stalled = s.state;
  r.verified = r.completed && r.wrong_bytes == 0 && r.wrong_messages == 0;
  return r;
}

}  // namespace railyard::agents
