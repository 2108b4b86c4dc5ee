#include "control/report/collective_report.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/report/collective_limit.h"
#include "control/report/framing.h"
#include "control/report/tensor_groups.h"
#include "control/report/units.h"
#include "control/spec/collective_ranks.h"

namespace railyard::report {
namespace {

// Octets on the wire of a message's packets: Ethernet 14, IP, UDP 8, BTH 12, ICRC 4, FCS 4, preamble and gap each;
// RETH 16 and immediate data 4 once, with selective repeat the RETH and 8 of SRETH in each.
// Of UET PDS 12, SES 44 and what they are put into in the place of UDP, BTH and ICRC, in each (UET page §3, §4).
double wire_octets(std::uint64_t octets, const spec::CollectiveSpec& c, bool selective, const spec::UetNicSpec& uet,
                   Framing framing) {
  const auto mtu = static_cast<std::uint64_t>(c.path_mtu);
  const auto packets = static_cast<double>((octets + mtu - 1) / mtu);
  const double around = 14 + (c.ip_version == 4 ? 20 : 40) + 4 + framing.around();
  if (c.is_uet()) return static_cast<double>(octets) + packets * (around + 12 + 44 + uet_outer_octets(uet, c.ip_version));
  const double each = around + 8 + 12 + 4 + (selective ? 24 : 0);
  return static_cast<double>(octets) + packets * each + (selective ? 4 : 20);
}

}  // namespace

double framing_share(const std::vector<const RankProgram*>& programs, const spec::CollectiveSpec& c, bool selective,
                     const spec::UetNicSpec& uet, Framing framing) {
  double payload = 0;
  double wire = 0;
  for (const RankProgram* program : programs)
    for (const CollectiveStep& s : program->steps)
      if (s.kind == CollectiveStep::Kind::kSend && !program->connections[s.connection].scale_up) {
        payload += s.octets;
        wire += wire_octets(s.octets, c, selective, uet, framing);
      }
  return wire > 0 ? payload / wire : 0;
}

void summarise(CollectiveReport& r, std::vector<Duration> times) {
  if (times.empty()) return;
  std::ranges::sort(times);
  const Duration median = times[(times.size() - 1) / 2];
  r.min_ns = nanoseconds(times.front());
  r.median_ns = nanoseconds(median);
  r.p99_ns = nanoseconds(times[(times.size() * 99 + 99) / 100 - 1]);
  r.max_ns = nanoseconds(times.back());
  if (median > Duration{} && !r.job) r.algbw_bps = static_cast<double>(r.bytes) * 8 / seconds(median);
  r.busbw_bps = r.algbw_bps * r.factor;
}

namespace {

struct Where {
  const build::BuiltLab& lab;
  const build::Collective& collective;

