// `railyard export`: a lab in the language of another program.
#include "control/export/export.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/load.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {

void add_export(CLI::App* command, int&) {
  auto format = std::make_shared<std::string>();
  auto file = std::make_shared<std::string>();
  auto sets = std::make_shared<std::vector<std::string>>();
  std::vector<std::string> names;
  std::string help = "Formats:\n";
  for (const exporting::Format& f : exporting::formats()) {
    names.emplace_back(f.name);
    help += fmt::format("  {:<14} {}\n", f.name, f.help);
  }
  command->add_option("FORMAT", *format, "Format")->required()->check(CLI::IsMember(names));
  command->add_option("SPEC", *file, "Fabric file (YAML)")->required();
  command->add_option("--set", *sets, "Override a value, e.g. --set topology.spines=4")->type_name("PATH=VALUE");
  command->footer(help +
                  "Examples:\n"
                  "  railyard export graphviz topologies/rails-4x8.yaml | dot -Tsvg > rails.svg\n"
                  "  railyard export containerlab topologies/rails-4x8.yaml > rails.clab.yml   # set its images\n"
                  "  railyard export address-plan topologies/rails-4x8.yaml > addresses.csv");
  command->callback([=] {
    const spec::Lab lab = spec::load(*file, *sets);
    const auto chosen = std::ranges::find(exporting::formats(), *format, &exporting::Format::name);
    std::fputs(chosen->write(lab).c_str(), stdout);
  });
}

}  // namespace railyard::tools
