// `railyard graph`: a lab as a picture.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/picture/diagram.h"
#include "control/picture/layout.h"
#include "control/picture/svg.h"
#include "control/spec/load.h"
#include "control/spec/reducers.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {

void add_graph(CLI::App* command, int&) {
  static const std::map<std::string, picture::Direction> kDirections{{"down", picture::Direction::kDown},
                                                                     {"right", picture::Direction::kRight}};
  auto file = std::make_shared<std::string>();
  auto sets = std::make_shared<std::vector<std::string>>();
  auto direction = std::make_shared<std::string>("down");
  command->add_option("SPEC", *file, "Fabric file (YAML)")->required();
  command->add_option("--set", *sets, "Override a value, e.g. --set topology.spines=4")->type_name("PATH=VALUE");
  command->add_option("--direction", *direction, "Place hosts below the spines, or to their right")
      ->check(CLI::IsMember({"down", "right"}))
      ->capture_default_str();
  command->footer(
      "It runs no simulation. In large labs equal nodes share a box.\n"
      "Example: railyard graph topologies/rails-4x8.yaml > rails-4x8.svg");
  command->callback([=] {
    const spec::Lab lab = spec::without_reducers(spec::load(*file, *sets));
    std::fputs(picture::svg(picture::layout(picture::diagram(lab), lab, kDirections.at(*direction))).c_str(), stdout);
  });
}

}  // namespace railyard::tools
