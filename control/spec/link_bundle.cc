#include "control/spec/link_bundle.h"

#include <map>

namespace railyard::spec {

void name_bundles(Lab& lab) {
  std::map<std::string, std::size_t> order;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) order[lab.nodes[n].name] = n;
  for (LinkSpec& link : lab.links) {
    if (link.bundle != kAutomaticBundle) continue;
    const bool a_first = order[link.a.node] <= order[link.b.node];
    link.bundle = (a_first ? link.a : link.b).node + "-" + (a_first ? link.b : link.a).node;
  }
}

std::vector<LinkBundle> link_bundles(const Lab& lab) {
  std::vector<LinkBundle> out;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < lab.links.size(); ++i) {
    if (lab.links[i].bundle.empty()) continue;
    const auto [at, is_new] = known.try_emplace(lab.links[i].bundle, out.size());
    if (is_new) out.push_back({lab.links[i].bundle, {}});
    out[at->second].links.push_back(i);
  }
  return out;
}

std::vector<std::uint16_t> bundle_of_links(const Lab& lab) {
  std::vector<std::uint16_t> out(lab.links.size());
  std::uint16_t number = 0;
  for (const LinkBundle& bundle : link_bundles(lab)) {
    ++number;
    for (const std::size_t link : bundle.links) out[link] = number;
  }
  return out;
}

}  // namespace railyard::spec
