// What the commands for live labs have in common.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "control/daemon/lab_dir.h"

namespace railyard::tools {

// Which lab is meant: --lab NAME, or the only one that is up. Throws std::runtime_error that says which there are.
daemon::LabDir chosen_lab(const std::string& said);

// The same; one that is dead will do.
daemon::LabDir chosen_lab_dead_or_alive(const std::string& said);

// Adds -l, --lab and the environment variable RAILYARD_LAB to a command.
CLI::Option* add_lab_option(CLI::App& command, std::string& said);

// Asks the lab's daemon. Throws api::ApiError if it refuses, and std::runtime_error with one sentence if it does not
// answer: whether it is busy, hung (with its PID: it has done nothing meanwhile) or dead.
nlohmann::json ask(const daemon::LabDir& lab, const std::string& method, const std::string& target,
                   const nlohmann::json& body = nullptr,
                   std::chrono::milliseconds patience = std::chrono::milliseconds{15'000});

}  // namespace railyard::tools
