#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/check/check.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"

namespace railyard::spec {
namespace {

template <class T>
void expect_profile(const std::map<std::string, T>& profiles, const std::string& name, const char* what,
                    const Tree& where) {
  if (profiles.contains(name)) return;
  std::vector<std::string> names;
  for (const auto& [known, profile] : profiles) names.push_back(known);
  const std::string guess = did_you_mean(name, names);
  where.fail(fmt::format("there is no {} profile '{}'{} Known here: {}", what, name, guess.empty() ? "." : guess,
                         fmt::join(names, ", ")));
}

// Where the preset's key or the node's says which profile.
const Tree& profile_key(const Tree& said, const NodeSpec& node) {
  if (const Tree* own = said.find("profile")) return *own;
  return said.at_or_self(node.kind == NodeSpec::Kind::kHost ? "host-profile" : node.role + "-profile");
}

template <class T>
void expect_qos(const Draft& draft, const std::map<std::string, T>& profiles, const Tree* section) {
  for (const auto& [name, profile] : profiles) {
    const Tree& said = section != nullptr ? section->at_or_self(name) : *draft.document;
    expect_profile(draft.lab.qos, profile.qos, "QoS", said.at_or_self("qos"));
  }
}

// One port's headroom cannot be more than all memory; whether that of all ports fits is seen when the lab is built.
void check_headroom(const Draft& draft) {
  for (const auto& [name, profile] : draft.lab.switches) {
    const QosProfile& qos = draft.lab.qos.at(profile.qos);
    for (std::size_t k = 0; k < qos.classes.size(); ++k) {
      const TrafficClass& c = qos.classes[k];
      if (!c.lossless || !c.headroom || *c.headroom < profile.buffer) continue;
      const Tree& said = draft.sections.qos != nullptr ? draft.sections.qos->at_or_self(profile.qos) : *draft.document;
      said.at_or_self("classes")
          .at_or_self(std::to_string(k))
          .at_or_self("headroom")
          .fail(fmt::format("{} is not less than the whole buffer of switch profile {} ({})", format(*c.headroom), name,
                            format(profile.buffer)));
    }
  }
}

// Every NIC has a name of its own.
void check_interfaces(const Draft& draft) {
  for (const auto& [name, profile] : draft.lab.hosts) {
    if (profile.interfaces.empty()) continue;
    const Tree& said = draft.sections.hosts->at_or_self(name).at_or_self("interfaces");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < profile.interfaces.size(); ++i)
      if (!seen.insert(profile.interfaces[i]).second || profile.interfaces[i] == "lo")
        said.items[i].fail(fmt::format("interface '{}' is there already", profile.interfaces[i]));
    for (const NodeSpec& node : draft.lab.nodes)
      if (node.kind == NodeSpec::Kind::kHost && node.profile == name && node.nics.size() > profile.interfaces.size())
        said.fail(fmt::format("found {}; expected one for each of the {} NICs of {}", profile.interfaces.size(),
                              node.nics.size(), node.name));
  }
}

// GPUs reach each other over the scale-up network, and each has a NIC that its host has.
void check_gpus(const Draft& draft) {
  for (const auto& [name, profile] : draft.lab.hosts) {
    if (!profile.gpus && profile.gpu_nics.empty()) continue;
    const Tree& said = draft.sections.hosts->at_or_self(name);
    if (!profile.gpus) said.at_or_self("gpu-nics").fail("found without gpus; expected gpus with it");
    if (!profile.scale_up)
      said.at_or_self("gpus").fail(
          "found without scale-up, by which the GPUs of a host reach each other; expected e.g. scale-up: { rate: 3600Gbps }");
    if (!profile.gpu_nics.empty() && profile.gpu_nics.size() != static_cast<std::size_t>(*profile.gpus))
      said.at_or_self("gpu-nics").fail(
          fmt::format("found {} NICs; expected {}: one for each GPU", profile.gpu_nics.size(), *profile.gpus));
    for (const NodeSpec& node : draft.lab.nodes) {
      if (node.kind != NodeSpec::Kind::kHost || node.profile != name) continue;
      for (std::size_t g = 0; g < profile.gpu_nics.size(); ++g)
        if (static_cast<std::size_t>(profile.gpu_nics[g]) > node.nics.size())
          said.at_or_self("gpu-nics").items[g].fail(fmt::format("NIC {} of GPU {}: {} has {} NIC{}", profile.gpu_nics[g],
                                                                g + 1, node.name, node.nics.size(),
                                                                node.nics.size() == 1 ? "" : "s"));
    }
  }
}

}  // namespace

void check_profiles(const Draft& draft) {
  expect_qos(draft, draft.lab.switches, draft.sections.switches);
  expect_qos(draft, draft.lab.hosts, draft.sections.hosts);
  check_headroom(draft);
  for (std::size_t i = 0; i < draft.lab.nodes.size(); ++i) {
    const NodeSpec& node = draft.lab.nodes[i];
    if (node.kind == NodeSpec::Kind::kTrunk) continue;
    const Tree& where = profile_key(*draft.nodes[i], node);
    if (node.kind == NodeSpec::Kind::kSwitch)
      expect_profile(draft.lab.switches, node.profile, "switch", where);
    else
      expect_profile(draft.lab.hosts, node.profile, "host", where);
  }
  check_interfaces(draft);
  check_gpus(draft);
}

}  // namespace railyard::spec
