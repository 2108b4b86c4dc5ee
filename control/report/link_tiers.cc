#include "control/report/link_tiers.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "control/report/report.h"

namespace railyard::report {
namespace {

std::string role_of(const spec::NodeSpec& node) {
  if (node.kind == spec::NodeSpec::Kind::kHost) return "host";
  if (node.kind == spec::NodeSpec::Kind::kTrunk) return "trunk";
  return node.role.empty() ? "switch" : node.role;
}

}  // namespace

std::vector<LinkTier> link_tiers(const build::BuiltLab& lab, const std::vector<PortReport>& ports) {
  const auto role = [&](const std::string& node) { return role_of(*lab.spec().find(node)); };
  struct Tier {
    LinkTier report;
    std::vector<double> utilisation, load;
    double busiest = -1;  // utilisation
  };
  std::vector<Tier> tiers;
  std::map<std::string, std::size_t> index;
  for (const PortReport& p : ports) {
    if (p.peer.empty() || p.rate_bps <= 0) continue;
    const std::string name = fmt::format("{} to {}", role(p.node), role(p.peer.substr(0, p.peer.rfind(':'))));
    const auto [at, is_new] = index.try_emplace(name, tiers.size());
    if (is_new) tiers.emplace_back().report.name = name;
    Tier& t = tiers[at->second];
    if (p.utilisation > t.busiest) {
      t.busiest = p.utilisation;
      t.report.busiest = fmt::format("{}:{}", p.node, p.port);
    }
    ++t.report.links;
    t.report.bytes += p.counters.tx_octets();
    t.utilisation.push_back(p.utilisation);
    t.load.push_back(static_cast<double>(p.counters.tx_octets()) / static_cast<double>(p.rate_bps));
  }
  std::ranges::stable_sort(tiers, {}, [](const Tier& t) { return !t.report.name.starts_with("host"); });
  std::vector<LinkTier> out;
  for (Tier& t : tiers) {
    t.report.max_over_mean = max_over_mean(t.load);
    t.report.jain = jain_index(t.load);
    const Spread s = Spread::of(std::move(t.utilisation));
    t.report.mean_utilisation = s.mean;
    t.report.p95_utilisation = s.p95;
    t.report.max_utilisation = s.max;
    out.push_back(std::move(t.report));
  }
  return out;
}

}  // namespace railyard::report
