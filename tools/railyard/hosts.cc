// `railyard hosts`: names and addresses of a lab, for /etc/hosts.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "control/daemon/namespace_hosts.h"
#include "control/hosts/hosts_file.h"
#include "control/spec/load.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {

void add_hosts(CLI::App* command, int&) {
  auto file = std::make_shared<std::string>();
  auto sets = std::make_shared<std::vector<std::string>>();
  command->add_option("SPEC", *file, "Fabric file (YAML)")->required();
  command->add_option("--set", *sets, "Override a value, e.g. --set topology.spines=4")->type_name("PATH=VALUE");
  command->footer(
      "A host's name is its first NIC's address, HOST.eth<k> is NIC k's, and a switch's name is its loopback's.\n"
      "Example: railyard hosts topologies/rails-4x8.yaml");
  command->callback([=] {
    const spec::Lab lab = spec::load(*file, *sets);
    std::fputs(hosts::hosts_lines(daemon::namespace_hosts(lab, lab.name)).c_str(), stdout);
  });
}

}  // namespace railyard::tools
