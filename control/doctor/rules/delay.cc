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

// What the deepest queue of the fabric may add.
double queueing_ns(const Case& c) {
  double longest = 0;
  for (const PortCase& p : c.ports())
    if (p.rate_bps > 0) longest = std::max(longest, static_cast<double>(p.deepest()) * 8e9 / p.rate_bps);
  return longest;
}

// Packets that arrive before they were sent: no network does that. Of the two clocks the one is wrong whose other flows are
// off the other way.
std::vector<Diagnosis> find_clock_skew(const Case& c) {
  constexpr double kImpossible = 200;  // ns: less than a cable and a switch
  const Shifts all = shifts_of(c);
  std::map<std::string, Diagnosis> out;
  for (const Json& f : c.flows()) {
    const Json& latency = below(f, "latency_ns");
    if (latency.empty() || count(f, "delivered_packets") < 20 || number(latency, "p50") >= kImpossible) continue;
    const std::string source = source_of(f), sink = sink_of(f);
    const double to_source = median(all.hosts.at(source).to), from_sink = median(all.hosts.at(sink).from);
    const std::string& host = to_source >= from_sink ? source : sink;
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

std::vector<Diagnosis> find_extra_delay(const Case& c) {
  std::vector<Diagnosis> out;
  const double usual = shifts_of(c).usual;
  for (const Odd& o : odd_hosts(c)) {
    if (std::min(o.from, o.to) < -0.8 * usual) continue;  // a clock
    const double more = std::max(o.from, o.to);
    const PortCase* at = c.before(o.host);
    if (at == nullptr || more < 2 * queueing_ns(c)) continue;
    out.push_back({at->link(),
                   0.75,
                   {fmt::format("packets from {} take {:+.1f} us against the median of all flows ({:.1f} us), packets to "
                                "it {:+.1f} us",
                                o.host, o.from / 1e3, usual / 1e3, o.to / 1e3),
                    fmt::format("the deepest queue explains {:.1f} us at most", queueing_ns(c) / 1e3)}});
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
