// Hosts that pause their switch.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

constexpr double kLeastShare = 0.02;
constexpr std::uint64_t kLongNs = 50'000;  // for each XOFF

struct Pauses {
  const PortCase* port;  // of the switch
  std::size_t priority;
  std::uint64_t xoff, xon;
};

std::vector<Pauses> of_hosts(const Case& c) {
  std::vector<Pauses> out;
  for (const PortCase& p : c.ports()) {
    if (!p.is_switch || p.other == nullptr || p.other->is_switch) continue;
    for (std::size_t k = 0; k < p.classes.size(); ++k) {
      const ClassCase& a = p.classes[k];
      // A receiver that is slow asks for microseconds.
      const bool is_long = a.paused_ns >= kLongNs * a.xoff_received && a.pfc_received <= a.xoff_received + 1;
      if (a.xoff_received > 0 && (a.pause_share >= kLeastShare || is_long))
        out.push_back({&p, k, a.xoff_received, a.pfc_received - a.xoff_received});
    }
  }
  return out;
}

// Queues towards hosts in which the PFC watchdog has seen a storm.
std::vector<Diagnosis> watched_storms(const Case& c) {
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports())
    for (std::size_t k = 0; k < p.classes.size() && p.is_switch && (p.other == nullptr || p.is_of_host()); ++k)
      if (p.classes[k].storms > 0)
        out.push_back({p.other != nullptr ? p.other->node : p.name(),
                       0.95,
                       {fmt::format("the PFC watchdog of {} saw {} storms of {} (class {})", p.name(), p.classes[k].storms,
                                    p.peer.empty() ? "its peer" : p.peer, k)}});
  return out;
}

// One XON ends a storm; a receiver that is slow asks for more again and again.
bool is_storm(const Pauses& p) { return p.xon <= 1 || p.xoff >= 3 * p.xon; }

Diagnosis describe(const Pauses& p, double confidence) {
  const ClassCase& a = p.port->classes[p.priority];
  return {p.port->other->node,
          confidence,
          {fmt::format("{} was paused by {} for {:.1f} % of the time (class {}): {} XOFF, {} XON", p.port->name(),
                       p.port->peer, a.pause_share * 100, p.priority, p.xoff, p.xon)}};
}

std::vector<Diagnosis> find_pfc_storm(const Case& c) {
  std::vector<Diagnosis> out = watched_storms(c);
  for (const NicCase& n : c.nics())
    if (n.of("tx_pause_storm_error_events") > 0)
      out.push_back({n.node,
                     0.95,
                     {fmt::format("the NIC of {} stopped pausing {} times because it had paused for too long "
                                  "(tx_pause_storm_error_events)",
                                  n.node, n.of("tx_pause_storm_error_events"))}});
  for (const Pauses& p : of_hosts(c))
    if (is_storm(p) && std::ranges::find(out, p.port->other->node, &Diagnosis::element) == out.end())
      out.push_back(describe(p, 0.9));
  return out;
}

// Of a host alone: it asks its switch to wait.
void add_pausing_hosts(const Case& c, std::vector<Diagnosis>& out) {
  constexpr std::uint64_t kOften = 100;
  for (const PortCase& p : c.ports())
    for (std::size_t k = 0; k < p.classes.size() && !p.is_switch && p.other == nullptr; ++k)
      if (p.classes[k].xoff_sent >= kOften)
        out.push_back({p.node,
                       0.8,
                       {fmt::format("{} sent {} pause frames of class {}: it does not take what comes", p.name(),
                                    p.classes[k].xoff_sent, k)}});
}

