#include "control/report/bundle_report.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/units.h"
#include "control/spec/link_bundle.h"
#include "control/spec/value.h"

namespace railyard::report {

std::size_t BundleReport::up() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(members, &Member::up));
}

std::vector<BundleReport> bundle_reports(const build::BuiltLab& lab, const std::vector<PortReport>& ports) {
  const std::vector<spec::LinkBundle> bundles = spec::link_bundles(lab.spec());
  if (bundles.empty()) return {};
  std::map<spec::PortName, const PortCounters*> counters;
  for (const PortReport& p : ports) counters[{p.node, p.port}] = &p.counters;
  std::vector<BundleReport> out;
  for (const spec::LinkBundle& bundle : bundles) {
    BundleReport& r = out.emplace_back();
    r.name = bundle.name;
    const spec::LinkSpec& first = lab.spec().links[bundle.links.front()];
    r.member_bps = first.rate.bps;
    for (const std::size_t i : bundle.links) {
      const spec::LinkSpec& link = lab.spec().links[i];
      const bool same_way = link.a.node == first.a.node;
      const spec::PortName& a = same_way ? link.a : link.b;
      const spec::PortName& b = same_way ? link.b : link.a;
      const PortRef at = lab.port(a);
      const PortCounters& of_a = *counters.at(a);
      const PortCounters& of_b = *counters.at(b);
      r.members.push_back({.port_a = spec::format(a),
                           .port_b = spec::format(b),
                           .up = lab.fabric()[at.device].has_signal(at.port),
                           .packets_a_to_b = of_a.tx_packets(),
                           .packets_b_to_a = of_b.tx_packets(),
                           .octets_a_to_b = of_a.tx_octets(),
                           .octets_b_to_a = of_b.tx_octets()});
    }
  }
  return out;
}

std::string bundles_text(const std::vector<BundleReport>& bundles) {
  constexpr std::size_t kMostBundles = 16;
  if (bundles.empty()) return {};
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\nBundles\n  {:24} {:>9} {:>12} {:>12}  {}\n", "bundle", "up", "sent", "received", "by member");
  for (std::size_t i = 0; i < std::min(bundles.size(), kMostBundles); ++i) {
    const BundleReport& b = bundles[i];
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::string members;
    for (const BundleReport::Member& m : b.members) {
      sent += m.octets_a_to_b;
      received += m.octets_b_to_a;
      members += fmt::format("{}{}{}: {}", members.empty() ? "" : ", ", m.port_a, m.up ? "" : " (down)",
                             size_text(m.octets_a_to_b));
    }
    fmt::format_to(out, "  {:24} {:>9} {:>12} {:>12}  {}\n", b.name, fmt::format("{} of {}", b.up(), b.members.size()),
                   size_text(sent), size_text(received), members);
  }
  if (bundles.size() > kMostBundles) fmt::format_to(out, "  and {} more\n", bundles.size() - kMostBundles);
  return text;
}

}  // namespace railyard::report
