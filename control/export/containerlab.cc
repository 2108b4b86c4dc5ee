#include <fmt/format.h>

#include "control/export/export.h"
#include "control/spec/interface_name.h"
#include "control/spec/yaml/print.h"
#include "control/spec/yaml/tree.h"

namespace railyard::exporting {

using spec::Tree;

std::string containerlab(const spec::Lab& lab) {
  const auto group = [](const char* kind, const char* image) {
    return Tree::map({{"kind", Tree::string(kind)}, {"image", Tree::string(image)}});
  };
  Tree nodes = Tree::map({});
  for (const spec::NodeSpec& node : lab.nodes) {
    const char* const of = node.kind == spec::NodeSpec::Kind::kSwitch ? "switch" : "host";
    nodes.entries.push_back({node.name, Tree::map({{"group", Tree::string(of)}})});
  }
  Tree links = Tree::list({});
  for (const spec::LinkSpec& link : lab.links) {
    const auto end = [&](const spec::PortName& p) {
      return Tree::string(fmt::format("{}:{}", p.node, spec::interface_name(lab, *lab.find(p.node), p.port)));
    };
    links.items.push_back(
        Tree::map({{"endpoints", Tree::list({end(link.a), end(link.b)})}, {"mtu", Tree::plain(std::to_string(link.mtu))}}));
  }
  return spec::print_yaml(Tree::map(
      {{"name", Tree::string(lab.name)},
       {"topology", Tree::map({{"groups", Tree::map({{"switch", group("sonic-vs", "docker-sonic-vs:latest")},
                                                     {"host", group("linux", "debian:12")}})},
                               {"nodes", std::move(nodes)},
                               {"links", std::move(links)}})}}));
}

}  // namespace railyard::exporting
