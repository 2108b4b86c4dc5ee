// Latencies that do not fit: a link that delays, a clock that is wrong.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

// Of the fastest packet, if that is known: queues hide nothing then.
double quick_ns(const Json& f) {
  const auto least = f.find("least_latency_ns");
  return least != f.end() && least->is_number() ? least->get<double>() : number(below(f, "latency_ns"), "p50");
}

// Of a few flows; one of them may be to a host whose clock is wrong.
double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Packets that arrive before they were sent: no network does that. Of the two clocks the one is wrong whose other flows are
// off the other way.
std::vector<Diagnosis> find_clock_skew(const Case& c) {
  constexpr double kImpossible = 200;  // ns: less than a cable and a switch
  const Latencies all = latencies_of(c);
  std::map<std::string, Latencies::Nic> hosts;  // all of a host's NICs have its clock
  for (const auto& [nic, s] : all.fastest.empty() ? all.nics : all.fastest) {
    Latencies::Nic& h = hosts[node_of(nic)];
    h.from.insert(h.from.end(), s.from.begin(), s.from.end());
    h.to.insert(h.to.end(), s.to.begin(), s.to.end());
  }
  Distances distances(c);
  std::map<std::string, Diagnosis> out;
  for (const Json& f : c.flows()) {
    if (!has_latency(f)) continue;
    const std::string source = text(f, "src"), sink = text(f, "dst");
    const double light = distances.between(source, sink).least;
    if (quick_ns(f) >= kImpossible + light) continue;
    const double to_source = mean(hosts.at(node_of(source)).to), from_sink = mean(hosts.at(node_of(sink)).from);
    const std::string host = node_of(to_source >= from_sink ? source : sink);
    Diagnosis& d = out[host];
    d.element = host;
    d.confidence = 0.92;
    d.evidence.push_back(fmt::format("{}: packets take {:.1f} us by these clocks; their cables alone take {:.1f} us", text(f, "name"),
                                     quick_ns(f) / 1e3, light / 1e3));
    d.evidence.push_back(fmt::format("beyond cables packets to {} take {:.1f} us, packets from {} {:.1f} us, the median of all flows {:.1f} us",
                                     node_of(source), to_source / 1e3, node_of(sink), from_sink / 1e3,
                                     (all.fastest.empty() ? all.usual : all.usual_fastest) / 1e3));
  }
  std::vector<Diagnosis> found;
  for (auto& [host, d] : out) found.push_back(std::move(d));
  // Whose clock is wrong has more such flows than those at their other ends.
  std::ranges::stable_sort(found, std::ranges::greater{}, [](const Diagnosis& d) { return d.evidence.size(); });
  return found;
}

// Longer both ways, at one host. Packets that waited nowhere need no allowance for queues.
std::vector<Diagnosis> find_extra_delay(const Case& c) {
  constexpr double kFar = 4e3;  // ns
  const Latencies all = latencies_of(c);
  const bool fastest = !all.fastest.empty();
  const double queues = fastest ? 0 : longest_queue_ns(c), usual = fastest ? all.usual_fastest : all.usual;
  std::vector<std::pair<double, Diagnosis>> found;  // with what is too long
  for (const auto& [nic, s] : fastest ? all.fastest : all.nics) {
    if (s.from.empty() || s.to.empty()) continue;
    const double from = median(s.from) - usual, to = median(s.to) - usual;
    const PortCase* at = c.before(nic);
    if (at == nullptr || std::min(from, to) < kFar + 2 * queues + all.spread) continue;
    Diagnosis d{at->link(), fastest ? 0.9 : 0.8, {}};
    d.evidence.push_back(fmt::format("beyond cables packets from {} take {:+.1f} us against the median of all flows ({:.1f} us), packets to it "
                                     "{:+.1f} us",
                                     nic, from / 1e3, usual / 1e3, to / 1e3));
    d.evidence.push_back(fastest ? std::string("these are the fastest packets of each flow, which waited least")
                                 : fmt::format("the deepest queue explains {:.1f} us at most", queues / 1e3));
    found.emplace_back(from + to, std::move(d));
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &std::pair<double, Diagnosis>::first);
  std::vector<Diagnosis> out;
  for (auto& [excess, d] : found) out.push_back(std::move(d));
  return out.size() <= 2 ? out : std::vector<Diagnosis>{};
}

}  // namespace

const Rule rules::kClockSkew{"clock-skew", "The clock of a host is wrong, and with it latencies and time stamps.",
                             "PTP or NTP of that host; compare latencies there and back.",
                             "The way there and the way back differ in length.", find_clock_skew,
                             {Input::kFlows, Input::kLinks, Input::kDepths}};
const Rule rules::kExtraDelay{"extra-delay", "A link delays packets by more than its length and its queues.",
                              "Retimers, FEC and devices in between that nobody knows of.",
                              "The cable is longer than the fabric file says.", find_extra_delay,
                              {Input::kFlows, Input::kLinks, Input::kDepths}};

}  // namespace railyard::doctor
