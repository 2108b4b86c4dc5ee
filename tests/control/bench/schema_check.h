// Whether a JSON document fits a JSON schema: the keywords that fabric-bench.schema.json uses.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::bench {

// What does not fit, a line each: "/results/0/test: expected string".
std::vector<std::string> problems(const nlohmann::ordered_json& schema, const nlohmann::ordered_json& document,
                                  const std::string& at = "");

}  // namespace railyard::bench
