#include "control/exposition/workload_metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "control/collectives/registry.h"
#include "control/spec/collective_ranks.h"

namespace railyard::exposition {
namespace {

using Type = Exposition::Type;

// From 1 us to 100 ms, and from 10 us to 100 s: 1, 2, 5 of each power of ten.
template <std::size_t kN>
constexpr std::array<std::uint64_t, kN> bounds_from(std::uint64_t ps) {
  std::array<std::uint64_t, kN> out{};
  constexpr std::array<std::uint64_t, 3> kSteps{1, 2, 5};
  for (std::size_t i = 0; i < kN; ++i) {
    out[i] = ps * kSteps[i % 3];
    if (i % 3 == 2) ps *= 10;
  }
  return out;
}
constexpr auto kLatencyBounds = bounds_from<16>(1'000'000);
constexpr auto kTimeBounds = bounds_from<22>(10'000'000);

bool failed(const build::Flow& flow) {
  if (flow.is_roce()) return flow.messages().errors > 0;
  return flow.is_uet() && flow.uet->messages().errors > 0;
}

void add(Workload::Flows& group, const build::Flow& flow, Instant now) {
  const RxFlowCounters& rx = flow.received();
  const Instant start = flow.started();
  if (const std::optional<Instant> complete = flow.complete()) {
    ++group.complete;
    group.completion.record(static_cast<std::uint64_t>((*complete - start).ps));
  } else {
    ++(start == Instant::never() || start > now ? group.waiting : failed(flow) ? group.failed : group.active);
  }
  group.sent_octets += flow.sent().payload_octets;
  group.delivered_octets += rx.payload_octets;
  group.retransmitted += flow.is_roce()  ? flow.qps().retransmitted_packets
                         : flow.is_uet() ? flow.uet->sent().retransmitted
                                         : 0;
  group.reordered += rx.reordered;
  group.latency.merge(rx.latency);
}

Workload::Collective collective(const build::BuiltLab& lab, const build::Collective& c) {
  const spec::CollectiveSpec& spec = lab.spec().collectives[c.spec];
  Workload::Collective out;
  out.name = spec.name;
  std::uint64_t repeats = 0;
  for (const CollectiveRank* rank : c.ranks) {
    repeats += static_cast<std::uint64_t>(
        std::ranges::count_if(rank->finished(), [](Instant at) { return at != Instant::never(); }));
    out.started = std::max<std::uint64_t>(out.started, rank->started().size());
  }
  const std::uint64_t asked = std::uint64_t{c.ranks[0]->config().repeats} * c.ranks.size();
  out.progress = asked > 0 ? static_cast<double>(repeats) / static_cast<double>(asked) : 0;
  // A repeat is done when all ranks have their result.
  for (std::size_t k = 0; k < out.started; ++k) {
    Instant start = Instant::never();
    Instant end{};
    for (const CollectiveRank* rank : c.ranks) {
      if (!spec::takes_part(spec, c.rank_count(), rank->program().rank, k)) continue;
      const bool has = k < rank->started().size();
      if (has) start = std::min(start, rank->started()[k]);
      end = std::max(end, has ? rank->finished()[k] : Instant::never());
    }
    if (end == Instant::never()) continue;
    ++out.done;
    const Duration took = end - start;
    out.times.record(static_cast<std::uint64_t>(took.ps));
    if (took <= Duration{} || spec.computes() || spec.size.n <= 0) continue;
    out.algbw = static_cast<double>(spec.size.n) / seconds(took);
    out.busbw = *out.algbw * collectives::busbw_factor(spec.collective, static_cast<std::uint32_t>(c.ranks.size()));
  }
  return out;
}

// Families of which each group has one sample.
template <class Of, class Value>
void each(Exposition& out, std::string_view name, Type type, std::string_view help, const std::vector<Of>& groups,
          Value value) {
  out.family(name, type, help);
  for (const Of& g : groups) value(g);
}

void add_flows(Exposition& out, const std::vector<Workload::Flows>& flows) {
  using Flows = Workload::Flows;
  const auto labels = [](const Flows& f, const std::string& priority) {
    return std::array{Label{"transport", f.transport}, Label{"class", priority}};
  };
  const auto numbers = [&](std::string_view name, std::string_view help, std::uint64_t Flows::*of) {
    each(out, name, Type::kCounter, help, flows, [&](const Flows& f) {
      const std::string priority = std::to_string(f.priority);
      out.sample(labels(f, priority), f.*of);
    });
  };
  each(out, "railyard_flows", Type::kGauge, "Flows by what they are doing.", flows, [&](const Flows& f) {
    const std::string priority = std::to_string(f.priority);
    for (const auto& [state, n] : {std::pair<std::string_view, std::uint64_t>{"waiting", f.waiting},
                                   {"active", f.active},
                                   {"complete", f.complete},
                                   {"failed", f.failed}})
      out.sample(std::array{Label{"transport", f.transport}, Label{"class", priority}, Label{"state", state}}, n);
  });
  numbers("railyard_flow_sent_bytes", "Payload that flows have sent, retransmissions included.", &Flows::sent_octets);
  numbers("railyard_flow_delivered_bytes", "Payload of flows that has arrived, each byte once.", &Flows::delivered_octets);
  numbers("railyard_flow_retransmitted_packets", "Packets that flows have retransmitted.", &Flows::retransmitted);
  numbers("railyard_flow_reordered_packets", "Packets of flows that arrived behind a later one.", &Flows::reordered);
  const auto distributions = [&](std::string_view name, std::string_view help, Histogram Flows::*of, const auto& bounds) {
    each(out, name, Type::kHistogram, help, flows, [&](const Flows& f) {
      const std::string priority = std::to_string(f.priority);
      out.histogram(labels(f, priority), f.*of, bounds);
    });
  };
  distributions("railyard_packet_latency_seconds", "From the first byte sent to the packet handed over.", &Flows::latency,
                kLatencyBounds);
  distributions("railyard_flow_completion_seconds", "Flow completion time, of flows that are complete.", &Flows::completion,
                kTimeBounds);
}

void add_collectives(Exposition& out, const std::vector<Workload::Collective>& all) {
  using Collective = Workload::Collective;
  const auto label = [](const Collective& c) { return std::array{Label{"collective", c.name}}; };
  each(out, "railyard_collective_started", Type::kCounter, "Repeats that a rank has started.", all,
       [&](const Collective& c) { out.sample(label(c), c.started); });
  each(out, "railyard_collective_completed", Type::kCounter, "Repeats of which all ranks have the result.", all,
       [&](const Collective& c) { out.sample(label(c), c.done); });
  each(out, "railyard_collective_progress_ratio", Type::kGauge, "Part of the ranks' repeats that is done.", all,
       [&](const Collective& c) { out.sample(label(c), c.progress); });
  each(out, "railyard_collective_algbw_bytes_per_second", Type::kGauge, "Size over time of the last complete repeat.", all,
       [&](const Collective& c) { if (c.algbw) out.sample(label(c), *c.algbw); });
  each(out, "railyard_collective_busbw_bytes_per_second", Type::kGauge,
       "algbw times the factor of nccl-tests, of the last complete repeat.", all,
       [&](const Collective& c) { if (c.busbw) out.sample(label(c), *c.busbw); });
  each(out, "railyard_collective_seconds", Type::kHistogram, "Time of complete repeats.", all,
       [&](const Collective& c) { out.histogram(label(c), c.times, kTimeBounds); });
}

}  // namespace

Workload count_workload(const build::BuiltLab& lab, Instant now) {
  Workload out;
  std::map<std::pair<std::string_view, int>, Workload::Flows> groups;
  for (const build::Flow& flow : lab.flows()) {
    const std::string_view transport = flow.is_roce() ? "roce" : flow.is_uet() ? "uet" : "none";
    Workload::Flows& group = groups[{transport, flow.priority.value}];
    group.transport = transport;
    group.priority = flow.priority.value;
    add(group, flow, now);
  }
  for (auto& [key, group] : groups) out.flows.push_back(std::move(group));
  const std::size_t n = std::min(lab.collectives().size(), Workload::kMostCollectives);
  for (std::size_t i = 0; i < n; ++i) out.collectives.push_back(collective(lab, lab.collectives()[i]));
  return out;
}

void add_workload(Exposition& out, const Workload& w) {
  const auto one = [&](std::string_view name, Type type, std::string_view help, auto value) {
    out.family(name, type, help);
    out.sample({}, value);
  };
  if (!w.flows.empty()) add_flows(out, w.flows);
  if (!w.collectives.empty()) add_collectives(out, w.collectives);
  one("railyard_reroutings", Type::kCounter, "Times that routing has reacted to links or switches.", w.routing.reroutings);
  one("railyard_route_table_changes", Type::kCounter, "Changes of a switch's forwarding table.", w.routing.table_changes);
  one("railyard_route_changes", Type::kCounter, "Destinations in these changes.", w.routing.routes);
  one("railyard_routing_at_rest", Type::kGauge, "1 if no table is about to change, else 0.",
      std::uint64_t{w.routing.at_rest ? 1u : 0u});
  one("railyard_route_convergence_seconds", Type::kCounter,
      "From the first cause to the last change of a table, of all reroutings together.", w.routing.convergence_seconds);
  one("railyard_route_last_convergence_seconds", Type::kGauge, "The same of the last rerouting.",
      w.routing.last_convergence_seconds);
  one("railyard_rerouting_lost_packets", Type::kCounter, "Packets that were lost to links and ways that went away.",
      w.routing.lost);
  if (!w.deadlocks) return;
  one("railyard_deadlocks", Type::kCounter, "Deadlocks that were seen.", w.deadlocks->seen);
  one("railyard_deadlocks_standing", Type::kGauge, "Deadlocks that last.", w.deadlocks->now);
}

}  // namespace railyard::exposition
