// railyard topologies: the presets of `topology:`, and what can be said of each.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/base/text_table.h"
#include "control/spec/presets/preset.h"
#include "control/spec/suggest.h"
#include "control/spec/yaml/print.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

using Json = nlohmann::ordered_json;

// "1 to 4096", "leaf, spine", "rate".
std::string values_of(const Json& key) {
  const auto word = [&](const char* name) { return key.contains(name) ? key[name].dump() : std::string(); };
  if (key.contains("minimum") && key.contains("maximum")) return word("minimum") + " to " + word("maximum");
  if (key.contains("$ref")) {
    const std::string ref = key["$ref"].get<std::string>();
    return ref.substr(ref.rfind('/') + 1);
  }
  if (key.contains("enum")) {
    std::vector<std::string> words;
    for (const Json& w : key["enum"]) words.push_back(w.is_string() ? w.get<std::string>() : w.dump());
    return fmt::format("{}", fmt::join(words, ", "));
  }
  for (const char* any : {"anyOf", "oneOf"})
    if (key.contains(any)) {
      std::vector<std::string> words;
      for (const Json& k : key[any])
        if (std::string text = values_of(k); !text.empty()) words.push_back(std::move(text));
      return fmt::format("{}", fmt::join(words, " or "));
    }
  return "";
}

Json parameters_of(const spec::Preset& preset) {
  const Json schema = Json::parse(spec::print_json(preset.schema()));
  Json out = Json::array();
  for (const auto& [name, key] : schema["properties"].items()) {
    if (name == "preset") continue;
    const Json& required = schema["required"];
    const bool is_required = std::ranges::find(required, Json(name)) != required.end();
    out.push_back({{"name", name},
                   {"required", is_required},
                   {"values", values_of(key)},
                   {"default", key.contains("default") ? key["default"] : Json(nullptr)},
                   {"text", key.contains("description") ? key["description"] : Json("")}});
  }
  return out;
}

Json json_of(const spec::Preset& preset) {
  Json examples = Json::array();
  for (const spec::ReferenceLine& line : preset.reference)
    examples.push_back(fmt::format("topology: {{ preset: {}, {} }}", preset.name, line.value));
  return {{"name", preset.name},
          {"summary", preset.summary},
          {"examples", std::move(examples)},
          {"parameters", parameters_of(preset)}};
}

void print(const Json& preset) {
  fmt::print("{}: {}\n\n", preset["name"].get<std::string>(), preset["summary"].get<std::string>());
  for (const Json& e : preset["examples"]) fmt::print("  {}\n", e.get<std::string>());
  std::vector<std::vector<std::string>> rows{{"parameter", "values", "default", ""}};
  for (const Json& p : preset["parameters"]) {
    const Json& value = p["default"];
    rows.push_back({p["name"].get<std::string>(), p["values"].get<std::string>(),
                    p["required"].get<bool>() ? "required"
                    : value.is_null()         ? ""
                    : value.is_string()       ? value.get<std::string>()
                                              : value.dump(),
                    p["text"].get<std::string>()});
  }
  fmt::print("\n{}", text_table(rows, 4, "  "));
}

int list(const std::string& name, bool as_json) {
  std::vector<std::string> names;
  for (const spec::Preset& preset : spec::presets()) names.push_back(preset.name);
  const auto chosen = std::ranges::find(spec::presets(), name, &spec::Preset::name);
  if (!name.empty() && chosen == spec::presets().end())
    throw CLI::ValidationError(
        "NAME", fmt::format("there is no preset '{}'{}", name, spec::meant_or_known(name, names)));
  if (as_json) {
    Json all = Json::array();
    for (const spec::Preset& preset : spec::presets())
      if (name.empty() || preset.name == name) all.push_back(json_of(preset));
    std::puts(json_text(all, 2).c_str());
  } else if (!name.empty()) {
    print(json_of(*chosen));
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const spec::Preset& preset : spec::presets()) rows.push_back({preset.name, preset.summary});
    fmt::print("{}\n`railyard topologies NAME` lists its parameters.\n", text_table(rows, 2));
  }
  return kOk;
}

}  // namespace

void add_topologies(CLI::App* command, int& exit_code) {
  auto name = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("NAME", *name, "Name of a preset")->type_name("");
  command->add_flag("--json", *as_json, "Print JSON");
  command->footer(
      "A fabric file names one in `topology:`; `railyard show FILE` prints the nodes and links that it makes, and\n"
      "`railyard check FILE` the figures of its structure.\n"
      "Examples:\n"
      "  railyard topologies\n"
      "  railyard topologies fat-tree");
  command->callback([=, &exit_code] { exit_code = list(*name, *as_json); });
}

}  // namespace railyard::tools
