// `railyard export`: a lab in the language of another program.
#include "control/export/export.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/load.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {

namespace {

// An option that `format` does not take.
void refuse(const CLI::Option& option, const std::string& format, bool exporting::Format::*takes) {
  std::vector<std::string_view> others;
  for (const exporting::Format& f : exporting::formats()) {
    if (f.*takes && f.name == format) return;
    if (f.*takes) others.push_back(f.name);
  }
  if (option.count() > 0)
    throw std::invalid_argument(
        fmt::format("{}: found with {}; expected {}", option.get_name(), format, fmt::join(others, " or ")));
}

}  // namespace

void add_export(CLI::App* command, int&) {
  auto format = std::make_shared<std::string>();
  auto file = std::make_shared<std::string>();
  auto sets = std::make_shared<std::vector<std::string>>();
  auto options = std::make_shared<exporting::Options>();
  std::vector<std::string> names;
  std::string help = "Formats:\n";
  for (const exporting::Format& f : exporting::formats()) {
    names.emplace_back(f.name);
    help += fmt::format("  {:<14} {}\n", f.name, f.help);
  }
  command->add_option("FORMAT", *format, "Format")->required()->check(CLI::IsMember(names));
  command->add_option("SPEC", *file, "Fabric file (YAML)")->required();
  command->add_option("--set", *sets, "Override a value, e.g. --set topology.spines=4")->type_name("PATH=VALUE");
  constexpr int kMostGpus = 1024;
  CLI::Option* node = command->add_option("--node", options->node, "Host, or switch for sonic (default: the first, or all)")->type_name("NAME");
  CLI::Option* gpus = command->add_option("--gpus", options->gpus, "GPUs of the host, spread evenly over its NICs (default: as hosts.NAME.gpus and gpu-nics say, else one per NIC)")
                          ->check(CLI::Range(1, kMostGpus))
                          ->type_name("N");
  command->footer(help +
                  "Examples:\n"
                  "  railyard export graphviz topologies/rails-4x8.yaml | dot -Tsvg > rails.svg\n"
                  "  railyard export containerlab topologies/rails-4x8.yaml > rails.clab.yml   # set its images\n"
                  "  railyard export address-plan topologies/rails-4x8.yaml > addresses.csv\n"
                  "  railyard export nccl-topology topologies/rails-4x8.yaml --node h1 > h1.xml\n"
                  "  railyard export nccl-hca topologies/rails-4x8.yaml\n"
                  "  railyard export sonic lab.yaml --node leaf1 > config_db.json");
  command->callback([=] {
    const auto chosen = std::ranges::find(exporting::formats(), *format, &exporting::Format::name);
    refuse(*node, *format, &exporting::Format::by_node);
    refuse(*gpus, *format, &exporting::Format::by_gpus);
    const spec::Lab lab = spec::load(*file, *sets);
    std::fputs(chosen->write(lab, *options).c_str(), stdout);
  });
}

}  // namespace railyard::tools
