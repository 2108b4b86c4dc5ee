#include "tools/railyard/expect_options.h"

#include <stdexcept>

#include <fmt/format.h>

#include "control/report/judge.h"
#include "control/spec/condition.h"
#include "control/spec/spec_error.h"

namespace railyard::tools {

void add_expect_options(CLI::App& command, std::vector<std::string>& expect, std::string& junit) {
  command
      .add_option("--expect", expect,
                  "Require a figure of the report, e.g. 'busbw >= 380Gbps', 'goodput of train >= 90Gbps' or 'drops at "
                  "spine* == 0'; repeat for more. A missed one ends the command with exit code 6")
      ->type_name("CONDITION")
      ->expected(1)
      ->take_all();
  command.add_option("--junit", junit, "Write verdicts and expectations to FILE (JUnit XML)")->type_name("FILE");
}

void add_expectations(const std::vector<std::string>& expect, bool as_in_file, spec::Lab& lab) {
  constexpr const char* kOption = "--expect";
  for (const std::string& text : expect) {
    if (const auto parsed = spec::parse_condition(text); !parsed)
      throw std::invalid_argument(fmt::format("{} {}", kOption, parsed.error()));
    lab.expect.push_back({text, {kOption, 0, 0}});
  }
  try {
    report::check_conditions(lab, as_in_file);
  } catch (const spec::SpecError& error) {
    if (error.place().file != kOption) throw;
    throw std::invalid_argument(error.what());
  }
}

std::vector<std::string> expect_arguments(const std::vector<std::string>& expect) {
  std::vector<std::string> arguments;
  for (const std::string& text : expect) {
    arguments.emplace_back("--expect");
    arguments.push_back(text);
  }
  return arguments;
}

}  // namespace railyard::tools
