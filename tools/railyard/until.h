// For how long a command goes on: `--for TIME`, or until Ctrl-C.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "control/daemon/lab_dir.h"
#include "dataplane/base/time.h"

namespace railyard::tools {

// Adds --for to a command.
void add_for_option(CLI::App& command, std::string& said);

// What --for says; nothing: until Ctrl-C. Throws CLI::ValidationError unless it is a time above 0.
std::optional<Duration> parse_for(const std::string& said);

// From here on Ctrl-C and SIGTERM end wait() and nothing else. For the rest of the process: to be called before
// anything is begun that has to be ended.
void end_on_signal();

// Whether such a signal has come.
bool ended_by_signal();

// Returns when `how_long` of wall-clock time has passed, or after a signal, or when `goes_on`, asked about twice a
// second, says no. Throws std::runtime_error if the lab goes down.
void wait(const daemon::LabDir& lab, std::optional<Duration> how_long, const std::function<bool()>& goes_on);

}  // namespace railyard::tools
