#include "control/daemon/agent_metrics.h"

#include <algorithm>

namespace railyard::daemon {
namespace {

using exposition::Workload;

constexpr std::uint64_t kPsPerNs = 1000;
constexpr double kNsPerSecond = 1e9;

// What has come to `total` since `seen`; a run that was begun anew counts from 0.
void count(std::uint64_t& total, std::uint64_t& seen, std::uint64_t now) {
  total += now < seen ? now : now - seen;
  seen = now;
}

Workload::Collective collective(const report::CollectiveReport& c) {
  Workload::Collective out;
  out.name = c.name;
  out.started = c.iterations.size();
  for (const report::CollectiveReport::Repeat& r : c.iterations) {
    if (!r.time_ns) continue;
    ++out.done;
    out.times.record(static_cast<std::uint64_t>(*r.time_ns) * kPsPerNs);
    if (*r.time_ns <= 0 || c.job || c.bytes == 0) continue;
    out.algbw = static_cast<double>(c.bytes) / (static_cast<double>(*r.time_ns) / kNsPerSecond);
    out.busbw = *out.algbw * c.factor;
  }
  out.progress = c.repeats > 0 ? static_cast<double>(out.done) / c.repeats : 0;
  return out;
}

}  // namespace

void AgentMetrics::add(const std::vector<report::FlowReport>& flows,
                       const std::vector<report::CollectiveReport>& collectives, exposition::Workload& to) {
  for (auto& [priority, group] : by_priority_) group.waiting = group.active = group.complete = group.failed = 0;
  for (const report::FlowReport& f : flows) {
    Workload::Flows& group = by_priority_[f.priority];
    group.transport = "roce/agents";
    group.priority = f.priority;
    Seen& seen = seen_[f.name];
    if (f.fct_ns) {
      ++group.complete;
      if (seen.completed_from != f.start_ns) group.completion.record(static_cast<std::uint64_t>(*f.fct_ns) * kPsPerNs);
      seen.completed_from = f.start_ns;
    } else {
      ++(f.failed() ? group.failed : f.start_ns == 0 ? group.waiting : group.active);
    }
    count(group.sent_octets, seen.sent, f.bytes);
    count(group.delivered_octets, seen.delivered, f.delivered_bytes);
    count(group.retransmitted, seen.retransmitted, f.retransmitted());
    count(group.reordered, seen.reordered, f.out_of_order());
  }
  for (const auto& [priority, group] : by_priority_) to.flows.push_back(group);
  for (const report::CollectiveReport& c : collectives)
    if (to.collectives.size() < Workload::kMostCollectives) to.collectives.push_back(collective(c));
}

}  // namespace railyard::daemon
