#include "control/report/inference_figures.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/inference.h"
#include "control/report/flow_csv.h"
#include "control/report/report.h"
#include "control/report/units.h"
#include "control/spec/collective_ranks.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::report {
namespace {

using Step = CollectiveStep;

// When operations of a rank began and ended.
class OperationTimes {
 public:
  OperationTimes(const jobs::Serving& serving, const std::vector<jobs::OperationSteps>& steps, const StepLookup& times)
      : steps_(steps), times_(times) {
    for (std::uint32_t r = 0; r < serving.graph.ranks.size(); ++r) {
      std::vector<Instant>& own = began_.emplace_back(serving.graph.ranks[r].size(), Instant::never());
      for (std::uint32_t s = 0; s < steps[r].of_step.size(); ++s)
        if (const std::uint32_t o = steps[r].of_step[s]; o != Step::kNone) own[o] = std::min(own[o], times(r, s).began);
    }
  }
  Instant began(std::uint32_t rank, std::uint32_t operation) const { return began_[rank][operation]; }
  Instant ended(std::uint32_t rank, std::uint32_t operation) const { return times_(rank, steps_[rank].done[operation]).ended; }

 private:
  const std::vector<jobs::OperationSteps>& steps_;
  const StepLookup& times_;
  std::vector<std::vector<Instant>> began_;
};

double ns(Duration d) { return static_cast<double>(d.ps) / 1000; }

std::optional<InferenceFigures::Request> request(const jobs::Inference& inference, const jobs::Serving& serving, std::size_t n,
                                                 const OperationTimes& times) {
  const jobs::Request& planned = serving.requests[n];
  const jobs::RequestOperations& ops = serving.operations[n];
  Instant arrived = Instant::never(), prefill = Instant::never(), sent = Instant::never();
  Instant prefilled{}, there{}, first{}, last{};
  for (const jobs::PrefillOperations& o : ops.prefill) {
    arrived = std::min(arrived, times.ended(o.rank, o.arrival));
    prefill = std::min(prefill, times.began(o.rank, o.first));
    sent = std::min(sent, times.began(o.rank, o.first_send));
    prefilled = std::max(prefilled, times.ended(o.rank, o.last));
  }
  for (const jobs::DecodeOperations& o : ops.decode) {
    for (std::uint32_t i = o.first_receive; i < o.end_receives; ++i) there = std::max(there, times.ended(o.rank, i));
    first = std::max(first, times.ended(o.rank, o.first_token));
    last = std::max(last, times.ended(o.rank, o.last_token));
  }
  if (last == Instant::never()) return std::nullopt;
  InferenceFigures::Request r{.number = n, .prompt = planned.prompt, .output = planned.output, .prefill = planned.prefill,
                              .decode = planned.decode, .kv_bytes = jobs::kv_octets(inference, planned.prompt)};
  r.arrival_ns = ns(arrived - Instant{});
  r.queue_ns = ns(prefill - arrived);
  r.prefill_ns = ns(prefilled - prefill);
  r.kv_ns = ns(there - sent);
  r.kv_exposed_ns = ns(std::max(there - prefilled, Duration{}));
  r.ttft_ns = ns(first - arrived);
  if (planned.output > 1) r.tpot_ns = ns(last - first) / (planned.output - 1);
  r.latency_ns = ns(last - arrived);
  return r;
}

// Of intervals that may overlap, how much time they are.
Duration covered(std::vector<std::pair<Instant, Instant>> intervals) {
  std::ranges::sort(intervals);
  Duration all{};
  Instant until{};
  for (const auto& [from, to] : intervals) {
    if (to > std::max(from, until)) all = all + (to - std::max(from, until));
    until = std::max(until, to);
  }
  return all;
}

std::string pool_text(const jobs::Pool& pool) {
  return pool.replicas > 1 ? fmt::format("{} x tp {}", pool.replicas, pool.tp) : fmt::format("tp {}", pool.tp);
}

std::string time_of(double ns) { return nanoseconds_text(static_cast<std::uint64_t>(ns)); }

}  // namespace

Spread InferenceFigures::spread(double Request::*of) const {
  std::vector<double> values;
  for (const Request& r : requests) values.push_back(r.*of);
  return Spread::of(std::move(values));
}

Spread InferenceFigures::tpot() const {
  std::vector<double> values;
  for (const Request& r : requests)
    if (r.tpot_ns) values.push_back(*r.tpot_ns);
  return Spread::of(std::move(values));
}

