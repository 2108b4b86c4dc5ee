// One session with the agent of a guest: a command, its standard streams, its end. Blocking, on one UNIX socket of the
// guest's directory (guest_files.h); several processes may have sessions with one guest at the same time.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "control/guest/agent_protocol.h"
#include "control/guest/memory_file.h"

namespace railyard::guest {

// How a command ended.
struct AgentExit {
  int code = 0;           // exit status
  int signal = 0;         // killed by this signal; 0: it exited
  std::string failure{};  // why it was not started; code is 126 or 127 then, as in a shell

  // As a shell gives it: 128 + signal for one that was killed.
  int status() const noexcept { return signal != 0 ? 128 + signal : code; }
};

// Where the command's standard streams are on this side. They stay open, and their flags as they are.
struct AgentStreams {
  int input = -1;   // -1: empty
  int output = -1;  // -1: thrown away, as is
  int error = -1;   // ... this
  // A signalfd (or -1): what arrives there is sent on to the command. SIGWINCH: the size of the terminal behind
  // `window_of`. For a command with a terminal, SIGTERM and SIGHUP end the session instead: run() returns with them.
  int signals = -1;
  int window_of = -1;
};

// Asked several times a second while something is waited for.
using GiveUp = std::function<bool()>;

class AgentSession {
 public:
  // Takes a port of the guest `name` that nobody uses and waits until its agent answers. Throws GuestError: the guest
  // is not running, all its ports are in use, it does not answer within `limit`, or its image is of another version.
  static AgentSession open(const std::filesystem::path& directory, const std::string& name,
                           std::chrono::milliseconds limit = std::chrono::seconds(30));
  // The same on the port that is kept for ping() and power_off().
  // Also throws soon after `give_up` says so.
  static AgentSession open_control(const std::filesystem::path& directory, const std::string& name,
                                   std::chrono::milliseconds limit, GiveUp give_up = {});

  AgentSession(AgentSession&&) noexcept;
  AgentSession& operator=(AgentSession&&) noexcept;
  // A command that still runs is killed, with all its processes.
  ~AgentSession();

  // Runs `command` to its end. Once per session. Throws GuestError if the guest goes away meanwhile. A reader of
  // `streams.output` that has gone ends the session as SIGPIPE would (signal 13).
  AgentExit run(const AgentCommand& command, const AgentStreams& streams);

  // What went wrong when the guest came up, in lines; empty if nothing did.
  std::string ping(std::chrono::milliseconds limit);
  // Asks the guest to power off. Does not wait.
  void power_off();

 private:
  struct Connection;
  explicit AgentSession(std::unique_ptr<Connection> connection);
  static AgentSession greet(std::unique_ptr<Connection> connection, std::chrono::milliseconds limit);

  std::unique_ptr<Connection> connection_;
};

}  // namespace railyard::guest
