#include "tests/control/bench/schema_check.h"

#include <algorithm>

namespace railyard::bench {
namespace {

using SchemaJson = nlohmann::ordered_json;

bool is(const SchemaJson& document, const std::string& type) {
  return (type == "object" && document.is_object()) || (type == "array" && document.is_array()) ||
         (type == "string" && document.is_string()) || (type == "number" && document.is_number()) ||
         (type == "integer" && document.is_number_integer()) || (type == "boolean" && document.is_boolean()) ||
         (type == "null" && document.is_null());
}

}  // namespace

std::vector<std::string> problems(const SchemaJson& schema, const SchemaJson& document, const std::string& at) {
  std::vector<std::string> out;
  if (schema.contains("type")) {
    const SchemaJson& type = schema["type"];
    const bool fits = type.is_string() ? is(document, type) : std::ranges::any_of(type, [&](const SchemaJson& t) {
      return is(document, t.get<std::string>());
    });
    if (!fits) out.push_back(at + ": expected " + type.dump());
  }
  if (schema.contains("const") && document != schema["const"])
    out.push_back(at + ": expected " + schema["const"].dump());
  if (schema.contains("enum") && std::ranges::find(schema["enum"], document) == schema["enum"].end())
    out.push_back(at + ": expected one of " + schema["enum"].dump());
  const auto add = [&](const SchemaJson& part, const SchemaJson& value, const std::string& name) {
    for (std::string& p : problems(part, value, at + "/" + name)) out.push_back(std::move(p));
  };
  if (document.is_object()) {
    if (schema.contains("required"))
      for (const auto& key : schema["required"])
        if (!document.contains(key.get<std::string>())) out.push_back(at + ": no " + key.dump());
    if (schema.contains("properties"))
      for (const auto& [key, part] : schema["properties"].items())
        if (document.contains(key)) add(part, document[key], key);
  }
  if (document.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < document.size(); ++i) add(schema["items"], document[i], std::to_string(i));
  return out;
}

}  // namespace railyard::bench
