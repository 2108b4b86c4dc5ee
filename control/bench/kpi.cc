#include "control/bench/kpi.h"

#include <algorithm>
#include <cmath>

#include "control/bench/connection_figures.h"
#include "control/bench/failure.h"
#include "control/bench/kpi_parts.h"
#include "control/bench/memory_growth.h"
#include "control/bench/shared_links.h"
#include "control/report/compare.h"
#include "control/spec/value.h"

namespace railyard::bench {
namespace {

using Json = ReportJson;

// A distribution of a report: so much of all samples is at or below each value.
struct Distribution {
  double samples = 0;
  std::vector<std::pair<double, double>> points;  // (fraction, ns), both rising

  // The part at or below `ns`: between two points as a straight line has it.
  double below(double ns) const {
    if (points.empty() || ns < points.front().second) return 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto& [f0, v0] = points[i - 1];
      const auto& [f1, v1] = points[i];
      if (ns >= v1) continue;
      return f0 + (f1 - f0) * (ns - v0) / (v1 - v0);
    }
    return 1;
  }
};

std::optional<Distribution> distribution_of(const Json& report, const std::string& pointer) {
  const Json* j = pointed(report, pointer);
  if (j == nullptr || !j->is_object() || !j->contains("points")) return std::nullopt;
  Distribution d{(*j)["samples"].get<double>(), {}};
  for (const auto& p : (*j)["points"]) d.points.emplace_back(p[0].get<double>(), p[1].get<double>());
  return d;
}

// Of the mixture of the trials, each by its samples. Points are dense at the tail (report.json), and the value of one
// of them: nothing is made up.
std::optional<double> percentile(const std::vector<Distribution>& all, double fraction) {
  std::vector<double> values;
  double samples = 0;
  for (const Distribution& d : all) {
    samples += d.samples;
    for (const auto& p : d.points) values.push_back(p.second);
  }
  if (values.empty() || samples == 0) return std::nullopt;
  std::ranges::sort(values);
  constexpr double kRounding = 1e-9;
  for (const double v : values) {
    double below = 0;
    for (const Distribution& d : all) below += d.below(v) * d.samples;
    if (below / samples >= fraction - kRounding) return v;
  }
  return values.back();
}

// Means of a distribution come from its points, by trapezoids.
double mean(const Distribution& d) {
  double sum = 0;
  for (std::size_t i = 1; i < d.points.size(); ++i)
    sum += (d.points[i].first - d.points[i - 1].first) * (d.points[i].second + d.points[i - 1].second) / 2;
  return sum;
}

Value pooled(const Kpi& kpi, const std::vector<Trial>& trials) {
  Value v{.pooled = true};
  std::vector<Distribution> all;
  for (const Trial& t : trials)
    if (auto d = distribution_of(t.report, kpi.of)) all.push_back(std::move(*d));
  double samples = 0;
  double sum = 0;
  for (const Distribution& d : all) {
    samples += d.samples;
    sum += mean(d) * d.samples;
    if (kpi.at == "samples")
      v.by_trial.push_back(d.samples);
    else if (kpi.at == "mean")
      v.by_trial.push_back(mean(d));
    else
      v.by_trial.push_back(percentile({d}, fraction_of(kpi.at)).value_or(0));
  }
  v.samples = static_cast<std::uint64_t>(samples);
  if (samples == 0) return v;
  v.value = kpi.at == "samples" ? std::optional(samples)
            : kpi.at == "mean"  ? std::optional(sum / samples)
                                : percentile(all, fraction_of(kpi.at));
  return v;
}

// Of the values that each trial has many of: the statistic of all of them together.
template <class F>
Value of_all(const Kpi& kpi, const std::vector<Trial>& trials, F f) {
  Value v{.pooled = true};
  std::vector<double> all;
  for (const Trial& t : trials) {
    const std::vector<double> own = f(t.report);
    if (const auto s = statistic(own, kpi.at)) v.by_trial.push_back(*s);
    all.insert(all.end(), own.begin(), own.end());
  }
  v.samples = all.size();
  v.value = statistic(all, kpi.at);
  return v;
}

Value of_iterations(const Kpi& kpi, const std::vector<Trial>& trials) {
  return of_all(kpi, trials, [&](const Json& report) { return iterations(report, kpi.of); });
}

// Percentiles are of times: a P99 of BusBW is that of the P99 of the time, its bad end.
Value busbw(const Kpi& kpi, const std::vector<Trial>& trials) {
  Value v = of_iterations(kpi, trials);
  double bits = 0;
  for (const Trial& t : trials)
    if (const Json* c = collective_of(t.report, kpi.of))
      bits = number((*c)["bytes"]).value_or(0) * 8 * number((*c)["busbw_factor"]).value_or(0);
  const auto rate = [&](double ns) { return ns > 0 ? bits / ns * 1e9 : 0; };
  for (double& x : v.by_trial) x = rate(x);
  if (v.value) v.value = rate(*v.value);
  return v;
}

// One number of each trial, and their mean.
template <class F>
Value each(const std::vector<Trial>& trials, F number_of) {
  Value v;
  for (const Trial& t : trials)
    if (const std::optional<double> x = number_of(t)) v.by_trial.push_back(*x);
  v.samples = v.by_trial.size();
  if (!v.by_trial.empty()) v.value = mean_of(v.by_trial);
  return v;
}

// Measured / (iterations x (computing + communication at line rate)).
std::optional<double> jct_ratio(const Json& report, double b_acc_bps) {
  const Json* c = pointed(report, "/collectives/0");
  const std::vector<double> times = iterations(report);
  if (c == nullptr || times.empty() || b_acc_bps <= 0) return std::nullopt;
  const double communication =
      number((*c)["bytes"]).value_or(0) * 8 * number((*c)["busbw_factor"]).value_or(0) / b_acc_bps * 1e9;
  const double computing = number((*c)["job"].is_object() ? (*c)["job"]["compute_ns"] : Json(0.0)).value_or(0);
  const double roofline = computing + communication;
  return roofline > 0 ? std::optional(mean_of(times) / roofline) : std::nullopt;
}

// Of all packets that receivers got, of traffic and collectives.
std::optional<double> ecn_ratio(const Json& report) {
  double marked = 0;
  double packets = 0;
  for (const auto& t : list_of(report, "traffic")) {
    marked += number(t["marked"]).value_or(0);
    packets += number(t["packets"]).value_or(0);
  }
  for (const auto& c : list_of(report, "collectives")) {
    marked += number(c["ecn_marked"]).value_or(0);
    packets += number(c["packets"]).value_or(0);
  }
  return packets > 0 ? std::optional(marked / packets) : std::nullopt;
}

std::optional<double> class_counter(const Json& report, const std::string& name) {
  double sum = 0;
  for (const auto& port : list_of(report, "ports"))
    for (const auto& c : list_of(port, "classes"))
      if (const auto at = c.find(name); at != c.end()) sum += number(*at).value_or(0);
  return sum;
}

std::optional<double> per_second(const Json& report, const std::string& figure) {
  const auto x = report::figure_of(report, figure);
  const double from = report["load_interval"]["from_ns"].get<double>();
  const double to = report["load_interval"]["to_ns"].get<double>();
  return x && to > from ? std::optional(*x / (to - from) * 1e9) : std::nullopt;
}

// KPIs of the iteration that a failure falls into.
std::optional<double> of_failure(const std::string& function, const Json& report) {
  const auto failure = failure_of(report);
  if (!failure) return std::nullopt;
  if (function == "failure-overhead") return failure->during - mean_of(failure->steady);
  if (function == "failure-phase") return failure->phase / mean_of(failure->steady);
  if (function == "recovery-time") return failure->recovered - failure->at;
  return failure->during <= *statistic(failure->steady, "p99") ? 1 : 0;  // zero-impact
}

std::optional<double> of_memory(const Kpi& kpi, const Json& report) {
  if (kpi.function == "memory") return memory_at(report, kpi.at);
  if (kpi.function == "open-files") return open_files_grown(report);
  const auto growth = memory_growth(report);
  if (!growth) return std::nullopt;
  return kpi.function == "memory-slope" ? growth->bytes_per_hour : growth->margin;
}

// Functions that have one number of a report.
std::optional<double> of_report(const Kpi& kpi, const Json& report, double b_acc_bps) {
  const std::string& f = kpi.function;
  if (f == "jct-ratio") return jct_ratio(report, b_acc_bps);
  if (f == "ecn-ratio") return ecn_ratio(report);
  if (f == "per-second") return per_second(report, kpi.of);
  if (f == "class-counter") return class_counter(report, kpi.of);
  if (f == "setup-rate") return setup_rate(report);
  if (f == "shared-links") return shared_links(report, kpi.of);
  if (f == "loss-duration") return loss_duration(report);
  if (f == "loss-by-rate") return loss_by_rate(report);
  if (f == "packets-lost") return lost_while_rerouting(report);
  if (f == "route-convergence") return route_convergence(report);
  if (f.starts_with("memory") || f == "open-files") return of_memory(kpi, report);
  if (f == "ratio" || f == "deviation" || f == "largest") return std::nullopt;  // compare_cases()
  return of_failure(f, report);
}

}  // namespace

