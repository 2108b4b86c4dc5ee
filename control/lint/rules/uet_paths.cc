// What keeps UET from the paths and the rate that it could use.
#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/report/units.h"
#include "control/spec/frame_tags.h"
#include "control/spec/value.h"
#include "dataplane/switch/path/policies.h"
#include "dataplane/wire/ip_protocol.h"

namespace railyard::lint {
namespace {

bool hashes(const spec::TrafficClass& c) { return unit_of(c.path) == PathUnit::kFlow; }

// Profiles of switches by whose hash packets without UDP ports all take one path.
std::set<std::string> blind_switches(const spec::Lab& lab, const std::set<int>& dscps) {
  std::set<std::string> blind;
  for (const spec::NodeSpec& n : lab.nodes) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch) continue;
    const spec::SwitchProfile& s = lab.switches.at(n.profile);
    const spec::QosProfile& qos = lab.qos.at(s.qos);
    const bool hashed = std::ranges::any_of(dscps, [&](int dscp) {
      const int k = spec::class_at_switch(lab, qos, dscp);
      return hashes(qos.classes[static_cast<std::size_t>(k)]);
    });
    if (hashed && !s.ecmp.uet_entropy) blind.insert(n.profile);
  }
  return blind;
}

// Profiles of hosts that speak UET.
std::set<std::string> uet_hosts(const Facts& facts) {
  std::set<std::string> hosts;
  for (const build::UetNics::Named& nic : facts.built().uet_nics())
    hosts.insert(facts.lab().find(nic.name.node)->profile);
  return hosts;
}

void find_not_sprayed(const Facts& facts, Findings& findings) {
  const spec::Lab& lab = facts.lab();
  std::set<int> dscps;
  for (const spec::TrafficSpec& t : lab.traffic)
    if (t.is_uet()) dscps.insert(t.dscp);
  for (const spec::CollectiveSpec& c : lab.collectives)
    if (c.is_uet()) dscps.insert(c.dscp);
  const auto switches =
      std::ranges::count_if(lab.nodes, [](const spec::NodeSpec& n) { return n.kind == spec::NodeSpec::Kind::kSwitch; });
  if (switches < 2) return;
  for (const std::string& name : uet_hosts(facts)) {
    const spec::UetNicSpec& uet = lab.hosts.at(name).uet;
    if (uet.udp || uet.paths == 1 || uet.path_policy == spec::UetPathPolicy::kSingle) continue;
    const std::string where = fmt::format("hosts.{}.uet", name);
    if (uet.ip_protocol != wire::ip_protocol::kUetNative) {
      findings.add(where + ".ip-protocol",
                   fmt::format("Packets are not sprayed: switches read UET entropy with IP protocol {} only, but "
                               "ip-protocol is {}.",
                               wire::ip_protocol::kUetNative, uet.ip_protocol),
                   fmt::format("Set ip-protocol: {}, or encapsulation: udp.", wire::ip_protocol::kUetNative));
      continue;
    }
    for (const std::string& blind : blind_switches(lab, dscps))
      findings.add(where + ".encapsulation",
                   fmt::format("Packets are not sprayed: encapsulation is ip, but switches.{}.ecmp.fields has no "
                               "uet-entropy.",
                               blind),
                   fmt::format("Add uet-entropy to switches.{}.ecmp.fields, or set encapsulation: udp.", blind));
  }
}

// With less than a BDP outstanding no PDC fills its link.
void find_window_below_bdp(const Facts& facts, Findings& findings) {
  std::set<std::string> said;
  for (const build::UetNics::Named& nic : facts.built().uet_nics()) {
    const std::string& profile = facts.lab().find(nic.name.node)->profile;
    const spec::UetNicSpec& uet = facts.lab().hosts.at(profile).uet;
    const uet::EngineConfig& c = nic.endpoint->engine().config();
    const auto* const nscc = std::get_if<uet::NsccConfig>(&c.congestion);
    if (nscc == nullptr || said.contains(profile)) continue;
    const double bdp = std::ceil(static_cast<double>((nscc->rate * nscc->base_rtt).n) / c.payload_mtu);
    if (uet.window >= bdp) continue;
    said.insert(profile);
    findings.add(
        fmt::format("hosts.{}.uet.window", profile),
        fmt::format("A window of {} packets does not fill {} at {}: a PDC needs {:.0f} packets for a round trip of "
                    "{}.",
                    uet.window, spec::format(nic.name), spec::format(nscc->rate), bdp,
                    report::time_text(nscc->base_rtt)),
        fmt::format("Set window and mp-range to at least {:.0f}.", bdp));
  }
}

}  // namespace

const Rule kUetNotSprayed{"uet-not-sprayed", Severity::kWarning,
                          "Switches do not read the entropy of UET packets: each PDC uses a single path.",
                          find_not_sprayed};
const Rule kUetWindowBelowBdp{"uet-window-below-bdp", Severity::kWarning,
                              "The window of a PDC is below the bandwidth-delay product of the path.",
                              find_window_below_bdp};

}  // namespace railyard::lint
