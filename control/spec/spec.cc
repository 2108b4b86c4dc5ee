#include "control/spec/spec.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace railyard::spec {

std::string to_string(const Place& place) {
  return place.line > 0 ? fmt::format("{}:{}:{}", place.file, place.line, place.column) : place.file;
}

const NodeSpec* Lab::find(const std::string& node) const noexcept {
  const auto known = index.by_name.find(node);
  if (known != index.by_name.end() && known->second < nodes.size() && nodes[known->second].name == node)
    return &nodes[known->second];
  const auto found = std::ranges::find(nodes, node, &NodeSpec::name);
  return found == nodes.end() ? nullptr : &*found;
}

void Lab::make_index() {
  index.by_name.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) index.by_name.try_emplace(nodes[i].name, i);
}

bool RunSpec::operator==(const RunSpec& o) const {
  const auto members = [](const RunSpec& r) {
    return std::tie(r.clock, r.seed.value, r.duration, r.drain, r.scale_numerator, r.scale_denominator, r.workers,
                    r.payload, r.memory, r.hugepages, r.lag_limit, r.polling, r.cores, r.gpu_hour, r.deadlock, r.in_band, r.budgets,
                    r.timeline, r.agents);
  };
  return members(*this) == members(o);
}

}  // namespace railyard::spec
