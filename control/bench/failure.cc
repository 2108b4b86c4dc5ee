#include "control/bench/failure.h"

#include <algorithm>

namespace railyard::bench {
namespace {

struct Iteration {
  double start = 0, time = 0;

  double end() const noexcept { return start + time; }
};

std::vector<Iteration> completed(const ReportJson& report) {
  std::vector<Iteration> out;
  const ReportJson* const c = collective_of(report, "");
  if (c == nullptr) return out;
  for (const auto& i : (*c)["iterations"]) {
    const auto start = number(i["start_ns"]);
    const auto time = number(i["time_ns"]);
    if (start && time) out.push_back({*start, *time});
  }
  return out;
}

std::optional<double> failed_at(const ReportJson& report) {
  const ReportJson* const at = pointed(report, "/reroutings/0/began_ns");
  return at == nullptr ? std::nullopt : number(*at);
}

// Routing is at rest, and the last packet is lost.
double settled_at(const ReportJson& report, double failed) {
  double rest = failed;
  for (const auto& r : list_of(report, "reroutings"))
    for (const char* end : {"last_change_ns", "last_lost_ns"})
      if (const auto ns = number(r[end])) rest = std::max(rest, *ns);
  return rest;
}

// A fabric that has lost a link may stay slower: the new mean is that of the second half of what follows.
double recovered_at(const std::vector<Iteration>& after, double failed) {
  constexpr double kWithin = 1.1;
  if (after.empty()) return failed;
  std::vector<double> later;
  for (std::size_t i = after.size() / 2; i < after.size(); ++i) later.push_back(after[i].time);
  const double most = kWithin * mean_of(later);
  double last = failed;
  for (const Iteration& i : after)
    if (i.time > most) last = i.end();
  return last;
}

}  // namespace

std::optional<Failure> failure_of(const ReportJson& report) {
  const auto at = failed_at(report);
  if (!at) return std::nullopt;
  const double rest = settled_at(report, *at);
  Failure f;
  f.at = *at;
  std::vector<Iteration> after;
  const std::vector<Iteration> all = completed(report);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].start <= *at) f.phase = *at - all[i].start;
    if (all[i].end() < *at) {
      if (i > 0) f.steady.push_back(all[i].time);
      continue;
    }
    after.push_back(all[i]);
    if (all[i].start <= rest) f.during = std::max(f.during, all[i].time);
  }
  if (after.empty() || f.steady.empty()) return std::nullopt;
  if (f.during == 0) f.during = after.front().time;
  f.recovered = recovered_at(after, *at);
  return f;
}

std::optional<double> loss_duration(const ReportJson& report) {
  std::optional<double> first, last;
  for (const auto& r : list_of(report, "reroutings")) {
    if (const auto ns = number(r["first_lost_ns"])) first = first ? std::min(*first, *ns) : *ns;
    if (const auto ns = number(r["last_lost_ns"])) last = last ? std::max(*last, *ns) : *ns;
  }
  if (first && last) return *last - *first;
  return list_of(report, "reroutings").empty() ? std::nullopt : std::optional(0.0);
}

std::optional<double> lost_while_rerouting(const ReportJson& report) {
  if (list_of(report, "reroutings").empty()) return std::nullopt;
  double lost = 0;
  for (const auto& r : list_of(report, "reroutings")) lost += number(r["lost_packets"]).value_or(0);
  return lost;
}

std::optional<double> loss_by_rate(const ReportJson& report) {
  const auto lost = lost_while_rerouting(report);
  const auto failure = failure_of(report);
  const ReportJson* const c = collective_of(report, "");
  if (!lost || !failure || c == nullptr) return std::nullopt;
  const double computing = (*c)["job"].is_object() ? number((*c)["job"]["compute_ns"]).value_or(0) : 0;
  const double sending = mean_of(failure->steady) - computing;
  const double packets = number((*c)["packets"]).value_or(0) / static_cast<double>((*c)["iterations"].size());
  return packets > 0 ? std::optional(*lost / packets * sending) : std::nullopt;
}

std::optional<double> route_convergence(const ReportJson& report) {
  std::optional<double> longest;
  for (const auto& r : list_of(report, "reroutings")) {
    const auto began = number(r["began_ns"]);
    const auto last = number(r["last_change_ns"]);
    if (began && last) longest = std::max(longest.value_or(0), *last - *began);
  }
  return longest;
}

}  // namespace railyard::bench
