// Latencies that do not fit: a link that delays, a clock that is wrong.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

// Packets that arrive before they were sent: no network does that. Of the two clocks the one is wrong whose other flows are
// off the other way.
std::vector<Diagnosis> find_clock_skew(const Case& c) {
  constexpr double kImpossible = 200;  // ns: less than a cable and a switch
  const Latencies all = latencies_of(c);
  std::map<std::string, Diagnosis> out;
  for (const nlohmann::ordered_json& f : c.flows()) {
    const nlohmann::ordered_json& latency = below(f, "latency_ns");
    if (latency.empty() || count(f, "delivered_packets") < 20 || number(latency, "p50") >= kImpossible) continue;
    const std::string source = text(f, "src"), sink = text(f, "dst");
    const double to_source = median(all.nics.at(source).to), from_sink = median(all.nics.at(sink).from);
    const std::string host = node_of(to_source >= from_sink ? source : sink);
    Diagnosis& d = out[host];
    d.element = host;
    d.confidence = 0.92;
    d.evidence.push_back(fmt::format("{}: packets take {:.1f} us by these clocks; the median of all flows is {:.1f} us",
                                     text(f, "name"), number(latency, "p50") / 1e3, all.usual / 1e3));
    d.evidence.push_back(fmt::format("packets to {} take {:.1f} us, packets from {} {:.1f} us", source, to_source / 1e3,
                                     sink, from_sink / 1e3));
  }
  std::vector<Diagnosis> found;
  for (auto& [host, d] : out) found.push_back(std::move(d));
  return found;
}

// Longer both ways, at one host.
std::vector<Diagnosis> find_extra_delay(const Case& c) {
  constexpr double kFar = 4e3;  // ns
  const Latencies all = latencies_of(c);
  const double queues = longest_queue_ns(c);
  std::vector<Diagnosis> out;
  for (const auto& [nic, s] : all.nics) {
    if (s.from.empty() || s.to.empty()) continue;
    const double from = median(s.from) - all.usual, to = median(s.to) - all.usual;
    const PortCase* at = c.before(nic);
    if (at == nullptr || std::min(from, to) < kFar + 2 * queues) continue;
    out.push_back({at->link(),
                   0.8,
                   {fmt::format("packets from {} take {:+.1f} us against the median of all flows ({:.1f} us), packets to "
                                "it {:+.1f} us",
                                nic, from / 1e3, all.usual / 1e3, to / 1e3),
                    fmt::format("the deepest queue explains {:.1f} us at most", queues / 1e3)}});
  }
  return out.size() <= 2 ? out : std::vector<Diagnosis>{};
}

}  // namespace

const Rule rules::kClockSkew{"clock-skew", "The clock of a host is wrong, and with it latencies and time stamps.",
                             "PTP or NTP of that host; compare latencies there and back.",
                             "The way there and the way back differ in length.", find_clock_skew,
                             {Input::kFlows, Input::kLinks, Input::kDepths}};
const Rule rules::kExtraDelay{"extra-delay", "A link delays packets by more than its length and its queues.",
                              "Retimers, FEC and devices in between that nobody knows of.",
                              "The cable is longer than the others.", find_extra_delay,
                              {Input::kFlows, Input::kLinks, Input::kDepths}};

}  // namespace railyard::doctor