  std::string name(std::uint32_t r) const {
    return spec::format(lab.spec(), {collective.nics[r], collective.gpus[r]});
  }
  std::string rank(std::uint32_t r) const {
    if (r >= collective.rank_count()) return name(r);
    return fmt::format("rank {} ({})", r, name(r));
  }
};

// The ranks whose input is missing or was added twice, if that is known.
std::string contributors(const Where& where, const CollectiveRank& r) {
  const WrongData& w = r.wrong();
  const RankProgram& p = r.program();
  if (w.has == w.expected) return {};
  if (!p.reduces || p.ranks > Contributors::kMostInASet) return w.has == 0 ? ": nothing arrived" : ": corrupted";
  if ((w.has & ~w.expected) != 0) return ": not a sum of inputs";
  const std::uint64_t missing = w.expected & ~w.has;
  return fmt::format(": without the input of {}{}",
                     where.rank(static_cast<std::uint32_t>(std::countr_zero(missing))),
                     std::popcount(missing) > 1 ? fmt::format(" and {} more", std::popcount(missing) - 1) : "");
}

std::string first_wrong(const Where& where) {
  for (std::uint32_t r = 0; r < where.collective.ranks.size(); ++r) {
    const CollectiveRank& rank = *where.collective.ranks[r];
    if (rank.wrong().octets > 0)
      return fmt::format("{} bytes at {}, iteration {}, from byte {}{}", count_text(rank.wrong().octets), where.rank(r),
                         rank.wrong().repeat + 1, rank.wrong().offset, contributors(where, rank));
  }
  for (std::uint32_t r = 0; r < where.collective.ranks.size(); ++r)
    if (const std::uint64_t n = where.collective.ranks[r]->wrong_messages(); n > 0)
      return fmt::format("{} unexpected messages at {}", n, where.rank(r));
  return {};
}

// A receive whose message its sender has sent is where everything else waits; else the first that waits.
std::optional<std::string> waiting_step(const Where& where) {
  std::optional<std::string> first;
  const auto& ranks = where.collective.ranks;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    const CollectiveRank& rank = *ranks[r];
    if (!rank.running()) continue;
    for (std::uint32_t s = 0; s < rank.program().steps.size(); ++s) {
      const CollectiveStep& step = rank.program().steps[s];
      if (!step.receives() || rank.state(s) == StepState::kDone) continue;
      const std::uint32_t q = rank.program().connections[step.connection].peer;
      const CollectiveRank& peer = *ranks[q];
      const bool sent = peer.repeat() == rank.repeat() && peer.running() &&
                        peer.state(step.peer_step) == StepState::kPosted;
      if (!sent && first) continue;
      first = fmt::format("iteration {}, step {} of {}: waiting for {}", rank.repeat() + 1, s, where.rank(r),
                          where.rank(q));
      if (sent) return first;
    }
  }
  return first;
}

std::string stall(const Where& where) {
  const CollectiveRank* failed = nullptr;
  bool running = false;
  for (const CollectiveRank* r : where.collective.ranks) {
    running = running || r->running();
    if (r->failure() && (failed == nullptr || r->failure()->at < failed->failure()->at)) failed = r;
  }
  const auto step = waiting_step(where);
  std::string text = step      ? *step
                     : running ? "the last messages were not acknowledged"
                               : "traffic ended before all iterations were started";
  if (failed != nullptr)
    text += fmt::format("; the {} of {} to {} failed at {}: {}", failed->failure()->what,
                        where.rank(failed->program().rank),
                        where.rank(failed->program().connections[failed->failure()->connection].peer),
                        time_text(failed->failure()->at - Instant{}), failed->failure()->status);
  return text;
}

// Without reducers, and those that only store: they are ahead of the others where there is nothing to store.
std::span<CollectiveRank* const> working_ranks(const build::Collective& collective, const spec::CollectiveSpec& c) {
  const std::size_t storage = c.is_job() ? static_cast<std::size_t>(c.job->training.storage.ranks) : 0;
  return std::span(collective.ranks).first(collective.rank_count() - storage);
}

void set_times(CollectiveReport& r, const build::Collective& collective, const spec::CollectiveSpec& c) {
  std::vector<Duration> times;
  std::optional<Instant> before;
  for (std::size_t k = 0;; ++k) {
    Instant start = Instant::never();
    Instant end{};
    for (const CollectiveRank* rank : collective.ranks) {
      if (!spec::takes_part(c, collective.rank_count(), rank->program().rank, k)) continue;
      const bool started = k < rank->started().size();
      if (started) start = std::min(start, rank->started()[k]);
      end = std::max(end, started ? rank->finished()[k] : Instant::never());
    }
    if (start == Instant::never()) break;
    start = counts_from(start, before, c.gap, c.computes());
    CollectiveReport::Repeat& repeat = r.iterations.emplace_back();
    repeat.start_ns = nanoseconds(start - Instant{});
    if (end == Instant::never()) continue;
    times.push_back(end - start);
    repeat.time_ns = nanoseconds(end - start);
    before = end;
  }
  summarise(r, std::move(times));
}

// How long ranks of a job that shrinks were left out until its end, all together, in seconds.
double left_out(const CollectiveReport& r, std::span<CollectiveRank* const> ranks, const spec::CollectiveSpec& c, Instant end) {
  const std::size_t all_ranks = ranks.size() + static_cast<std::size_t>(c.job->training.storage.ranks);
  double all = 0;
  double until = seconds(end - Instant{});
  for (std::size_t k = r.iterations.size(); k-- > 0;) {
    const double start = static_cast<double>(r.iterations[k].start_ns) / 1e9;
    const auto out = std::ranges::count_if(ranks, [&](const CollectiveRank* rank) { return !spec::takes_part(c, all_ranks, rank->program().rank, k); });
    all += static_cast<double>(out) * (until - start);
    until = start;
  }
  return all;
}

// Of a job that goes on: of the repeats that each rank has completed. A repeat that has begun counts in computed(): each is
// taken for as long as the others.
void set_utilisation_so_far(CollectiveReport& r, std::span<CollectiveRank* const> ranks) {
  double compute = 0;
  double all = 0;
  for (const CollectiveRank* rank : ranks) {
    const std::uint32_t whole = rank->repeat();
    if (whole == 0) return;
    compute += seconds(rank->computed()) * whole / static_cast<double>(rank->started().size());
    all += seconds(rank->finished()[whole - 1] - rank->started().front());
  }
  if (all > 0) r.job->utilisation = std::min(1.0, compute / all);
}

// Of the ranks' repeats that were completed. `link_bps`: 0 if nothing goes through the fabric.
void set_job(CollectiveReport& r, std::span<CollectiveRank* const> ranks, const spec::CollectiveSpec& c, double link_bps) {
  if (!r.job || r.iterations.empty()) return;
  if (!r.completed) {
    if (c.traced.eras.empty()) set_utilisation_so_far(r, ranks);
    return;
  }
  double compute = 0;
  double all = 0;
  Instant start = Instant::never();
  Instant end{};
  for (const CollectiveRank* rank : ranks) {
    compute += seconds(rank->computed());
    all += seconds(rank->finished().back() - rank->started().front());
    start = std::min(start, rank->started().front());
    end = std::max(end, rank->finished().back());
  }
  // Stages of a pipeline end at different times: who has ended waits for the others.
  if (c.is_graph()) all = static_cast<double>(ranks.size()) * seconds(end - start);
  if (!c.traced.eras.empty()) all -= left_out(r, ranks, c, end);
  if (all > 0) r.job->utilisation = std::min(1.0, compute / all);
  const double repeats = static_cast<double>(r.iterations.size());
  const double communication = link_bps > 0 ? repeats * 8 * static_cast<double>(r.bytes) * r.factor / link_bps : 0;
  const double exposed = seconds(end - start) - repeats * seconds(c.forward + c.backward);
  if (communication > 0) r.job->overlap = 1 - exposed / communication;
}

// Requests of a batch are computed at once: their ranks are busy for a shorter time than all of them take.
void set_busy(CollectiveReport& r) {
  if (!r.job || !r.figures || !r.figures->inference || !r.median_ns || *r.median_ns <= 0) return;
  Duration all{}, most{};
  for (const Duration busy : r.figures->inference->busy) {
    all += busy;
    most = std::max(most, busy);
  }
  r.job->compute_ns = nanoseconds(most);
  r.job->utilisation = std::min(1.0, static_cast<double>(nanoseconds(all)) / static_cast<double>(r.ranks.size()) /
                                         static_cast<double>(*r.median_ns));
}

// How long the schedule of a job or trace has a rank compute in its first `repeats` repeats.
Duration said_computing(const jobs::JobGraph& graph, std::size_t rank, std::size_t repeats) {
  Duration all{};
  for (const jobs::Operation& o : graph.ranks[rank]) {
    if (!o.computes()) continue;
    const std::vector<std::uint32_t>& goes = graph.occasions[o.occasion];
    const auto times = o.occasion == 0 ? static_cast<std::ptrdiff_t>(repeats) : std::ranges::lower_bound(goes, repeats) - goes.begin();
    all += o.time * times;
  }
  return all;
}

// The slowest rank, if its compute time is more than a tenth above the median; of a job or trace, over what that says, among
// ranks that compute at all.
std::optional<CollectiveReport::Job::Straggler> straggler(const build::BuiltLab& lab,
                                                          const build::Collective& collective) {
  struct Time {
    double time;
    std::uint32_t rank;
  };
  std::vector<Time> times;
  const spec::TraceSpec& traced = lab.spec().collectives[collective.spec].traced;
  for (std::uint32_t r = 0; r < collective.rank_count(); ++r) {
    const CollectiveRank& rank = *collective.ranks[r];
    Duration said{1'000'000'000'000};
    if (traced.graph != nullptr) {
      // Schedules give some ranks more to do: against what it says.
      said = said_computing(traced.whole(), r, rank.finished().size());
      if (said == Duration{}) continue;
    }
    times.push_back({seconds(rank.computed()) / seconds(said), r});
  }
  if (times.empty()) return std::nullopt;
  std::ranges::stable_sort(times, std::ranges::greater{}, &Time::time);
  const Time& slowest = times.front();
  const double median = times[times.size() / 2].time;
  constexpr double kWorthSaying = 1.1;
  if (median <= 0 || slowest.time < kWorthSaying * median) return std::nullopt;
  return CollectiveReport::Job::Straggler{Where{lab, collective}.rank(slowest.rank), slowest.time / median};
}

std::optional<CollectiveReport::ScaleUp> scale_up(const build::Collective& collective) {
  std::optional<CollectiveReport::ScaleUp> all;
  Histogram latency;
  for (std::size_t r = 0; r < collective.ranks.size(); ++r) {
    const CollectiveRank* const rank = collective.ranks[r];
    if (!rank->scale_up()) continue;
    const ScaleUpCounters& c = *rank->scale_up();
    if (!all) all = CollectiveReport::ScaleUp{};
    all->messages += c.messages;
    all->bytes += c.octets;
    if (r < collective.rank_count()) all->busy_ns = std::max(all->busy_ns, nanoseconds(c.busy));
    latency.merge(c.latency);
  }
  if (all && all->messages > 0) all->latency_ns = Percentiles::of(latency);
  return all;
}

}  // namespace

