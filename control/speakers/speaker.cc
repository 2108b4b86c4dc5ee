#include "control/speakers/speaker.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/routing/bgp/as_numbers.h"
#include "control/routing/graph.h"

namespace railyard::speakers {
namespace {

SpeakerPort port_of(const spec::Lab& lab, const routing::Graph::Edge& e) {
  const spec::NodeSpec& peer = lab.nodes[e.neighbour];
  SpeakerPort port{.port = e.port.value + 1,
                   .peer = {peer.name, e.neighbour_port.value + 1},
                   .to_switch = peer.kind == spec::NodeSpec::Kind::kSwitch,
                   .hosts = {}};
  if (peer.kind == spec::NodeSpec::Kind::kHost) {
    const spec::NicSpec& nic = peer.nics[e.neighbour_port.index()];
    for (const auto& address : {nic.address_v4, nic.address_v6})
      if (address) port.hosts.push_back(*address);
  }
  return port;
}

}  // namespace

std::vector<Speaker> speakers_of(const spec::Lab& lab) {
  std::vector<Speaker> out;
  if (std::ranges::none_of(lab.nodes, spec::is_controlled)) return out;
  const routing::Graph graph(lab);
  const std::vector<routing::bgp::AsNumber> as = routing::bgp::as_numbers(graph, lab.routing.as_numbers);
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) {
    const spec::NodeSpec& node = lab.nodes[n];
    if (!spec::is_controlled(node)) continue;
    Speaker& speaker = out.emplace_back();
    speaker.name = node.name;
    speaker.control = *node.control;
    speaker.loopback_v4 = node.loopback_v4;
    speaker.loopback_v6 = node.loopback_v6;
    speaker.as = as[n];
    for (const routing::Graph::Edge& e : graph.edges(n)) speaker.ports.push_back(port_of(lab, e));
  }
  return out;
}

std::string interface_of(int port) { return fmt::format("swp{}", port); }

}  // namespace railyard::speakers
