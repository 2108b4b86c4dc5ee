// What the commands that work on labs that are up have in common.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "control/daemon/lab_dir.h"

namespace railyard::tools {

// Which lab is meant: --lab NAME, or the only one that is up. Throws std::runtime_error that says which there are.
daemon::LabDir chosen_lab(const std::string& said);

// Adds --lab to a command.
void add_lab_option(CLI::App& command, std::string& said);

// Asks the lab's daemon. Throws std::runtime_error with one sentence.
nlohmann::json ask(const daemon::LabDir& lab, const std::string& method, const std::string& target,
                   const nlohmann::json& body = nullptr);

}  // namespace railyard::tools
