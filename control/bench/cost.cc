#include "control/bench/cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "control/bench/plan.h"
#include "control/spec/collective_ranks.h"
#include "control/workload/flow_plan.h"

namespace railyard::bench {
namespace {

// Packets of so many octets in messages of at most `message` octets.
double packets(double octets, double message, double mtu) {
  if (message <= 0 || message > octets) message = octets;
  return message > 0 ? octets / message * std::ceil(message / mtu) : 0;
}

// Of all flows of each traffic. Greedy flows share the NICs of the smaller side.
double packets_of_traffic(const spec::Lab& lab, const FabricFacts& fabric) {
  const double line = static_cast<double>(fabric.b_acc_bps) / 8;
  const double time = lab.run.duration ? seconds(*lab.run.duration) : 0;
  std::vector<double> octets(lab.traffic.size()), endless(lab.traffic.size());
  for (const workload::FlowPlan& f : workload::plan_flows(lab)) {
    const spec::TrafficSpec& t = lab.traffic[f.traffic];
    const Bytes bytes = f.bytes.value_or(t.bytes);
    if (bytes.n > 0)
      octets[f.traffic] += static_cast<double>(bytes.n);
    else
      endless[f.traffic] += t.rate ? static_cast<double>(t.rate->bps) / 8 * time : line * time;
  }
  double sum = 0;
  for (std::size_t i = 0; i < lab.traffic.size(); ++i) {
    const spec::TrafficSpec& t = lab.traffic[i];
    double all = octets[i] + std::min(endless[i], line * time * static_cast<double>(fabric.hosts));
    if (time > 0) all = std::min(all, line * time * static_cast<double>(fabric.hosts));
    sum += t.has_messages() ? packets(all, static_cast<double>(t.roce.message), t.roce.path_mtu)
                    : packets(all, 0, static_cast<double>(t.payload));
  }
  return sum;
}

// All-reduce moves each octet twice, other collectives once.
double packets_of_collectives(const spec::Lab& lab) {
  double sum = 0;
  for (const spec::CollectiveSpec& c : lab.collectives) {
    if (c.is_graph()) continue;
    const auto n = static_cast<double>(spec::ranks_at(lab, c).size());
    const double times = c.collective == spec::CollectiveOperation::kAllReduce ? 2 : 1;
    const double octets = times * static_cast<double>(c.size.n) * std::max(0.0, n - 1) * c.repeats;
    sum += packets(octets, std::min(static_cast<double>(c.chunk), static_cast<double>(c.size.n) / std::max(1.0, n)), c.path_mtu);
  }
  return sum;
}

}  // namespace

double expected_hops(const spec::Lab& lab, const FabricFacts& fabric) {
  return (packets_of_traffic(lab, fabric) + packets_of_collectives(lab)) * std::max(1, fabric.most_switches);
}

std::string pilot_lab() {
  return "name: pilot\n"
         "topology: { preset: leaf-spine, leaves: 2, spines: 8, hosts-per-leaf: 8 }\n"
         "switches: { default: { buffer: 32MiB } }\n"
         "hosts: { default: { roce: { ack-timeout: 10, loss-recovery: selective-repeat } } }\n"
         "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: auto, path: ecmp } } } }\n"
         "collectives: [{ name: all, collective: all-reduce, size: 4MiB, repeats: 8 }]\n";
}

Speed speed_of(double hops, double cpu_seconds) noexcept {
  Speed s;
  if (hops > 0 && cpu_seconds > 0) s.hops_per_second = hops / cpu_seconds;
  return s;
}

std::size_t runs_of(const Plan& plan) {
  const bool phases = std::ranges::any_of(plan.cases, [](const Case& c) { return c.moment.has_value(); });
  const double steps = plan.search ? std::ceil(std::log2(static_cast<double>(plan.search->last) + 1)) + 1 : phases ? 2 : 1;
  return plan.cases.size() * plan.seeds.size() * static_cast<std::size_t>(steps);
}

double seconds_of(const Plan& plan, const Speed& speed, std::size_t parallel) {
  double hops = 0;
  for (const Case& c : plan.cases) hops += c.hops;
  const auto each = static_cast<double>(runs_of(plan)) / static_cast<double>(std::max<std::size_t>(1, plan.cases.size()));
  const double work = hops * each / speed.hops_per_second + static_cast<double>(runs_of(plan)) * speed.seconds_per_run;
  // One run does not share its work.
  return work / static_cast<double>(std::clamp<std::size_t>(parallel, 1, std::max<std::size_t>(1, runs_of(plan))));
}

std::string duration_text(double s) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86'400;
  if (s < kMinute) return fmt::format("{:.0f} s", std::max(1.0, s));
  if (s < kHour) return fmt::format("{:.0f} min", s / kMinute);
  if (s < kDay) return fmt::format("{:.1f} h", s / kHour);
  return fmt::format("{:.1f} days", s / kDay);
}

}  // namespace railyard::bench
