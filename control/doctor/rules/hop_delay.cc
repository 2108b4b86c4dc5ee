// Which hop adds the latency: in-band telemetry has the times of sampled packets at each of them.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

// From the first octet at one end of a link to the last one at the other, less its cable, of the slowest packets: ns by "leaf1:5 -> spine1:1".
std::map<std::string, std::vector<double>> link_times(const Case& c) {
  std::map<std::string, std::vector<double>> out;
  for (const Json& packet : items(c.in_band(), "slowest")) {
    const Json& hops = items(packet, "hops");
    for (std::size_t i = 0; i + 1 < hops.size(); ++i) {
      const Json &from = hops[i], &to = hops[i + 1];
      if (!from["egress_ns"].is_number() || !to["ingress_ns"].is_number()) continue;
      const std::string sender = fmt::format("{}:{}", text(from, "node"), count(from, "out"));
      const PortCase* const at = c.port(sender);
      const double cable = at == nullptr ? 0 : at->propagation_ns;
      out[fmt::format("{} -> {}:{}", sender, text(to, "node"), count(to, "in"))].push_back(number(to, "ingress_ns") -
                                                                                           number(from, "egress_ns") - cable);
    }
  }
  return out;
}

// The link of a direction, "leaf1:5-spine1:1".
std::string link_of(const Case& c, const std::string& direction) {
  const PortCase* at = c.port(direction.substr(0, direction.find(' ')));
  return at == nullptr ? direction : at->link();
}

std::vector<Diagnosis> slow_links(const Case& c) {
  constexpr double kFar = 8e3;    // ns: a frame of 9 KB at 10 Gb/s
  constexpr double kTimes = 3;    // against the other links of the same packets
  constexpr std::size_t kOthers = 3;
  const auto all = link_times(c);
  std::vector<Diagnosis> out;
  for (const auto& [direction, times] : all) {
    std::vector<double> others;
    for (const auto& [other, its] : all)
      if (other != direction) others.push_back(median(its));
    const double own = median(times), usual = median(others);
    if (others.size() < kOthers || own < kFar + kTimes * usual) continue;
    out.push_back({link_of(c, direction),
                   0.8,
                   {fmt::format("in-band telemetry: the slowest packets took {:.1f} us from {} beyond its cable, and {:.1f} us over other links",
                                own / 1e3, direction, usual / 1e3)}});
  }
  return out.size() <= 2 ? out : std::vector<Diagnosis>{};
}

// Flows that end at the host behind a switch port: of several a queue is what one expects.
std::size_t flows_to(const Case& c, const std::string& host) {
  return static_cast<std::size_t>(std::ranges::count_if(c.flows(), [&](const Json& f) { return sink_of(f) == host; }));
}

// The queue in which sampled packets waited for most of the time that they waited, though its port had time. Collectives come in
// bursts, and their queues with them.
std::vector<Diagnosis> long_queue(const Case& c) {
  constexpr double kLong = 20e3;  // ns
  constexpr double kTimes = 3;
  constexpr std::uint64_t kLeast = 50;  // packets
  const Json& queues = items(c.in_band(), "queues");
  if (queues.empty()) return {};
  const auto p99 = [](const Json& q) { return number(below(q, "waited_ns"), "p99"); };
  const auto name = [](const Json& q) { return fmt::format("{}:{}", text(q, "node"), count(q, "port")); };
  const Json& first = queues[0];
  const double next = queues.size() > 1 ? p99(queues[1]) : 0;
  if (count(first, "packets") < kLeast || p99(first) < kLong || p99(first) < kTimes * next) return {};
  constexpr double kBusy = 0.85;
  const PortCase* const at = c.port(name(first));
  if (!c.collectives().empty() || (at != nullptr && at->utilisation > kBusy) || flows_to(c, node_of(text(first, "peer"))) > 1) return {};
  Diagnosis d{name(first), 0.5, {}};
  d.evidence.push_back(fmt::format("in-band telemetry: sampled packets waited {:.1f} us (p99) at {} towards {}, class {}", p99(first) / 1e3,
                                   name(first), text(first, "peer"), count(first, "class")));
  if (queues.size() > 1)
    d.evidence.push_back(fmt::format("the next longest wait was {:.1f} us, at {}", next / 1e3, name(queues[1])));
  return {d};
}

std::vector<Diagnosis> find_hop_delay(const Case& c) {
  std::vector<Diagnosis> out = slow_links(c);
  for (Diagnosis& d : long_queue(c)) out.push_back(std::move(d));
  return out;
}

}  // namespace

const Rule rules::kHopDelay{"hop-delay", "One hop adds most of the latency: packets wait in its queue, or its link takes long.",
                            "Of a queue: who sends through it, and whether its share of the paths is fair. Of a link: retimers, "
                            "FEC, a detour of the cable.",
                            "The queue is where an incast should wait; the cable is longer than the fabric file says.", find_hop_delay,
                            {Input::kInt, Input::kLinks}};

}  // namespace railyard::doctor
