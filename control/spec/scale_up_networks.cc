#include "control/spec/scale_up_networks.h"

namespace railyard::spec {

std::map<std::string, ScaleUpPlace> scale_up_places(const Lab& lab) {
  struct Last {
    std::uint32_t network = 0;
    std::uint32_t hosts = 0;  // that it has so far
  };
  std::map<std::string, ScaleUpPlace> places;
  std::map<std::string, Last> last;  // by profile
  std::uint32_t networks = 0;
  for (const NodeSpec& node : lab.nodes) {
    if (node.kind != NodeSpec::Kind::kHost) continue;
    const auto profile = lab.hosts.find(node.profile);
    if (profile == lab.hosts.end() || !profile->second.scale_up) continue;
    const auto share = static_cast<std::uint32_t>(profile->second.scale_up->hosts);
    Last& own = last[node.profile];
    if (own.hosts % share == 0) own = {networks++, 0};
    places[node.name] = {own.network, own.hosts++};
  }
  return places;
}

}  // namespace railyard::spec
