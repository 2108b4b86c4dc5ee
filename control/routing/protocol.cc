#include "control/routing/protocol.h"

#include "control/routing/bgp/network.h"
#include "control/routing/instant.h"

namespace railyard::routing {

std::unique_ptr<Protocol> make_protocol(const spec::RoutingSpec& spec, const Graph& graph, const Routes& routes,
                                        Duration reaction) {
  switch (spec.protocol) {
    case spec::RoutingProtocol::kBgp:
      return std::make_unique<bgp::Network>(spec, graph, routes, reaction);
    case spec::RoutingProtocol::kInstant:
      return std::make_unique<Instantly>(graph, routes, reaction);
    case spec::RoutingProtocol::kStatic:
      break;
  }
  return nullptr;
}

}  // namespace railyard::routing
