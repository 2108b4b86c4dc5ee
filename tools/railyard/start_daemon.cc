#include "tools/railyard/start_daemon.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

volatile std::sig_atomic_t daemon_pid = 0;
void pass_on(int signal) {
  if (daemon_pid > 0) ::kill(static_cast<pid_t>(daemon_pid), signal == SIGINT ? SIGTERM : signal);
}

}  // namespace

std::string daemon_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "railyardd";
  if (error || !std::filesystem::exists(beside))
    throw std::runtime_error(
        fmt::format("{} is missing; railyard and railyardd must be installed together", beside.string()));
  return beside;
}

pid_t start_daemon(std::vector<std::string> command, bool detached, int& ready) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
  command.insert(command.end(), {"--ready-fd", std::to_string(pipe[1])});
  std::vector<char*> raw;
  for (std::string& a : command) raw.push_back(a.data());
  raw.push_back(nullptr);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  // Ctrl-C waits until there is somebody to pass it on to.
  sigset_t interrupts;
  sigset_t before;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &interrupts, &before);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  if (pid == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    // Ctrl-C goes to us, who pass it on once.
    ::setsid();
    ::dup2(null, STDIN_FILENO);
    if (detached) {
      ::dup2(null, STDOUT_FILENO);
      ::dup2(null, STDERR_FILENO);
      if (::chdir("/") != 0) ::_exit(126);
    }
    ::fcntl(pipe[1], F_SETFD, 0);
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  daemon_pid = pid;
  std::signal(SIGINT, pass_on);
  std::signal(SIGTERM, pass_on);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(null);
  ::close(pipe[1]);
  ready = pipe[0];
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
}

}  // namespace railyard::tools
