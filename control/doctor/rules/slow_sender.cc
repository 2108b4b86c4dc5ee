// Senders that are held back, and not by the network.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLow = 0.6;        // of what framing leaves of the rate
constexpr double kPaused = 0.01;    // of the time: less holds nobody back
constexpr double kLeastNs = 100'000;  // what has just begun says nothing

std::uint64_t retransmitted(const Json& f) {
  return count(below(f, "roce"), "retransmitted_packets") + count(below(f, "uet"), "retransmitted_packets");
}

bool is_unpaused(const Case& c, const Json& f) {
  const PortCase* at = c.before(text(f, "src"));
  return at != nullptr && at->other != nullptr &&
         std::ranges::all_of(at->other->classes, [](const ClassCase& k) { return k.pause_share < kPaused; });
}

// No sign of congestion, and not slow because it was asked to be.
bool is_free(const Case& c, const Json& f, double most_marked = 0.01) {
  if (number(f, "ce_share") > most_marked || count(f, "lost") > 0 || count(f, "trimmed") > 0 || retransmitted(f) > 0) return false;
  if (number(f, "offered_bps") > 0 || number(f, "goodput_ns") < kLeastNs) return false;
  return is_unpaused(c, f);
}

// Asks for so little of its link that others do not notice: monitoring, management.
bool is_small(const Case& c, const Json& f) {
  constexpr double kPart = 0.02;
  const PortCase* at = c.before(text(f, "src"));
  return at != nullptr && number(f, "offered_bps") > 0 && number(f, "offered_bps") < kPart * at->rate_bps;
}

struct Sender {
  std::string node;
  double goodput = 0, limit = 0;
  double in_flight = 0;  // goodput x latency
  double marked = 0;     // share of its packets
  bool free = true;

  double share() const { return limit > 0 ? goodput / limit : 0; }
};

// By source: the goodput of its flows together, against the limit of one.
std::map<std::string, Sender> senders(const Case& c) {
  std::map<std::string, Sender> all;
  std::map<std::string, int> at_sink;
  Distances distances(c);
  const double usual = std::max(latencies_of(c).usual, 0.0);
  // On a fabric that is full, those who are slowed down by marks have many.
  std::vector<double> marked;
  for (const Json& f : c.flows()) marked.push_back(number(f, "ce_share"));
  const double most_marked = std::max(0.01, 0.75 * median(std::move(marked)));
  // Of a slow sender packets do not wait for each other: who waits in a queue on the way is held back by the network.
  constexpr double kLate = 2e3;  // ns
  const auto is_quick = [&](const Json& f) { return beyond_cables(distances, f, "p50") <= kLate + 1.5 * usual; };
  for (const Json& f : c.flows())
    if (!is_small(c, f)) ++at_sink[text(f, "dst")];
  for (const Json& f : c.flows()) {
    if (number(f, "goodput_bps") <= 0 || number(f, "limit_bps") <= 0 || is_small(c, f)) continue;
    Sender& s = all[text(f, "src")];
    s.node = source_of(f);
    s.goodput += number(f, "goodput_bps");
    s.limit = std::max(s.limit, number(f, "limit_bps"));
    s.in_flight += number(f, "goodput_bps") * number(below(f, "latency_ns"), "p50");
    s.marked = std::max(s.marked, number(f, "ce_share"));
    s.free &= is_free(c, f, most_marked) && at_sink[text(f, "dst")] == 1 && is_quick(f);
  }
  return all;
}

template <class Figure>
double median_of(const std::map<std::string, Sender>& all, Figure figure) {
  std::vector<double> values;
  for (const auto& [nic, s] : all) values.push_back(figure(s));
  return median(std::move(values));
}

constexpr std::size_t kLeastSenders = 4;  // to compare with