void add(CollectiveReport& r, const RankTraffic& t) noexcept {
  r.packets += t.packets;
  r.retransmitted_packets += t.retransmitted_packets;
  r.out_of_order += t.out_of_order;
  r.packet_seq_err += t.packet_seq_err;
  r.local_ack_timeout_err += t.local_ack_timeout_err;
  r.ecn_marked += t.ecn_marked;
  r.cnp_sent += t.cnp_sent;
  r.cnp_handled += t.cnp_handled;
}

void set_messages(CollectiveReport& r, const Histogram& times) {
  if (times.count() == 0) return;
  r.messages.count = times.count();
  r.messages.mean_ns = times.mean() / 1000;
  r.messages.ns = Percentiles::of(times);
}

namespace {

std::optional<std::int64_t> median_message_ns(const CollectiveRank& rank) {
  if (rank.message_times().count() == 0) return std::nullopt;
  return static_cast<std::int64_t>(rank.message_times().percentile(0.5) / 1000);
}

}  // namespace

CollectiveReport collective_report(const build::BuiltLab& lab, const build::Collective& collective) {
  const spec::CollectiveSpec& c = lab.spec().collectives[collective.spec];
  const Where where{lab, collective};
  CollectiveReport r;
  r.name = c.name;
  r.collective = c.operation_name();
  r.algorithm = c.algorithm_name();
  if (c.is_uet()) r.transport = c.service == spec::CollectiveService::kRod ? "uet/rod" : "uet/rud";
  r.bytes = static_cast<std::uint64_t>(c.size.n);
  r.chunk = c.chunk;
  r.channels = c.channel_count();
  r.repeats = static_cast<int>(collective.ranks[0]->config().repeats);
  r.factor = spec::busbw_factor(lab.spec(), c, collective.rank_nics());
  if (c.computes()) r.job = {nanoseconds(c.computing()), c.is_graph() ? 0 : c.buckets, 0, {}, {}, {}};
  const std::span<CollectiveRank* const> working = working_ranks(collective, c);
  set_times(r, collective, c);
  const spec::HostProfile& profile = lab.spec().hosts.at(lab.spec().find(collective.nics[0].node)->profile);
  std::vector<const RankProgram*> programs;
  for (const CollectiveRank* rank : collective.ranks) programs.push_back(&rank->program());
  const double share =
      framing_share(programs, c, profile.roce.loss_recovery == spec::RoceLossRecovery::kSelectiveRepeat, profile.uet,
                    build::framing_of_frames(lab.spec(), collective.nics[0], lab.framing(lab.port(collective.nics[0]))));
  r.completed = true;
  std::vector<RankOnLinks> on_links;
  Histogram messages;
  for (std::uint32_t i = 0; i < collective.ranks.size(); ++i) {
    const CollectiveRank& rank = *collective.ranks[i];
    if (i < collective.rank_count()) {
      r.ranks.push_back(where.name(i));
      r.messages.median_ns_by_rank.push_back(median_message_ns(rank));
    }
    on_links.push_back({&rank.program(), collective.nics[i], collective.through[i]});
    r.fabric_bytes += rank.octets();
    r.completed = r.completed && rank.complete();
    r.wrong_bytes += rank.wrong().octets;
    r.wrong_messages += rank.wrong_messages();
    add(r, rank.traffic());
    messages.merge(rank.message_times());
  }
  set_messages(r, messages);
  const double octets = static_cast<double>(r.bytes) * r.factor;
  const auto rate_of = [&](const spec::PortName& nic) { return lab.rate(lab.port(nic)); };
  r.limit_bps = busbw_limit(lab.spec(), rate_of, on_links, octets, share);
  set_job(r, working, c, busbw_limit(lab.spec(), rate_of, on_links, octets, 1));
  if (c.is_job()) {
    std::vector<StepTime> steps;
    for (const CollectiveReport::Repeat& i : r.iterations) steps.push_back({i.start_ns, i.time_ns});
    r.storage = storage_figures(c.job->training.storage, jobs::checkpoint_octets(*c.traced.graph), steps, c.traced.eras);
  }
  // Of a job that shrinks, of steps with all copies.
  r.figures = job_figures(c, c.traced.eras.empty() ? r.median_ns : r.storage->eras.front().step_ns);
  if (r.figures) {
    r.figures->inference = inference_figures(lab.spec(), collective);
    add_tensor_across_hosts(*r.figures, lab.spec(), c);
  }
  set_busy(r);
  if (r.job) {
    r.job->straggler = straggler(lab, collective);
    if (const auto& price = lab.spec().run.gpu_hour)
      r.job->idle_cost_per_hour = (1 - r.job->utilisation) * static_cast<double>(working.size()) *
                                  static_cast<double>(price->numerator) / static_cast<double>(price->denominator);
  }
  if (lab.spec().run.timeline) r.timeline = timeline_report(lab, collective);
  r.scale_up = scale_up(collective);
  if (!r.completed) r.stalled = stall(where);
  r.wrong = first_wrong(where);
  r.verified = r.completed && r.wrong_bytes == 0 && r.wrong_messages == 0;
  return r;
}

}  // namespace railyard::report
