#include "control/spec/draft.h"

#include <fmt/format.h>

#include "control/spec/suggest.h"

namespace railyard::spec {

std::size_t Draft::node(const std::string& name, const Tree& where) const {
  if (const auto found = node_index.find(name); found != node_index.end()) return found->second;
  std::vector<std::string> names;
  for (const NodeSpec& node : lab.nodes) names.push_back(node.name);
  where.fail(fmt::format("there is no node '{}'{}", name, did_you_mean(name, names)));
}

}  // namespace railyard::spec