std::vector<Diagnosis> slow_by_flows(const Case& c) {
  const auto all = senders(c);
  if (all.size() < kLeastSenders) return {};
  const double usual = median_of(all, [](const Sender& s) { return s.share(); });
  // Who waits for acknowledgements has as much in flight as the others, over a longer way.
  constexpr double kInFlight = 0.5, kInFlightMarked = 0.2, kLess = 0.7;
  const double in_flight = median_of(all, [](const Sender& s) { return s.in_flight; });
  std::vector<Diagnosis> out;
  for (const auto& [nic, s] : all)
    if (s.free && s.share() < kLess * usual && s.in_flight < (s.marked > 0.01 ? kInFlightMarked : kInFlight) * in_flight)
      out.push_back({s.node,
                     0.8,
                     {fmt::format("{} sends {:.1f} Gb/s, {:.0f} % of what it could; the median sender {:.0f} %", nic,
                                  s.goodput / 1e9, s.share() * 100, usual * 100),
                      "it was not paused, and its packets were neither marked nor lost"}});
  // Many slow ones are no exceptions.
  return out.size() * 3 <= all.size() ? out : std::vector<Diagnosis>{};
}

bool was_paused(const Case& c, const std::string& host) {
  return std::ranges::any_of(c.ports(), [&](const PortCase& p) {
    return p.node == host && std::ranges::any_of(p.classes, [](const ClassCase& k) { return k.paused_ns > 0; });
  });
}

// "h1" of "h1:2" and "h1/gpu3"
std::string host_of(const std::string& rank) { return rank.substr(0, rank.find_first_of(":/")); }

// What else makes a message take longer: queues, there and back, and cables.
double explained_ns(const Case& c) {
  constexpr double kHops = 16;  // of the longest cable: there and back over any fabric
  double cable = 0;
  for (const PortCase& p : c.ports()) cable = std::max(cable, p.propagation_ns);
  return 2 * longest_queue_ns(c) + kHops * cable;
}

// Hosts have NICs of one rate: else the slow ones are so by design.
bool are_alike(const Case& c, const Json& ranks) {
  std::set<double> rates;
  for (const Json& rank : ranks)
    if (const PortCase* nic = c.port(host_of(rank.get<std::string>()) + ":1"); nic != nullptr) rates.insert(nic->rate_bps);
  return rates.size() == 1;
}

// Links between switches that are full make some ranks slow: those that are treated worst.
bool has_full_links(const Case& c) {
  constexpr double kFull = 0.85;
  return std::ranges::any_of(c.ports(), [](const PortCase& p) {
    return p.is_switch && p.other != nullptr && p.other->is_switch && p.utilisation > kFull;
  });
}

// Frames wait for one host's link again and again, and for no other's: what is sent to it is slow, not who sends it.
bool is_one_sink_slow(const Case& c) {
  constexpr std::uint64_t kOften = 30;
  std::uint64_t most = 0, next = 0;
  for (const PortCase& p : c.ports()) {
    if (!p.is_of_host()) continue;
    next = std::max(next, std::min(most, p.busy));
    most = std::max(most, p.busy);
  }
  return most >= kOften && most > 3 * next;
}

// A ring is as fast as its slowest NIC, so all of them send as much as that one. Only its own messages take longer: they wait
// for each other there.
void add_slow_rank(const Case& c, const Json& collective, std::vector<Diagnosis>& out) {
  // Than those of any other host. Ranks of jobs have messages of many kinds, which wait for each other.
  const double longer = below(collective, "schedule").empty() ? 3 : 8;
  const Json &ranks = items(collective, "ranks"), &times = items(collective, "rank_message_ns");
  if (ranks.size() != times.size() || count(collective, "retransmitted_packets") > 0 || !are_alike(c, ranks)) return;
  std::map<std::string, double> hosts;  // the longest of their ranks
  std::vector<double> all;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    double& longest = hosts[host_of(ranks[i].get<std::string>())];
    if (!times[i].is_number()) continue;
    all.push_back(times[i].get<double>());
    longest = std::max(longest, all.back());
  }
  if (all.size() < kLeastSenders || hosts.size() < kLeastSenders - 1) return;
  const auto slow = std::ranges::max_element(hosts, {}, [](const auto& h) { return h.second; });
  double next = 0;
  for (const auto& [host, ns] : hosts)
    if (host != slow->first) next = std::max(next, ns);
  const double explained = explained_ns(c);
  if (slow->second < longer * next || slow->second < next + explained) return;
  if (was_paused(c, slow->first) || has_full_links(c) || is_one_sink_slow(c)) return;
  if (std::ranges::find(out, slow->first, &Diagnosis::element) != out.end()) return;
  out.push_back({slow->first,
                 0.8,
                 {fmt::format("{}: a message of {} takes {:.1f} us (median), one of any other host {:.1f} us at most, of the median rank {:.1f} us",
                              text(collective, "name"), slow->first, slow->second / 1e3, next / 1e3, median(all) / 1e3),
                  fmt::format("it was not paused; queues and cables explain {:.1f} us at most, and nothing was lost", explained / 1e3)}});
}

