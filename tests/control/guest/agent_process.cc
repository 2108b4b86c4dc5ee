#include "tests/control/guest/agent_process.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/guest/guest_error.h"

namespace railyard::guest {

TemporaryFolder::TemporaryFolder() {
  char name[] = "/tmp/railyard-guest.XXXXXX";
  if (mkdtemp(name) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::file(const std::string& name, const std::string& text, unsigned mode) const {
  std::filesystem::path path = path_ / name;
  std::ofstream(path) << text;
  chmod(path.c_str(), mode);
  return path;
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const GuestError& error) {
    return error.what();
  }
  return "(no error)";
}

std::filesystem::path agent_program() { return RAILYARD_BINARY_DIR "/bin/guest_agent"; }

AgentProcess::AgentProcess(int ports) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) < 0) throw std::runtime_error("no pipe");
  const std::string count = std::to_string(ports);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // also when the test is killed
    dup2(out[1], STDOUT_FILENO);
    execl(agent_program().c_str(), "railyard-agent", "--listen", folder_.path().c_str(), count.c_str(), nullptr);
    _exit(127);
  }
  close(out[1]);
  char line[16];
  const ssize_t n = read(out[0], line, sizeof line);
  close(out[0]);
  if (n <= 0) throw std::runtime_error("the agent does not start");
}

void AgentProcess::end(int signal) {
  if (pid_ < 0) return;
  ::kill(pid_, signal);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void AgentProcess::kill() { end(SIGKILL); }
void AgentProcess::stop() { end(SIGTERM); }
AgentProcess::~AgentProcess() { stop(); }

}  // namespace railyard::guest
