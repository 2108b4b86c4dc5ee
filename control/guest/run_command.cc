#include "control/guest/run_command.h"

#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "control/guest/guest_error.h"

namespace railyard::guest {
namespace {

// Signals that arrive at a descriptor instead of ending the process, for as long as it lives.
class CaughtSignals {
 public:
  explicit CaughtSignals(std::initializer_list<int> numbers) {
    sigset_t mask;
    sigemptyset(&mask);
    for (const int n : numbers) sigaddset(&mask, n);
    pthread_sigmask(SIG_BLOCK, &mask, &before_);
    fd_ = FileDescriptor(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;
  ~CaughtSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  int get() const noexcept { return fd_.get(); }

 private:
  sigset_t before_{};
  FileDescriptor fd_;
};

// Standard input as a terminal that hands on every key as it is, for as long as it lives; nothing if it is none.
class RawTerminal {
 public:
  RawTerminal() {
    termios now;
    if (tcgetattr(STDIN_FILENO, &now) < 0) return;
    before_ = now;
    cfmakeraw(&now);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (before_) tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
  }

 private:
  std::optional<termios> before_;
};

int shown(const GuestAddress& guest, const AgentExit& exit) {
  if (!exit.failure.empty()) {
    const std::string line = fmt::format("{}: {}\n", guest.name, exit.failure);
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return exit.status();  // nobody to tell
  }
  return exit.status();
}

}  // namespace

AgentCommand shell_command() { return {.arguments = {"bash"}}; }

CapturedRun run_captured(const GuestAddress& guest, const AgentCommand& command, std::string_view input) {
  const FileDescriptor in = memory_file(input);
  const FileDescriptor out = memory_file({});
  const FileDescriptor err = memory_file({});
  AgentSession session = AgentSession::open(guest.directory, guest.name);
  const AgentExit exit = session.run(command, {.input = in.get(), .output = out.get(), .error = err.get()});
  return {exit, contents(out), contents(err)};
}

int run_at_standard_streams(const GuestAddress& guest, AgentCommand command) {
  command.terminal.reset();
  AgentSession session = AgentSession::open(guest.directory, guest.name);
  const CaughtSignals signals{SIGINT, SIGTERM, SIGQUIT, SIGHUP};
  return shown(
      guest,
      session.run(command,
                  {.input = STDIN_FILENO, .output = STDOUT_FILENO, .error = STDERR_FILENO, .signals = signals.get()}));
}

int run_at_terminal(const GuestAddress& guest, AgentCommand command) {
  winsize size{};
  command.terminal = WindowSize{};
  if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
    command.terminal = WindowSize{size.ws_row, size.ws_col};
  const char* term = std::getenv("TERM");
  command.environment.push_back(fmt::format("TERM={}", term != nullptr ? term : "dumb"));
  AgentSession session = AgentSession::open(guest.directory, guest.name);
  const CaughtSignals signals{SIGWINCH, SIGTERM, SIGHUP};
  const AgentExit exit = [&] {
    const RawTerminal raw;
    return session.run(command, {.input = STDIN_FILENO,
                                 .output = STDOUT_FILENO,
                                 .error = STDERR_FILENO,
                                 .signals = signals.get(),
                                 .window_of = STDIN_FILENO});
  }();
  return shown(guest, exit);
}

}  // namespace railyard::guest
