// Classes that hold what does not belong together.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

bool listens(const Json& f) { return count(below(f, "roce"), "cnp_handled") > 0; }

// Not-ECT packets are never marked.
bool is_deaf(const Json& f) {
  return text(f, "transport") == "generator" && count(f, "arrived_packets") > 1000;
}

std::vector<Diagnosis> find_mixed_traffic(const Case& c) {
  constexpr double kMuchMore = 2;
  struct Shares {
    std::vector<double> listening{};  // bit/s, of each
    double deaf = 0;                  // the most
    std::string loud{};
  };
  std::map<std::pair<std::string, int>, Shares> queues;  // by sink and class
  for (const Json& f : c.flows()) {
    Shares& s = queues[{text(f, "dst"), static_cast<int>(number(f, "class"))}];
    const double bps = number(f, "goodput_bps");
    if (listens(f)) s.listening.push_back(bps);
    if (is_deaf(f) && bps > s.deaf) s.deaf = bps, s.loud = text(f, "name");
  }
  std::vector<Diagnosis> out;
  for (const auto& [queue, s] : queues) {
    const PortCase* at = c.before(queue.first);
    const double usual = median(s.listening);
    if (s.listening.empty() || s.loud.empty() || at == nullptr || s.deaf < kMuchMore * usual) continue;
    out.push_back({at->name(),
                   0.85,
                   {fmt::format("class {} of {}: {} flows slow down by CNPs, to {:.1f} Gb/s in the median; {} does not and has "
                                "{:.1f} Gb/s",
                                queue.second, at->name(), s.listening.size(), usual / 1e9, s.loud, s.deaf / 1e9)}});
  }
  return out;
}

// The switch port before the only host to which packets of a class are retransmitted.
const PortCase* before_sink(const Case& c, int k) {
  std::string sink;
  for (const Json& f : c.flows()) {
    if (count(below(f, "roce"), "retransmitted_packets") == 0 || static_cast<int>(number(f, "class")) != k) continue;
    if (!sink.empty() && sink != text(f, "dst")) return nullptr;
    sink = text(f, "dst");
  }
  return sink.empty() ? nullptr : c.before(sink);
}

// RDMA that loses packets to full buffers in a class that nobody pauses.
std::vector<Diagnosis> find_lossy_class(const Case& c) {
  std::map<int, std::uint64_t> retransmitted;  // by class
  for (const Json& f : c.flows())
    if (const Json& roce = below(f, "roce"); !roce.empty())
      retransmitted[static_cast<int>(number(f, "class"))] += count(roce, "retransmitted_packets");
  std::vector<Diagnosis> out;
  for (const auto& [k, n] : retransmitted) {
    if (n == 0 || k < 0 || k > 7) continue;
    const auto at = static_cast<std::size_t>(k);
    const PortCase* worst = nullptr;
    std::uint64_t dropped = 0, xoff = 0;
    for (const PortCase& p : c.ports()) {
      if (!p.is_switch) continue;
      xoff += p.classes[at].xoff_sent;
      dropped += p.classes[at].dropped("egress_full") + p.classes[at].dropped("wred") + p.classes[at].dropped("ingress_full");
      if (worst == nullptr || p.classes[at].deepest > worst->classes[at].deepest) worst = &p;
    }
    if (dropped == 0 || xoff > 0) continue;
    if (const PortCase* sink = before_sink(c, k); sink != nullptr) worst = sink;
    out.push_back({worst->name(),
                   0.85,
                   {fmt::format("switches dropped {} packets of class {}, in which RoCEv2 is, and sent no XOFF for it", dropped,
                                k),
                    fmt::format("{} packets were retransmitted", n)}});
  }
  return out;
}

}  // namespace

const Rule rules::kMixedTraffic{"mixed-traffic",
                                "Traffic that ignores congestion shares a queue with traffic that obeys it.",
                                "A class of its own for it (`traffic.NAME.dscp`), with a weight.",
                                "Both slow down alike.", find_mixed_traffic,
                                {Input::kFlows, Input::kLinks}};
const Rule rules::kLossyClass{"lossy-class",
                              "RoCEv2 is in a class that is not lossless: PFC priority and DSCP do not match.",
                              "The same class at hosts and switches: the DSCP of the lossless class, or `lossless: true` for "
                              "this one.",
                              "The loss is by design, with selective repeat.", find_lossy_class,
                              {Input::kFlows, Input::kPorts}};

}  // namespace railyard::doctor