std::optional<InferenceFigures> inference_figures(const spec::Lab& lab, const spec::CollectiveSpec& c,
                                                  const std::vector<spec::PortName>& nics, const StepLookup& times) {
  if (!c.is_job() || !c.job->inference) return std::nullopt;
  const jobs::Inference& inference = *c.job->inference;
  const jobs::Serving serving = jobs::serve(inference);
  std::vector<jobs::OperationSteps> steps;
  jobs::compile(*c.traced.graph, *c.traced.matches, spec::compile_options(lab, c, nics), &steps);
  const OperationTimes of(serving, steps, times);
  InferenceFigures out;
  out.parallelism = fmt::format("prefill {}, decode {}", pool_text(inference.prefill), pool_text(inference.decode));
  out.asked = serving.requests.size();
  double tokens = 0;
  double begin = 0, end = 0;
  for (std::size_t n = 0; n < serving.requests.size(); ++n) {
    const auto r = request(inference, serving, n, of);
    if (!r) continue;
    begin = out.requests.empty() ? r->arrival_ns : std::min(begin, r->arrival_ns);
    end = std::max(end, r->arrival_ns + r->latency_ns);
    tokens += r->output;
    out.requests.push_back(*r);
  }
  for (InferenceFigures::Request& r : out.requests) r.arrival_ns -= ns(c.start);
  out.duration_ns = end - begin;
  if (out.duration_ns > 0) {
    out.requests_per_second = static_cast<double>(out.requests.size()) * 1e9 / out.duration_ns;
    out.tokens_per_second = tokens * 1e9 / out.duration_ns;
  }
  for (std::uint32_t r = 0; r < c.traced.graph->ranks.size(); ++r) {
    std::vector<std::pair<Instant, Instant>> computing;
    for (std::uint32_t i = 0; i < c.traced.graph->ranks[r].size(); ++i) {
      const jobs::Operation& o = c.traced.graph->ranks[r][i];
      if (o.kind != jobs::Operation::Kind::kCompute || o.idle || o.time == Duration{}) continue;
      if (const Instant ended = of.ended(r, i); ended != Instant::never()) computing.emplace_back(of.began(r, i), ended);
    }
    out.busy.push_back(covered(std::move(computing)));
  }
  return out;
}

std::optional<InferenceFigures> inference_figures(const spec::Lab& lab, const build::Collective& collective) {
  for (const CollectiveRank* rank : collective.ranks)
    if (rank->record() == nullptr || rank->record()->repeats() == 0) return std::nullopt;
  return inference_figures(
      lab, lab.collectives[collective.spec], collective.rank_nics(),
      [&](std::uint32_t rank, std::uint32_t step) { return collective.ranks[rank]->record()->at(0, step); });
}

std::vector<NamedSpread> spreads(const InferenceFigures& f) {
  using R = InferenceFigures::Request;
  return {{"ttft", "time to first token", "from a request's arrival to the end of its first decode iteration", f.spread(&R::ttft_ns)},
          {"tpot", "time per output token", "of the tokens after the first", f.tpot()},
          {"latency", "latency, to the last token", "from a request's arrival to its last token", f.spread(&R::latency_ns)},
          {"queue", "waiting for prefill", "from a request's arrival until its prefill begins", f.spread(&R::queue_ns)},
          {"prefill", "prefill", "until all layers are computed", f.spread(&R::prefill_ns)},
          {"kv_transfer", "KV cache transfer", "from the first byte that is sent until all of it is there", f.spread(&R::kv_ns)},
          {"kv_exposed", "of it after prefill", "from the end of the prefill until all of it is there", f.spread(&R::kv_exposed_ns)}};
}

std::string inference_text(const std::string& name, const InferenceFigures& f) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  {}: {}; {} of {} requests complete", name, f.parallelism, f.requests.size(), f.asked);
  if (f.requests_per_second)
    fmt::format_to(out, " in {}: {:.4g} requests/s, {:.4g} tokens/s", time_of(f.duration_ns), *f.requests_per_second, *f.tokens_per_second);
  text += '\n';
  if (f.requests.empty()) return text;
  double bytes = 0;
  for (const InferenceFigures::Request& r : f.requests) bytes += static_cast<double>(r.kv_bytes);
  fmt::format_to(out, "  {}: KV cache of a request {} in the mean\n", name,
                 size_text(static_cast<std::uint64_t>(bytes / static_cast<double>(f.requests.size()))));
  fmt::format_to(out, "  {}: {:<30} {:>9} {:>9} {:>9} {:>9}\n", name, "per request", "mean", "p50", "p99", "max");
  for (const NamedSpread& s : spreads(f)) {
    if (s.ns.count == 0) continue;
    fmt::format_to(out, "  {}:   {:<28} {:>9} {:>9} {:>9} {:>9}\n", name, s.called, time_of(s.ns.mean), time_of(s.ns.p50),
                   time_of(s.ns.p99), time_of(s.ns.max));
  }
  return text;
}

std::string request_csv(const Report& report) {
  std::string out = "job,request,prompt,output,prefill,decode,arrival_ns,queue_ns,prefill_ns,kv_bytes,kv_transfer_ns,kv_exposed_ns,ttft_ns,"
                    "tpot_ns,latency_ns\n";
  for (const CollectiveReport& c : report.collectives) {
    if (!c.figures || !c.figures->inference) continue;
    for (const InferenceFigures::Request& r : c.figures->inference->requests)
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{:.0f},{:.0f},{:.0f},{},{:.0f},{:.0f},{:.0f},{},{:.0f}\n", csv_field(c.name),
                     r.number, r.prompt, r.output, r.prefill, r.decode, r.arrival_ns, r.queue_ns, r.prefill_ns, r.kv_bytes, r.kv_ns,
                     r.kv_exposed_ns, r.ttft_ns, r.tpot_ns ? fmt::format("{:.0f}", *r.tpot_ns) : std::string(), r.latency_ns);
  }
  return out;
}

}  // namespace railyard::report
