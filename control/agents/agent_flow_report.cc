#include "control/agents/agent_flow_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/agents/modelled.h"
#include "control/report/flow_report.h"
#include "control/report/nic_name.h"
#include "transports/roce/flows/flow_endpoint.h"

namespace railyard::agents {
namespace {

using report::FlowReport;
using report::RoceReport;

report::Percentiles percentiles(const build::BuiltLab& lab, const MessageTimes& t) {
  const auto ns = [&](std::uint64_t wall) { return static_cast<std::uint64_t>(nanoseconds(modelled(lab, wall))); };
  return {ns(t.p50), ns(t.p90), ns(t.p99), ns(t.p999), ns(t.p9999), ns(t.max)};
}

std::string end_name(const build::BuiltLab& lab, const build::AgentFlow::End& end) {
  return fmt::format("{}{}", report::nic_name(lab, end.nic), end.is_agents() ? " (agent)" : "");
}

// Of whoever asks for the messages.
struct Asked {
  std::uint64_t messages = 0;
  std::uint64_t octets = 0;
  Instant last{};
  bool known = false;
};

Asked asked_by_agent(const build::BuiltLab& lab, const AgentFlowState& s, const FlowResult& of, RoceReport& r) {
  r.message_ns = percentiles(lab, of.message_ns);
  r.completion_errors = std::max(r.completion_errors, of.errors);
  if (!of.status.empty()) r.status = of.status;
  return {of.messages, of.octets, s.went + modelled(lab, of.last_ns), true};
}

Asked asked_here(const build::AgentFlow::End& end, RoceReport& r) {
  const roce::MessageCounters& m = end.end.nic->messages(end.place);
  r.message_ns = report::Percentiles::of(m.latency);
  r.completion_errors = std::max(r.completion_errors, m.errors);
  if (m.errors > 0) {
    r.status = roce::name(m.status);
    r.failed_ns = nanoseconds(m.failed_at - Instant{});
  }
  return {m.completed, m.octets, m.last, true};
}

void add_built_in_source(const build::AgentFlow::End& end, FlowReport& f) {
  const TxFlowCounters tx = end.end.nic->sent(end.place);
  f.bytes = tx.payload_octets;
  f.packets = tx.packets;
  f.requester_packets = tx.packets;
}

void add_built_in_sink(const build::AgentFlow::End& end, FlowReport& f) {
  const RxFlowCounters& rx = end.end.nic->received(end.place);
  f.delivered_bytes = rx.payload_octets;
  f.delivered_packets = rx.packets - rx.discarded;
  f.duplicated = rx.duplicated;
  f.arrived_packets = rx.packets;
  f.packets = std::max(f.packets, rx.packets);
  f.corrupted = rx.corrupted;
  f.marked = rx.marked;
  f.latency_ns = report::Percentiles::of(rx.latency);
  f.least_latency_ns = rx.latency.min() / 1000;
  f.roce->discarded = rx.discarded;
  f.roce->verified = end.end.nic->verified(end.place);
}

}  // namespace

FlowReport agent_flow_report(const build::BuiltLab& lab, const AgentFlowState& s) {
  const build::AgentFlow& what = *s.what;
  FlowReport f;
  f.name = what.plan.name;
  f.source = end_name(lab, what.source);
  f.destination = end_name(lab, what.sink);
  f.priority = what.priority.value;
  f.traffic = what.plan.traffic;
  f.roce.emplace();
  f.roce->operation = report::word(what.config.operation);
  f.roce->qps = static_cast<int>(what.config.qps);
  for (const bool sink : {false, true}) {
    const build::AgentFlow::End& end = sink ? what.sink : what.source;
    if (!end.is_agents())
      report::set_counters(*f.roce, end.end.nic->counters(end.place));
    else if (s.results[sink])
      f.roce->agents.push_back({end.nic.node, s.devices[sink], s.results[sink]->counters});
  }
  report::add_limits(lab, what.plan, what.config.total, what.config.rate, f);
  if (!s.failure.empty()) {
    f.roce->status = s.failure;
    f.roce->completion_errors = 1;
  }
  if (s.went == Instant::never()) return f;

  f.start_ns = nanoseconds(s.went - Instant{});
  Asked asked;
  if (!what.asker().is_agents())
    asked = asked_here(what.asker(), *f.roce);
  else if (const auto& result = s.results[!what.source_asks()])
    asked = asked_by_agent(lab, s, *result, *f.roce);
  f.roce->messages = asked.messages;
  f.bytes = f.delivered_bytes = asked.octets;
  if (!what.source.is_agents()) add_built_in_source(what.source, f);
  if (!what.sink.is_agents()) {
    add_built_in_sink(what.sink, f);
  } else if (s.results[1]) {
    f.delivered_bytes = s.results[1]->octets;
    f.roce->verified = s.results[1]->verified;
    f.corrupted = s.results[1]->wrong;
  }
  f.asked_bytes = static_cast<std::uint64_t>(what.config.total.n);
  // An agent may be ahead of devices that have had nothing to do.
  Instant end = std::min(what.config.stop, std::max(report::now_of(lab), asked.last));
  if (f.asked_bytes > 0 && asked.octets == f.asked_bytes) {
    f.fct_ns = nanoseconds(asked.last - s.went);
    end = asked.last;
  } else if (!s.failure.empty() || f.roce->completion_errors > 0) {
    end = std::min(end, asked.last);  // an agent says no more of when it failed
  }
  // Of an agent that has not said anything yet nothing is known.
  if (asked.known) report::set_goodput({s.went, end, asked.octets}, f);
  return f;
}

}  // namespace railyard::agents
