#include "dataplane/switch/path/path_config.h"

#include <fmt/format.h>

#include "dataplane/switch/path/policies.h"

namespace railyard {

std::expected<void, std::string> validate(const PathConfig& config, const std::string& where) {
  for (const PathPolicyInfo& policy : kPathPolicies)
    for (const PathParameter& p : policy.parameters)
      if (const std::int64_t value = p.read(config);
          value != p.read(PathConfig{}) && (value < p.least || value > p.most))
        return std::unexpected(
            fmt::format("{}: {} of {} is {}; expected {}..{}", where, p.key, policy.name, value, p.least, p.most));
  return {};
}

}  // namespace railyard