// Without pauses: packets wait in the NIC, and the transport slows down. Queues on the way do not explain it.
void add_late_hosts(const Case& c, std::vector<Diagnosis>& out) {
  constexpr double kLate = 1e3, kHops = 4e3, kVeryLate = 50e3, kShort = 10e3;  // ns
  constexpr double kLow = 0.75;
  // A queue that is paused takes longer than its depth says.
  for (const PortCase& p : c.ports())
    if (p.dropped("egress_full") + p.dropped("ingress_full") > 0 ||
        std::ranges::any_of(p.classes, [](const ClassCase& k) { return k.paused_ns > 0; }))
      return;
  const Latencies all = latencies_of(c);
  Distances distances(c);
  const double queues = longest_queue_ns(c), usual = all.usual;
  // Of long queues there may be several on a way.
  const double explained = queues * (queues < kShort ? 1.2 : 2.5) + all.spread;
  std::map<std::string, int> flows_at;
  for (const auto& f : c.flows())
    if (number(f, "offered_bps") <= 0) ++flows_at[text(f, "dst")];
  const auto latest_p90 = [&](const std::string& but) {
    double most = 0;
    for (const auto& f : c.flows())
      if (sink_of(f) != but) most = std::max(most, beyond_cables(distances, f, "p90"));
    return most;
  };
  for (const auto& f : c.flows()) {
    const auto& latency = below(f, "latency_ns");
    const double p50 = beyond_cables(distances, f, "p50") - usual, most = beyond_cables(distances, f, "max") - usual;
    if (number(f, "offered_bps") > 0) continue;
    const bool is_slow = p50 > kLate + explained && number(f, "share") > 0 && number(f, "share") < kLow &&
                         flows_at[text(f, "dst")] == 1;  // an incast waits in several queues
    const bool has_stopped = most > kVeryLate + 3 * queues && most > 5 * number(latency, "p50");
    const std::string host = sink_of(f);
    // Half of them take longer than nearly all packets to other hosts, though the port before it has time and no queue marks.
    constexpr double kMarked = 0.01;
    const PortCase* const at = c.before(text(f, "dst"));
    const bool is_apart = at != nullptr && at->utilisation < kLow && number(f, "share") < kLow && has_latency(f) && p50 > kHops &&
                          number(f, "ce_share") < kMarked &&
                          flows_at[text(f, "dst")] == 1 && p50 + usual > 1.2 * latest_p90(host);
    if ((!is_slow && !has_stopped && !is_apart) || std::ranges::find(out, host, &Diagnosis::element) != out.end()) continue;
    out.push_back({host,
                   0.82,
                   {fmt::format("packets of {} took {:.1f} us (p50; most {:.1f} us), the median of all flows is {:.1f} us",
                                text(f, "name"), number(latency, "p50") / 1e3, number(latency, "max") / 1e3, usual / 1e3),
                    fmt::format("the deepest queue explains {:.1f} us at most", queues / 1e3)}});
  }
}

std::vector<Diagnosis> find_slow_receiver(const Case& c) {
  std::vector<Diagnosis> out;
  for (const Pauses& p : of_hosts(c))
    if (!is_storm(p)) out.push_back(describe(p, 0.9));
  add_pausing_hosts(c, out);
  if (std::vector<Diagnosis> late; c.has(Input::kDepths)) {
    add_late_hosts(c, late);
    if (late.size() == 1 && std::ranges::find(out, late[0].element, &Diagnosis::element) == out.end())
      out.push_back(std::move(late[0]));
  }
  // Without PFC it drops.
  for (const PortCase& p : c.ports())
    if (const auto n = p.dropped("nic_receive_full"); n > 0)
      out.push_back({p.node, 0.9, {fmt::format("{} dropped {} packets: its receive buffer was full", p.name(), n)}});
  return out;
}

}  // namespace

const Rule rules::kPfcStorm{
    "pfc-storm", "A host pauses its switch without an end: a NIC that is broken, or a host that has stopped.",
    "Reset the NIC; a PFC watchdog at the switch (`pfc-watchdog`) keeps the storm out of the fabric.",
    "XON follows XOFF again and again: a receiver that is slow.", find_pfc_storm, {Input::kPorts}};
const Rule rules::kSlowReceiver{"slow-receiver", "A host takes packets more slowly than its link brings them.",
                                "PCI Express, memory and IOMMU of the host; its NIC's buffers.",
                                "The host is paused itself.", find_slow_receiver, {Input::kPorts}};

}  // namespace railyard::doctor
