// `railyard import`: a topology file of another program as a fabric file.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "control/export/from_containerlab.h"
#include "control/spec/load.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {

void add_import(CLI::App* command, int&) {
  auto file = std::make_shared<std::string>();
  auto switches = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *file, "Topology file of containerlab (*.clab.yml)")->required();
  command->add_option("--switch", *switches, "A switch, although its kind is linux; repeat for more, e.g. --switch 'spine*'")
      ->type_name("NODE")
      ->allow_extra_args(false);
  command->footer(
      "It prints nodes and links. A node of kind linux is a host; other nodes are switches. Interfaces are numbered\n"
      "from 1, in the order of the numbers in their names.\n"
      "Example: railyard import lab.clab.yml --switch 'frr*' > lab.yaml");
  command->callback([=] {
    std::fputs(exporting::from_containerlab(spec::read_file(*file), *file, *switches).c_str(), stdout);
  });
}

}  // namespace railyard::tools
