#include "control/build/uet_notes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "control/spec/frame_tags.h"
#include "control/spec/value.h"
#include "dataplane/wire/ip_protocol.h"

namespace railyard::build {
namespace {

bool hashes(const spec::TrafficClass& c) {
  return c.path.policy == spec::PathPolicy::kEcmp || c.path.policy == spec::PathPolicy::kWcmp;
}

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

void note_encapsulation(const spec::Lab& lab, const std::set<std::string>& hosts, const std::set<int>& dscps,
                        std::vector<std::string>& notes) {
  const auto switches =
      std::ranges::count_if(lab.nodes, [](const spec::NodeSpec& n) { return n.kind == spec::NodeSpec::Kind::kSwitch; });
  if (switches < 2) return;
  for (const std::string& name : hosts) {
    const spec::UetNicSpec& uet = lab.hosts.at(name).uet;
    if (uet.udp || uet.paths == 1 || uet.path_policy == spec::UetPathPolicy::kSingle) continue;
    const std::string where = fmt::format("hosts.{}.uet", name);
    if (uet.ip_protocol != wire::ip_protocol::kUetNative) {
      notes.push_back(
          fmt::format("{}: ip-protocol is {}, and switches know the entropy of UET behind {} only: packets are not "
                      "sprayed over paths",
                      where, uet.ip_protocol, wire::ip_protocol::kUetNative));
      continue;
    }
    for (const std::string& blind : blind_switches(lab, dscps))
      notes.push_back(fmt::format(
          "{}: encapsulation is ip, and switches.{}.ecmp.fields has no uet-entropy: packets are not sprayed over paths",
          where, blind));
  }
}

// With less than a BDP outstanding no PDC fills its link.
void note_window(const BuiltLab& lab, std::vector<std::string>& notes) {
  std::set<std::string> said;
  for (const UetNics::Named& nic : lab.uet_nics()) {
    const std::string& profile = lab.spec().find(nic.name.node)->profile;
    const spec::UetNicSpec& uet = lab.spec().hosts.at(profile).uet;
    const uet::EngineConfig& c = nic.endpoint->engine().config();
    const auto* const nscc = std::get_if<uet::NsccConfig>(&c.congestion);
    if (nscc == nullptr || said.contains(profile)) continue;
    const double bdp = std::ceil(static_cast<double>((nscc->rate * nscc->base_rtt).n) / c.payload_mtu);
    if (uet.window >= bdp) continue;
    said.insert(profile);
    notes.push_back(fmt::format(
        "hosts.{}.uet: window is {} packets, and {} at {} with a round trip of {} takes {:.0f} to be filled by one "
        "PDC; "
        "expected as many, and an mp-range to match",
        profile, uet.window, spec::format(nic.name), spec::format(nscc->rate), spec::format(nscc->base_rtt), bdp));
  }
}

}  // namespace

std::vector<std::string> uet_notes(const BuiltLab& lab) {
  std::vector<std::string> notes;
  if (lab.uet_nics().empty()) return notes;
  std::set<std::string> hosts;
  for (const UetNics::Named& nic : lab.uet_nics()) hosts.insert(lab.spec().find(nic.name.node)->profile);
  std::set<int> dscps;
  for (const spec::TrafficSpec& t : lab.spec().traffic)
    if (t.is_uet()) dscps.insert(t.dscp);
  for (const spec::CollectiveSpec& c : lab.spec().collectives)
    if (c.is_uet()) dscps.insert(c.dscp);
  note_encapsulation(lab.spec(), hosts, dscps, notes);
  note_window(lab, notes);
  return notes;
}

}  // namespace railyard::build
