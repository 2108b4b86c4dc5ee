#include "control/bench/kpi.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "control/report/compare.h"
#include "control/report/percentiles.h"
#include "control/spec/value.h"

namespace railyard::bench {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> number(const Json& j) { return j.is_number() ? std::optional(j.get<double>()) : std::nullopt; }

const Json* pointed(const Json& report, const std::string& pointer) {
  const nlohmann::json_pointer<std::string> p(pointer);
  return report.contains(p) ? &report[p] : nullptr;
}

// A list of the report; an empty one if it has none.
const Json& list_of(const Json& report, const char* name) {
  static const Json kEmpty = Json::array();
  const auto at = report.find(name);
  return at == report.end() ? kEmpty : *at;
}

double fraction_of(const std::string& at) {
  if (at == "min") return 0;
  if (at == "p50") return 0.5;
  if (at == "p95") return 0.95;
  if (at == "p99") return 0.99;
  if (at == "p999") return 0.999;
  return 1;  // max
}

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

// Times of the iterations of the first collective or job that completed, ns. The first one warms up and is left out if
// there are others.
std::vector<double> iterations(const Json& report) {
  std::vector<double> out;
  const Json* all = pointed(report, "/collectives/0/iterations");
  if (all == nullptr) return out;
  for (std::size_t i = all->size() > 1 ? 1 : 0; i < all->size(); ++i)
    if (const auto ns = number((*all)[i]["time_ns"])) out.push_back(*ns);
  return out;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> statistic(std::vector<double> values, const std::string& at) {
  if (values.empty()) return std::nullopt;
  if (at == "mean") return mean_of(values);
  std::ranges::sort(values);
  if (at == "min") return values.front();
  return report::nearest_rank(values, fraction_of(at));
}

Value of_iterations(const Kpi& kpi, const std::vector<Trial>& trials) {
  Value v{.pooled = true};
  std::vector<double> all;
  for (const Trial& t : trials) {
    const std::vector<double> own = iterations(t.report);
    if (const auto s = statistic(own, kpi.at)) v.by_trial.push_back(*s);
    all.insert(all.end(), own.begin(), own.end());
  }
  v.samples = all.size();
  v.value = statistic(all, kpi.at);
  return v;
}

// Percentiles are of times: a P99 of BusBW is that of the P99 of the time, its bad end.
Value busbw(const Kpi& kpi, const std::vector<Trial>& trials) {
  Value v = of_iterations(kpi, trials);
  double bits = 0;
  for (const Trial& t : trials)
    if (const Json* c = pointed(t.report, "/collectives/0"))
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

// The first instant at which a link or switch failed; nothing: none did.
std::optional<double> failed_at(const Json& report) {
  const Json* at = pointed(report, "/reroutings/0/began_ns");
  return at == nullptr ? std::nullopt : number(*at);
}

// The longest iteration that the failure falls into or that begins before routing is at rest, and all before the
// failure.
struct Failure {
  double during = 0;
  std::vector<double> steady;
};
std::optional<Failure> failure_of(const Json& report) {
  const auto at = failed_at(report);
  const Json* all = pointed(report, "/collectives/0/iterations");
  if (!at || all == nullptr) return std::nullopt;
  double rest = *at;
  for (const auto& r : list_of(report, "reroutings"))
    for (const char* end : {"last_change_ns", "last_lost_ns"})
      if (const auto ns = number(r[end])) rest = std::max(rest, *ns);
  Failure f;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto time = number((*all)[i]["time_ns"]);
    const auto start = number((*all)[i]["start_ns"]);
    if (!time || !start) continue;
    if (*start + *time < *at) {
      if (i > 0) f.steady.push_back(*time);
    } else if (*start <= rest) {
      f.during = std::max(f.during, *time);
    }
  }
  if (f.during == 0 || f.steady.empty()) return std::nullopt;
  return f;
}

std::optional<double> loss_duration(const Json& report) {
  std::optional<double> first, last;
  for (const auto& r : list_of(report, "reroutings")) {
    if (const auto ns = number(r["first_lost_ns"])) first = first ? std::min(*first, *ns) : *ns;
    if (const auto ns = number(r["last_lost_ns"])) last = last ? std::max(*last, *ns) : *ns;
  }
  if (first && last) return *last - *first;
  return list_of(report, "reroutings").empty() ? std::nullopt : std::optional(0.0);
}

std::optional<double> lost_while_rerouting(const Json& report) {
  if (list_of(report, "reroutings").empty()) return std::nullopt;
  double lost = 0;
  for (const auto& r : list_of(report, "reroutings")) lost += number(r["lost_packets"]).value_or(0);
  return lost;
}

std::optional<double> convergence(const Json& report) {
  std::optional<double> longest;
  for (const auto& r : list_of(report, "reroutings")) {
    const auto began = number(r["began_ns"]);
    const auto last = number(r["last_change_ns"]);
    if (began && last) longest = std::max(longest.value_or(0), *last - *began);
  }
  return longest;
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
  else if (f == "busbw-efficiency") {
    v = busbw(kpi, trials);
    if (b_acc_bps <= 0) return {};
    for (double& x : v.by_trial) x /= b_acc_bps;
    if (v.value) v.value = *v.value / b_acc_bps;
  } else if (f == "jct-ratio")
    v = each(trials, [&](const Trial& t) { return jct_ratio(t.report, b_acc_bps); });
  else if (f == "ecn-ratio")
    v = each(trials, [](const Trial& t) { return ecn_ratio(t.report); });
  else if (f == "per-second")
    v = each(trials, [&](const Trial& t) { return per_second(t.report, kpi.of); });
  else if (f == "class-counter")
    v = each(trials, [&](const Trial& t) { return class_counter(t.report, kpi.of); });
  else if (f == "loss-duration")
    v = each(trials, [](const Trial& t) { return loss_duration(t.report); });
  else if (f == "packets-lost")
    v = each(trials, [](const Trial& t) { return lost_while_rerouting(t.report); });
  else if (f == "route-convergence")
    v = each(trials, [](const Trial& t) { return convergence(t.report); });
  else if (f == "failure-overhead")
    v = each(trials, [](const Trial& t) {
      const auto failure = failure_of(t.report);
      return failure ? std::optional(failure->during - mean_of(failure->steady)) : std::nullopt;
    });
  else if (f == "zero-impact")
    v = each(trials, [](const Trial& t) -> std::optional<double> {
      const auto failure = failure_of(t.report);
      if (!failure) return std::nullopt;
      return failure->during <= *statistic(failure->steady, "p99") ? 1 : 0;
    });
  for (double& x : v.by_trial) x *= kpi.scale;
  if (v.value) v.value = *v.value * kpi.scale;
  return v;
}

void compare_cases(const std::vector<Kpi>& kpis, std::vector<CaseValues>& cases) {
  for (std::size_t k = 0; k < kpis.size(); ++k) {
    const Kpi& kpi = kpis[k];
    if (kpi.function != "ratio" && kpi.function != "deviation") continue;
    const auto of = static_cast<std::size_t>(std::ranges::find(kpis, kpi.of, &Kpi::name) - kpis.begin());
    if (of == kpis.size()) continue;
    const auto& [param, value] = kpi.against;
    for (CaseValues& c : cases) {
      const Value& here = c.values[of];
      std::optional<double> base;
      if (kpi.function == "deviation") {
        const auto said = std::ranges::find(c.params, param, &std::pair<std::string, std::string>::first);
        if (said == c.params.end()) continue;
        if (const auto size = spec::parse_size(said->second)) base = static_cast<double>(size->n);
      } else {
        std::vector<std::pair<std::string, std::string>> wanted = c.params;
        for (auto& p : wanted)
          if (p.first == param) p.second = value;
        const auto other = std::ranges::find(cases, wanted, &CaseValues::params);
        if (other != cases.end()) base = other->values[of].value;
      }
      if (!here.value || !base || *base == 0) continue;
      const double shift = kpi.function == "deviation" ? 1 : 0;
      c.values[k] = {(*here.value / *base - shift) * kpi.scale, {}, here.samples, here.pooled};
    }
  }
}

}  // namespace railyard::bench
