// Latencies that do not fit: a link that delays, a clock that is wrong.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

// How much longer packets from and to a host take than those of others: the median of its flows, against that of all.
struct Shift {
  std::vector<double> from, to;  // ns
};

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

struct Shifts {
  std::map<std::string, Shift> hosts;
  double usual = 0;   // ns
  double spread = 0;  // median distance from it
};

Shifts shifts_of(const Case& c) {
  Shifts out;
  std::vector<double> all;
  for (const Json& f : c.flows()) {
    const Json& latency = below(f, "latency_ns");
    if (latency.empty() || count(f, "delivered_packets") < 20) continue;
    const double p50 = number(latency, "p50");
    all.push_back(p50);
    out.hosts[source_of(f)].from.push_back(p50);
    out.hosts[sink_of(f)].to.push_back(p50);
  }
  out.usual = median(all);
  std::vector<double> distances;
  for (const double x : all) distances.push_back(std::abs(x - out.usual));
  out.spread = median(distances);
  return out;
}

struct Odd {
  std::string host;
  double from = 0, to = 0;  // ns, against the usual
};

// Hosts whose packets take far longer, or shorter, than the network explains: queues in front of them are not deep.
std::vector<Odd> odd_hosts(const Case& c) {
  constexpr std::size_t kLeast = 3;  // hosts that send and receive
  constexpr double kFar = 4e3;       // ns, beyond the spread
  const Shifts all = shifts_of(c);
  std::vector<Odd> out;
  std::size_t comparable = 0;
  for (const auto& [host, s] : all.hosts) {
    if (s.from.empty() || s.to.empty()) continue;
    ++comparable;
    const Odd odd{host, median(s.from) - all.usual, median(s.to) - all.usual};
    if (std::max(std::abs(odd.from), std::abs(odd.to)) > kFar + 3 * all.spread) out.push_back(odd);
  }
  return comparable >= kLeast ? out : std::vector<Odd>{};
}

// What a queue may add on the way to and from a host.
double queueing_ns(const Case& c, const std::string& host) {
  const PortCase* at = c.before(host);
  if (at == nullptr || at->rate_bps <= 0) return 0;
  double deepest = static_cast<double>(at->deepest());
  for (const PortCase& p : c.ports())
    if (p.node == at->node && p.other != nullptr && p.other->is_switch)
      deepest = std::max(deepest, static_cast<double>(p.deepest()));
  return deepest * 8e9 / at->rate_bps;
}

std::vector<Diagnosis> find_clock_skew(const Case& c) {
  std::vector<Diagnosis> out;
  for (const Odd& o : odd_hosts(c)) {
    const bool opposite = (o.from > 0) != (o.to > 0) || o.from == 0 || o.to == 0;
    // Packets that arrive before they were sent count as 0: the shorter way has no more to lose than the usual latency.
    const Shifts all = shifts_of(c);
    const double shorter = -std::min(o.from, o.to);
    if (!opposite || shorter < 0.5 * all.usual) continue;
    out.push_back({o.host,
                   0.85,
                   {fmt::format("packets from {} take {:+.1f} us against the median of all flows ({:.1f} us), packets to "
                                "it {:+.1f} us",
                                o.host, o.from / 1e3, all.usual / 1e3, o.to / 1e3),
                    "one way longer and the other shorter: no network does that"}});
  }
  return out.size() <= 2 ? out : std::vector<Diagnosis>{};
}

std::vector<Diagnosis> find_extra_delay(const Case& c) {
  std::vector<Diagnosis> out;
  const double usual = shifts_of(c).usual;
  for (const Odd& o : odd_hosts(c)) {
    if (std::min(o.from, o.to) < -0.5 * usual) continue;  // a clock
    const double more = std::max(o.from, o.to);
    const PortCase* at = c.before(o.host);
    if (at == nullptr || more < 2 * queueing_ns(c, o.host)) continue;
    out.push_back({at->link(),
                   0.75,
                   {fmt::format("packets from {} take {:+.1f} us against the median of all flows ({:.1f} us), packets to "
                                "it {:+.1f} us",
                                o.host, o.from / 1e3, usual / 1e3, o.to / 1e3),
                    fmt::format("the queues before it explain {:.1f} us at most", queueing_ns(c, o.host) / 1e3)}});
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
