// A command in a guest, for programs (its output as text) and for people (at their terminal).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "control/guest/agent_session.h"

namespace railyard::guest {

// A running guest: its directory (guest_files.h) and its name, for messages.
struct GuestAddress {
  std::filesystem::path directory;
  std::string name;
};

struct CapturedRun {
  AgentExit exit;
  std::string output;
  std::string error;
};

// The guest's interactive shell.
AgentCommand shell_command();

// Runs `command` with `input` and returns what it wrote; both are held in memory. Throws GuestError as AgentSession
// does.
CapturedRun run_captured(const GuestAddress& guest, const AgentCommand& command, std::string_view input = {});

// Runs `command` with the standard streams of this process and sends SIGINT, SIGTERM, SIGQUIT, SIGHUP on to it; what
// `railyard exec` does. A command that cannot be started is explained on standard error. Those signals are blocked
// meanwhile in the calling thread, which should be the only one. Returns the exit status for this process.
int run_at_standard_streams(const GuestAddress& guest, AgentCommand command);

// The same in a terminal of its own in the guest, with this process's size and TERM; the terminal here is raw until the
// end, if standard input is one. What `railyard shell` does.
int run_at_terminal(const GuestAddress& guest, AgentCommand command);

}  // namespace railyard::guest
