#include "control/build/tag_lines.h"

#include <map>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "control/spec/frame_tags.h"
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

}  // namespace railyard::build
