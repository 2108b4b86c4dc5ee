#include "control/build/tag_notes.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "control/spec/frame_tags.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"

namespace railyard::build {
namespace {

// A built-in NIC with its link to a switch.
struct Edge {
  spec::PortName nic;
  const spec::NodeSpec* host;
  spec::PortName leaf_port;
  const spec::NodeSpec* leaf;
};

std::vector<Edge> edges(const spec::Lab& lab) {
  std::vector<Edge> all;
  for (const spec::LinkSpec& l : lab.links)
    for (const auto& [near, far] : {std::pair(l.a, l.b), std::pair(l.b, l.a)}) {
      const spec::NodeSpec* host = lab.find(near.node);
      const spec::NodeSpec* leaf = lab.find(far.node);
      if (host->kind != spec::NodeSpec::Kind::kHost || leaf->kind != spec::NodeSpec::Kind::kSwitch) continue;
      if (std::holds_alternative<std::monostate>(host->nics[static_cast<std::size_t>(near.port) - 1].attach))
        all.push_back({near, host, far, leaf});
    }
  return all;
}

bool trusts_pcp(const spec::Lab& lab, const spec::NodeSpec& node) {
  return spec::qos_of(lab, node).trust == spec::Trust::kPcp;
}

int native_at(const spec::NodeSpec& node, int port) {
  const auto found = node.vlans.find(port);
  return found == node.vlans.end() ? spec::VlanSpec{}.native : found->second.native;
}

std::string and_more(const std::vector<std::string>& names, const char* what) {
  return names.size() == 1 ? names.front() : fmt::format("{} and {} more {}", names.front(), names.size() - 1, what);
}

}  // namespace

std::vector<std::string> tag_lines(const spec::Lab& lab) {
  std::map<std::pair<int, std::array<int, kPriorities>>, std::vector<std::string>> kinds;
  for (const Edge& e : edges(lab))
    if (const auto tags = spec::tags_of(lab, e.nic)) kinds[{tags->vid, tags->pcp}].push_back(spec::format(e.nic));
  std::vector<std::string> lines;
  for (const auto& [kind, nics] : kinds) {
    std::string other;
    for (std::size_t k = 0; k < kPriorities; ++k)
      if (kind.second[k] != static_cast<int>(k)) other += fmt::format(", {} for class {}", kind.second[k], k);
    lines.push_back(fmt::format("{}, PCP = class{}   {}",
                                kind.first == 0 ? std::string("priority tags") : fmt::format("VLAN {}", kind.first),
                                other, and_more(nics, "NICs")));
  }
  return lines;
}

std::vector<std::string> tag_warnings(const spec::Lab& lab) {
  std::map<std::tuple<std::string, std::string, int>, std::vector<std::string>> untagged;
  std::set<int> vlans;  // that tagged frames are in
  for (const Edge& e : edges(lab)) {
    const auto tags = spec::tags_of(lab, e.nic);
    if (tags) vlans.insert(tags->vid != 0 ? tags->vid : native_at(*e.leaf, e.leaf_port.port));
    if (!tags && trusts_pcp(lab, *e.leaf))
      untagged[{e.host->profile, e.leaf->name, spec::qos_of(lab, *e.leaf).default_class}].push_back(
          spec::format(e.nic));
  }
  std::vector<std::string> lines;
  for (const auto& [kind, nics] : untagged) {
    const auto& [profile, leaf, priority] = kind;
    lines.push_back(fmt::format(
        "{} trusts PCP, and frames of {} carry no 802.1Q tag: all go to class {} (default-class). Set hosts.{}.vlan", leaf,
        and_more(nics, "NICs"), priority, profile));
  }
  for (const spec::LinkSpec& l : lab.links)
    for (const auto& [near, far] : {std::pair(l.a, l.b), std::pair(l.b, l.a)}) {
      const spec::NodeSpec* from = lab.find(near.node);
      const spec::NodeSpec* to = lab.find(far.node);
      if (from->kind != spec::NodeSpec::Kind::kSwitch || to->kind != spec::NodeSpec::Kind::kSwitch) continue;
      const int native = native_at(*from, near.port);
      if (trusts_pcp(lab, *to) && vlans.contains(native))
        lines.push_back(
            fmt::format("{} sends VLAN {} without tags, and {} trusts PCP: the class of its frames is lost. "
                        "Carry the VLAN tagged there (nodes.{}.vlans)",
                        spec::format(near), native, to->name, from->name));
    }
  return lines;
}

}  // namespace railyard::build
