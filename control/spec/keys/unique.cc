#include "control/spec/keys/unique.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>

#include "control/collectives/registry.h"
#include "control/spec/faults/fault_kind.h"
#include "control/spec/presets/preset.h"
#include "dataplane/switch/path/policies.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::spec {

void require_unique(std::string_view what, std::span<const std::string> names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second) throw std::logic_error(fmt::format("two {} are called '{}'", what, name));
}

void require_unique_definitions(const Tree& definitions) {
  std::vector<std::string> names;
  for (const Tree::Entry& d : definitions.entries) names.push_back(d.key);
  require_unique("tables of keys, or values, of the schema", names);
}

void check_fault_kinds(std::span<const FaultKind> kinds) {
  std::vector<std::string> names;
  std::set<std::string_view> keys;
  for (const FaultKind& kind : kinds) {
    names.push_back(kind.name);
    if (!keys.insert(kind.key).second && !kind.is_meant_by)
      throw std::logic_error(
          fmt::format("two kinds of faults have the key '{}'; expected is_meant_by in the descriptor of {}", kind.key,
                      kind.name));
  }
  require_unique("kinds of faults", names);
}

void check_path_policies(std::span<const PathPolicyInfo> policies) {
  std::vector<std::string> names;
  for (const PathPolicyInfo& policy : policies) {
    names.emplace_back(policy.name);
    std::vector<std::string> keys;
    for (const PathParameter& p : policy.parameters) {
      keys.emplace_back(p.key);
      for (const PathPolicyInfo& other : policies)
        for (const PathParameter& q : other.parameters)
          if (q.key == p.key && (q.read != p.read || q.kind != p.kind || q.least != p.least || q.most != p.most))
            throw std::logic_error(fmt::format("path policies {} and {} have the key '{}' with different settings or "
                                               "ranges behind it",
                                               other.name, policy.name, p.key));
    }
    require_unique(fmt::format("keys of path policy {}", policy.name), keys);
  }
  require_unique("path policies", names);
}

void check_kinds() {
  check_fault_kinds(fault_kinds());
  check_path_policies(kPathPolicies);
  std::vector<std::string> names{std::string(roce::kNoCongestionName), std::string(roce::kAutomaticCongestionName)};
  roce::for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t) { names.emplace_back(K::kName); });
  require_unique("congestion controls", names);
  names.clear();
  for (const collectives::Algorithm* a : collectives::kAlgorithms) {
    names.emplace_back(a->name);
    if (!a->also.empty()) names.emplace_back(a->also);
  }
  require_unique("collective algorithms", names);
  names.clear();
  for (const Preset& p : presets()) names.push_back(p.name);
  require_unique("presets", names);
}

}  // namespace railyard::spec