double Value::min() const { return *std::ranges::min_element(by_trial); }
double Value::max() const { return *std::ranges::max_element(by_trial); }

std::optional<double> Value::cv() const {
  if (by_trial.size() < 2) return std::nullopt;
  const double m = mean_of(by_trial);
  if (m == 0) return std::nullopt;
  double squares = 0;
  for (const double x : by_trial) squares += (x - m) * (x - m);
  return std::sqrt(squares / static_cast<double>(by_trial.size() - 1)) / std::abs(m);
}

Value evaluate(const Kpi& kpi, const std::vector<Trial>& trials, double b_acc_bps) {
  Value v;
  const std::string& f = kpi.function;
  if (f.empty())
    v = each(trials, [&](const Trial& t) { return report::figure_of(t.report, kpi.figure); });
  else if (f == "searched")
    v = each(trials, [](const Trial& t) { return t.searched; });
  else if (f == "pooled")
    v = pooled(kpi, trials);
  else if (f == "iteration-time")
    v = of_iterations(kpi, trials);
  else if (f == "busbw")
    v = busbw(kpi, trials);
  else if (f == "first-byte")
    v = of_all(kpi, trials, first_bytes);
  else if (f == "busbw-efficiency") {
    v = busbw(kpi, trials);
    if (b_acc_bps <= 0) return {};
    for (double& x : v.by_trial) x /= b_acc_bps;
    if (v.value) v.value = *v.value / b_acc_bps;
  } else {
    v = each(trials, [&](const Trial& t) { return of_report(kpi, t.report, b_acc_bps); });
  }
  for (double& x : v.by_trial) x *= kpi.scale;
  if (v.value) v.value = *v.value * kpi.scale;
  return v;
}

}  // namespace railyard::bench
