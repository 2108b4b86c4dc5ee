#include "control/spec/interface_name.h"

#include <cstddef>

#include <fmt/format.h>

namespace railyard::spec {

std::string interface_name(const Lab& lab, const NodeSpec& node, int port) {
  if (node.kind == NodeSpec::Kind::kHost)
    if (const auto& names = lab.hosts.at(node.profile).interfaces; !names.empty())
      return names.at(static_cast<std::size_t>(port) - 1);
  return fmt::format("eth{}", port);
}

}  // namespace railyard::spec
