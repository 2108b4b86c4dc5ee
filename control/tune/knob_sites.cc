#include "control/tune/knob_sites.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::tune {
namespace {

using Transport = spec::TrafficSpec::Transport;

// Classes that data of the lab are in at a switch with this profile.
std::set<int> used_classes(const spec::Lab& lab, const spec::QosProfile& qos) {
  std::set<int> used;
  for (const spec::TrafficSpec& t : lab.traffic) used.insert(qos.class_of_untagged(t.dscp));
  for (const spec::CollectiveSpec& c : lab.collectives) used.insert(qos.class_of_untagged(c.dscp));
  return used;
}

std::set<std::string> profiles_of(const spec::Lab& lab, spec::NodeSpec::Kind kind) {
  std::set<std::string> all;
  for (const spec::NodeSpec& n : lab.nodes)
    if (n.kind == kind) all.insert(n.profile);
  return all;
}

}  // namespace

bool has_transport(const spec::Lab& lab, Transport transport) {
  return std::ranges::any_of(lab.traffic, [&](const auto& t) { return t.transport == transport; }) ||
         std::ranges::any_of(lab.collectives,
                             [&](const auto& c) { return c.is_uet() == (transport == Transport::kUet); });
}

bool runs_dcqcn(const spec::Lab& lab, const std::string& profile) {
  return lab.hosts.at(profile).roce.is_controlled_by<roce::Dcqcn>();
}

double fastest_gbps(const spec::Lab& lab) {
  std::int64_t most = 0;
  for (const spec::LinkSpec& l : lab.links) most = std::max(most, l.rate.bps);
  return static_cast<double>(most) / 1e9;
}

std::vector<KnobSite> sites_of(const spec::Lab& lab, KnobPlace place, const std::vector<int>& classes) {
  std::vector<KnobSite> sites;
  if (place == KnobPlace::kRoce || place == KnobPlace::kUet) {
    for (const std::string& p : profiles_of(lab, spec::NodeSpec::Kind::kHost)) sites.push_back({p, 0});
    return sites;
  }
  std::set<std::string> qos;
  for (const std::string& p : profiles_of(lab, spec::NodeSpec::Kind::kSwitch)) qos.insert(lab.switches.at(p).qos);
  for (const std::string& q : qos)
    for (const int c : used_classes(lab, lab.qos.at(q)))
      if (classes.empty() || std::ranges::find(classes, c) != classes.end()) sites.push_back({q, c});
  return sites;
}

std::string path_of(const Knob& knob, const KnobSite& site) {
  switch (knob.place) {
    case KnobPlace::kEcn:
      return fmt::format("qos.{}.classes.{}.ecn.{}", site.profile, site.traffic_class, knob.key);
    case KnobPlace::kClass:
      return fmt::format("qos.{}.classes.{}.{}", site.profile, site.traffic_class, knob.key);
    case KnobPlace::kRoce:
      return fmt::format("hosts.{}.roce.{}", site.profile, knob.key);
    case KnobPlace::kUet:
      return fmt::format("hosts.{}.uet.{}", site.profile, knob.key);
  }
  return {};
}

EcnValues ecn_of(const spec::Lab& lab, const KnobSite& site) {
  const spec::Ecn& ecn = lab.qos.at(site.profile).classes[static_cast<std::size_t>(site.traffic_class)].ecn;
  const BitRate rate{static_cast<std::int64_t>(fastest_gbps(lab) * 1e9)};
  const Bytes kmin = ecn.auto_thresholds ? spec::automatic_kmin(rate) : ecn.kmin;
  const Bytes kmax = ecn.auto_thresholds ? spec::automatic_kmax(rate) : ecn.kmax;
  return {static_cast<double>(kmin.n), static_cast<double>(kmax.n), ecn.pmax_ppm / 1e6};
}

std::string ecn_set(const spec::Lab& lab, const KnobSite& site, const EcnValues& values) {
  const spec::Ecn& ecn = lab.qos.at(site.profile).classes[static_cast<std::size_t>(site.traffic_class)].ecn;
  const EcnValues now = ecn_of(lab, site);
  const auto bytes = [](std::optional<double> v, std::optional<double> otherwise) {
    return Bytes{std::llround(v.value_or(*otherwise))};
  };
  const Bytes kmin = bytes(values.kmin, now.kmin);
  const Bytes kmax = std::max(kmin, bytes(values.kmax, now.kmax));
  return fmt::format("qos.{}.classes.{}.ecn={{ kmin: {}, kmax: {}, pmax: {}{}{} }}", site.profile, site.traffic_class,
                     spec::format(kmin), spec::format(kmax),
                     spec::format_ppm(static_cast<std::uint32_t>(std::llround(values.pmax.value_or(*now.pmax) * 1e6))),
                     ecn.at_dequeue ? ", mark: dequeue" : "", ecn.drop_not_ect ? ", drop-not-ect: true" : "");
}

}  // namespace railyard::tune
