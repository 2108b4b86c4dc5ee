// Commands of a few lines: show, schema, version.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/build/built_lab.h"
#include "control/build/derived_settings.h"
#include "control/lab/version.h"
#include "control/spec/json_schema.h"
#include "control/spec/load.h"
#include "control/spec/reducers.h"
#include "control/spec/to_yaml.h"
#include "control/structure/structure.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

// As comments, since they would no longer follow from the lab if they stood in its file.
std::string derived_text(spec::Lab lab) {
  std::string text;
  const build::BuiltLab built(std::move(lab), build::Outputs::kLeaveAlone);
  for (const build::DerivedSetting& d : build::derived_settings(built))
    text += fmt::format("#   {}: {}\n", d.path, fmt::join(d.values, " or "));
  return text.empty() ? text : "# Defaults that follow from this lab:\n" + text;
}

std::string structure_text(const spec::Lab& lab) {
  std::string text;
  const spec::Lab fabric = spec::without_reducers(lab);
  for (const std::string& line : structure::lines(structure::structure(routing::Graph(fabric))))
    text += fmt::format("# structure: {}\n", line);
  return text;
}

}  // namespace

void add_show(CLI::App* command, int&) {
  auto file = std::make_shared<std::string>();
  auto sets = std::make_shared<std::vector<std::string>>();
  command->add_option("SPEC", *file, "Fabric file (YAML)")->required();
  command->add_option("--set", *sets, "Override a value, e.g. --set topology.spines=4")->type_name("PATH=VALUE");
  auto brief = std::make_shared<bool>(false);
  command->add_flag("--brief", *brief, "Omit defaults");
  command->footer(
      "It prints every setting of profiles, traffic, collectives and the run, defaults included. The output is a "
      "fabric file of the same lab. Comments at its end say what follows from the lab: the structure of the fabric "
      "(tiers, ports used, bisection), and defaults such as NSCC's base RTT.\n"
      "Examples:\n"
      "  railyard show topologies/incast-8to1.yaml\n"
      "  railyard show --brief topologies/rails-4x8.yaml --set topology.hosts=16");
  command->callback([=] {
    const auto defaults = *brief ? spec::Defaults::kLeftOut : spec::Defaults::kWritten;
    spec::Lab lab = spec::load(*file, *sets);
    std::fputs(spec::to_yaml(lab, defaults).c_str(), stdout);
    std::fputs(structure_text(lab).c_str(), stdout);
    if (!*brief) std::fputs(derived_text(std::move(lab)).c_str(), stdout);
  });
}

void add_schema(CLI::App* command, int&) {
  command->footer(
      "Example: railyard schema > fabric.schema.json, then in the file:\n"
      "  # yaml-language-server: $schema=fabric.schema.json");
  command->callback([] { std::fputs(spec::json_schema().c_str(), stdout); });
}

// Typed as `help CMD` it never gets here (arguments.h).
void add_help(CLI::App* command, int&) {
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "The command, e.g. run or `fault add` (default: list all)");
  command->footer("Examples:\n  railyard help\n  railyard help run\n  railyard help fault add");
}

void add_version(CLI::App* command, int&) {
  command->footer("Example:\n  railyard version");
  command->callback([] { std::printf("railyard %s\n", lab::version().c_str()); });
}

}  // namespace railyard::tools
