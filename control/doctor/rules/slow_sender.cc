// Senders that are held back, and not by the network.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLow = 0.6;        // of what framing leaves of the rate
constexpr double kLeastNs = 100'000;  // what has just begun says nothing

std::uint64_t retransmitted(const Json& f) {
  return count(below(f, "roce"), "retransmitted_packets") + count(below(f, "uet"), "retransmitted_packets");
}

bool is_unpaused(const Case& c, const Json& f) {
  const PortCase* at = c.before(text(f, "src"));
  return at != nullptr && at->other != nullptr &&
         std::ranges::all_of(at->other->classes, [](const ClassCase& k) { return k.paused_ns == 0; });
}

// No sign of congestion, and not slow because it was asked to be.
bool is_free(const Case& c, const Json& f) {
  constexpr double kMostMarked = 0.01;
  if (number(f, "ce_share") > kMostMarked || count(f, "lost") > 0 || count(f, "trimmed") > 0 || retransmitted(f) > 0) return false;
  if (number(f, "offered_bps") > 0 || number(f, "goodput_ns") < kLeastNs) return false;
  return is_unpaused(c, f);
}

struct Sender {
  std::string node;
  double goodput = 0, limit = 0;
  bool free = true;

  double share() const { return limit > 0 ? goodput / limit : 0; }
};

// By source: the goodput of its flows together, against the limit of one.
std::map<std::string, Sender> senders(const Case& c) {
  std::map<std::string, Sender> all;
  std::map<std::string, int> at_sink;
  for (const Json& f : c.flows()) ++at_sink[text(f, "dst")];
  for (const Json& f : c.flows()) {
    if (number(f, "goodput_bps") <= 0 || number(f, "limit_bps") <= 0) continue;
    Sender& s = all[text(f, "src")];
    s.node = source_of(f);
    s.goodput += number(f, "goodput_bps");
    s.limit = std::max(s.limit, number(f, "limit_bps"));
    s.free &= is_free(c, f) && at_sink[text(f, "dst")] == 1;
  }
  return all;
}

double median_share(const std::map<std::string, Sender>& all) {
  std::vector<double> shares;
  for (const auto& [nic, s] : all) shares.push_back(s.share());
  return median(std::move(shares));
}

std::vector<Diagnosis> find_slow_sender(const Case& c) {
  constexpr std::size_t kLeast = 4;  // senders to compare with
  const auto all = senders(c);
  if (all.size() < kLeast) return {};
  const double usual = median_share(all);
  std::vector<Diagnosis> out;
  for (const auto& [nic, s] : all)
    if (s.free && s.share() < kLow * usual)
      out.push_back({s.node,
                     0.8,
                     {fmt::format("{} sends {:.1f} Gb/s, {:.0f} % of what it could; the median sender {:.0f} %", nic,
                                  s.goodput / 1e9, s.share() * 100, usual * 100),
                      "it was not paused, and its packets were neither marked nor lost"}});
  // Many slow ones are no exceptions.
  return out.size() * 3 <= all.size() ? out : std::vector<Diagnosis>{};
}

// Less than a message in flight, though nothing is in its way.
bool is_short_of_window(const Case& c, const Json& f) {
  const Json& own = f.contains("roce") ? below(f, "roce") : below(f, "uet");
  const double messages = number(own, "messages"), share = number(f, "share");
  const double delay_ns = number(below(f, "latency_ns"), "p50");
  if (messages <= 0 || share <= 0 || share >= kLow || delay_ns <= 0 || !is_free(c, f)) return false;
  const double in_flight = number(f, "goodput_bps") / 8 * 2 * delay_ns * 1e-9;
  return in_flight < number(f, "delivered_bytes") / messages / 2;
}

std::vector<Diagnosis> find_window_small(const Case& c) {
  std::map<std::string, std::vector<const Json*>> by_transport;
  std::map<std::string, std::size_t> short_of;
  std::map<std::string, int> from, to;
  for (const Json& f : c.flows()) ++from[text(f, "src")], ++to[text(f, "dst")];
  for (const Json& f : c.flows()) {
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

// What NICs say of their slots themselves: the share of the last second, in percent.
void add_stalled(const Case& c, std::vector<Diagnosis>& out) {
  constexpr std::uint64_t kOften = 10;
  for (const NicCase& n : c.nics())
    for (const char* counter : {"outbound_pci_stalled_wr", "outbound_pci_stalled_rd"})
      if (n.of(counter) >= kOften)
        out.push_back({n.node, 0.85, {fmt::format("{}: PCI Express had no credits for {} % of the time ({})", n.node,
                                                  n.of(counter), counter)}});
}

std::vector<Diagnosis> find_pcie_limit(const Case& c) {
  constexpr double kFramed = 0.85;  // headers leave more than this of the rate with packets of 1 KB
  std::vector<Diagnosis> out;
  add_stalled(c, out);
  // A flow's limit is the lesser of its two ends': that of a NIC is the largest of its flows, in either direction.
  std::map<std::string, double> limits;
  for (const Json& f : c.flows())
    if (number(f, "offered_bps") <= 0)
      for (const char* end : {"src", "dst"}) limits[text(f, end)] = std::max(limits[text(f, end)], number(f, "limit_bps"));
  for (const auto& [nic, limit] : limits) {
    const PortCase* at = c.before(nic);
    if (at == nullptr || at->other == nullptr || limit <= 0 || limit >= kFramed * at->rate_bps) continue;
    const bool sends = at->other->utilisation >= at->utilisation;
    const double used = std::max(at->other->utilisation, at->utilisation);
    if (used * at->rate_bps < 0.7 * limit) continue;
    out.push_back({node_of(nic),
                   0.8,
                   {fmt::format("{} {} at {:.0f} % of its link's {:.0f} Gb/s; its slot leaves {:.0f} Gb/s", nic,
                                sends ? "sends" : "receives", used * 100, at->rate_bps / 1e9, limit / 1e9)}});
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
const Rule rules::kPcieLimit{"pcie-limit", "A NIC's PCI Express slot carries less than its link.",
                             "A wider or faster slot: `lspci -vv` shows LnkSta; `railyard check` (nic-above-pcie).",
                             "The flow is slow by its own rate.", find_pcie_limit, {Input::kNics}};

}  // namespace railyard::doctor