std::vector<Diagnosis> find_slow_sender(const Case& c) {
  std::vector<Diagnosis> out = slow_by_flows(c);
  for (const Json& collective : c.collectives()) add_slow_rank(c, collective, out);
  return out;
}

// Less than a message in flight, though nothing is in its way.
bool is_short_of_window(const Case& c, const Json& f) {
  const Json& own = f.contains("roce") ? below(f, "roce") : below(f, "uet");
  // The first one may not be complete.
  const double messages = std::max(1.0, number(own, "messages")), share = number(f, "share");
  const double delay_ns = number(below(f, "latency_ns"), "p50");
  if (own.empty() || share <= 0 || share >= kLow || delay_ns <= 0 || !is_free(c, f)) return false;
  const double in_flight = number(f, "goodput_bps") / 8 * 2 * delay_ns * 1e-9;
  return in_flight < number(f, "delivered_bytes") / messages / 2;
}

std::vector<Diagnosis> find_window_small(const Case& c) {
  std::map<std::string, std::vector<const Json*>> by_transport;
  std::map<std::string, std::size_t> short_of;
  std::map<std::string, int> from, to;
  for (const Json& f : c.flows())
    if (!is_small(c, f)) ++from[text(f, "src")], ++to[text(f, "dst")];
  for (const Json& f : c.flows()) {
    if (is_small(c, f)) continue;
    if (from[text(f, "src")] > 1 || to[text(f, "dst")] > 1) continue;
    by_transport[text(f, "transport")].push_back(&f);
    short_of[text(f, "transport")] += is_short_of_window(c, f) ? 1 : 0;
  }
  // Where a port is busy, queues are in their way.
  constexpr double kBusy = 0.85;
  if (std::ranges::any_of(c.ports(), [](const PortCase& p) { return p.utilisation > kBusy; })) return {};
  std::vector<Diagnosis> out;
  for (const auto& [transport, flows] : by_transport) {
    // One of many is a slow sender.
    if (short_of[transport] == 0 || short_of[transport] * 3 < flows.size() * 2) continue;
    const Json& f = *flows.front();
    out.push_back({transport,
                   0.75,
                   {fmt::format("{} of {} flows over {} are alone at their NICs and get less than {:.0f} % of their limit",
                                short_of[transport], flows.size(), transport, kLow * 100),
                    fmt::format("{}: {:.1f} Gb/s at {:.1f} us one way: {:.0f} KB in flight; no marks, pauses or losses",
                                text(f, "name"), number(f, "goodput_bps") / 1e9,
                                number(below(f, "latency_ns"), "p50") / 1e3,
                                number(f, "goodput_bps") / 8 * 2 * number(below(f, "latency_ns"), "p50") * 1e-12)}});
  }
  return out;
}

}  // namespace

const Rule rules::kSlowSender{"slow-sender",
                              "One host sends more slowly than all others, and the network does not hold it back.",
                              "PCI Express width and speed of its NIC (`lspci -vv`), its clocks and rate limits.",
                              "Its application has less to send.", find_slow_sender,
                              {Input::kFlows, Input::kLinks}};
const Rule rules::kWindowSmall{"window-small",
                               "Senders wait for acknowledgements on an empty network: the window is below the "
                               "bandwidth-delay product.",
                               "A larger window (`hosts.NAME.uet.window`, `nscc.max-window`, `hosts.NAME.roce.window`), "
                               "or more messages in flight.",
                               "Queues, marks or pauses on the way.", find_window_small,
                               {Input::kFlows, Input::kLinks}};

}  // namespace railyard::doctor
