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
  std::map<std::string, std::string> roles;
  for (const spec::NodeSpec& n : lab.spec().nodes) roles[n.name] = role_of(n);
  std::map<std::string, std::string> peers;  // of ports
  for (const spec::LinkSpec& l : lab.spec().links) {
    peers[fmt::format("{}:{}", l.a.node, l.a.port)] = l.b.node;
    peers[fmt::format("{}:{}", l.b.node, l.b.port)] = l.a.node;
  }
  struct Tier {
    LinkTier report;
    std::vector<double> utilisation, load;
  };
  std::vector<Tier> tiers;
  std::map<std::string, std::size_t> index;
  for (const PortReport& p : ports) {
    const std::string port = fmt::format("{}:{}", p.node, p.port);
    const auto peer = peers.find(port);
    if (peer == peers.end() || p.rate_bps <= 0) continue;
    const std::string name = fmt::format("{} to {}", roles[p.node], roles[peer->second]);
    const auto [at, is_new] = index.try_emplace(name, tiers.size());
    if (is_new) tiers.emplace_back().report.name = name;
    Tier& t = tiers[at->second];
    if (t.utilisation.empty() || p.utilisation > *std::ranges::max_element(t.utilisation)) t.report.busiest = port;
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
