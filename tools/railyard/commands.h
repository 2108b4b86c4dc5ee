// The commands of the command line: each adds itself to the application and does its work when chosen.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/railyard/exit_code.h"

namespace railyard::tools {

void add_check(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_graph(CLI::App& app, int& exit_code);
void add_hosts(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_compare_transports(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_swarm(CLI::App& app, int& exit_code);
void add_decode(CLI::App& app, int& exit_code);
void add_port(CLI::App& app, int& exit_code);
void add_schema(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);

// Labs that stay up.
void add_up(CLI::App& app, int& exit_code);
void add_down(CLI::App& app, int& exit_code);
void add_ls(CLI::App& app, int& exit_code);
void add_status(CLI::App& app, int& exit_code);
void add_exec(CLI::App& app, int& exit_code);  // and shell
void add_again(CLI::App& app, int& exit_code);
void add_agent(CLI::App& app, int& exit_code);
void add_cp(CLI::App& app, int& exit_code);
void add_restart(CLI::App& app, int& exit_code);
void add_link(CLI::App& app, int& exit_code);
void add_fault(CLI::App& app, int& exit_code);
void add_attach(CLI::App& app, int& exit_code);  // and detach
void add_set(CLI::App& app, int& exit_code);    // and get
void add_pause(CLI::App& app, int& exit_code);  // and resume
void add_logs(CLI::App& app, int& exit_code);
void add_capture(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_series(CLI::App& app, int& exit_code);
void add_int(CLI::App& app, int& exit_code);

}  // namespace railyard::tools
