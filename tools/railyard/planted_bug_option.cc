#include "tools/railyard/planted_bug_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dataplane/base/planted_bug.h"

namespace railyard::tools {
namespace {

void plant(const std::string& name) {
  const auto bug = planted_bug_named(name);
  if (!bug)
    throw CLI::ValidationError(
        "--planted-bug", fmt::format("unknown bug '{}'; expected one of {}", name, fmt::join(kPlantedBugNames, ", ")));
#ifdef RAILYARD_PLANTED_BUGS
  planted_bug = *bug;
#else
  throw CLI::ValidationError("--planted-bug",
                             "this build has no planted bugs; configure with -DRAILYARD_PLANTED_BUGS=ON");
#endif
}

}  // namespace

void add_planted_bug_option(CLI::App& command, std::string& name) {
  command.add_option("--planted-bug", name, "Enable a planted bug (builds with RAILYARD_PLANTED_BUGS only)")
      ->type_name("NAME")
      ->each(plant);
}

}  // namespace railyard::tools
