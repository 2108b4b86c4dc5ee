#include "control/doctor/latencies.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/values.h"

namespace railyard::doctor {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

bool has_latency(const nlohmann::ordered_json& flow) {
  constexpr std::uint64_t kLeast = 20;
  return !below(flow, "latency_ns").empty() && count(flow, "delivered_packets") >= kLeast;
}

Latencies latencies_of(const Case& c) {
  Latencies out;
  Distances distances(c);
  std::vector<double> all, fastest;
  bool all_say = true;
  for (const auto& f : c.flows()) {
    if (!has_latency(f)) continue;
    const std::string source = text(f, "src"), sink = text(f, "dst");
    const double p50 = beyond_cables(distances, f, "p50");
    all.push_back(p50);
    out.nics[source].from.push_back(p50);
    out.nics[sink].to.push_back(p50);
    const auto least = f.find("least_latency_ns");
    if (least == f.end() || !least->is_number()) {
      all_say = false;
      continue;
    }
    const double ns = least->get<double>() - distances.between(source, sink).least;
    fastest.push_back(ns);
    out.fastest[source].from.push_back(ns);
    out.fastest[sink].to.push_back(ns);
  }
  if (!all_say) out.fastest.clear();
  out.usual = median(std::move(all));
  out.usual_fastest = median(std::move(fastest));
  out.spread = distances.widest();
  return out;
}

double beyond_cables(Distances& distances, const nlohmann::ordered_json& flow, const char* percentile) {
  return number(below(flow, "latency_ns"), percentile) - distances.between(text(flow, "src"), text(flow, "dst")).most;
}

double longest_queue_ns(const Case& c) {
  double longest = 0;
  for (const PortCase& p : c.ports())
    if (p.is_switch && p.rate_bps > 0) longest = std::max(longest, static_cast<double>(p.deepest()) * 8e9 / p.rate_bps);
  return longest;
}

std::string waiting_at(const Case& c, const std::string& element) {
  constexpr double kWorthSaying = 1e3;  // ns
  // The longest waits come first.
  for (const nlohmann::ordered_json& q : items(c.in_band(), "queues")) {
    const std::string name = fmt::format("{}:{}", text(q, "node"), count(q, "port"));
    const std::string peer = text(q, "peer");
    const bool is_there = element == name || element.starts_with(name + "-") || element.ends_with("-" + name) ||
                          element == peer || element == node_of(peer) || element == node_of(name);
    const nlohmann::ordered_json& waited = below(q, "waited_ns");
    if (!is_there || number(waited, "p99") < kWorthSaying) continue;
    return fmt::format("in-band telemetry: sampled packets waited {:.1f} us (median), {:.1f} us (p99) at {} towards {}, class {}",
                       number(waited, "p50") / 1e3, number(waited, "p99") / 1e3, name, peer, count(q, "class"));
  }
  return {};
}

}  // namespace railyard::doctor
