// --expect and --junit: what runs must measure, and where the results go.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "control/spec/spec.h"

namespace railyard::tools {

void add_expect_options(CLI::App& command, std::vector<std::string>& expect, std::string& junit);

// Adds those of the command line to the lab's own, and checks that all of them (and the signature of its diagnosis) name
// what is there (`as_in_file`: as check_conditions() has it). Throws std::invalid_argument: one of the command line is
// wrong; spec::SpecError: one of the file.
void add_expectations(const std::vector<std::string>& expect, bool as_in_file, spec::Lab& lab);

// The same as options of railyard run.
std::vector<std::string> expect_arguments(const std::vector<std::string>& expect);

}  // namespace railyard::tools
