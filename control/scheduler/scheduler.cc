#include "control/scheduler/scheduler.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/scheduler/machine_memory.h"
#include "dataplane/base/file_descriptor.h"

namespace railyard::scheduler {
namespace {

[[noreturn]] void fail_with_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Takes the place of this process.
[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

// Standard output through a pipe, whose end says that the process has ended; standard error into memory.
struct Process {
  std::size_t index = 0;
  pid_t pid = -1;
  FileDescriptor out;
  FileDescriptor error;
  std::string output;

  ~Process() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  void begin(const std::function<std::string(std::size_t)>& work, unsigned seconds) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_with_errno("pipe");
    out = FileDescriptor(ends[0]);
    const FileDescriptor theirs(ends[1]);
    error = FileDescriptor(memfd_create("railyard-run", MFD_CLOEXEC));
    if (error.get() < 0) fail_with_errno("memfd_create");
    pid = fork();
    if (pid < 0) fail_with_errno("fork");
    if (pid > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGALRM, SIG_DFL);
    dup2(theirs.get(), STDOUT_FILENO);
    dup2(error.get(), STDERR_FILENO);
    alarm(seconds);  // holds for a program that takes its place, too
    try {
      _exit(write_all(STDOUT_FILENO, work(index)) ? 0 : 1);
    } catch (const std::exception& wrong) {
      dprintf(STDERR_FILENO, "%s\n", wrong.what());
    }
    _exit(1);
  }

  // False once all has come.
  bool read_on() {
    std::array<char, 65536> buffer;
    const ssize_t n = read(out.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    output.append(buffer.data(), static_cast<std::size_t>(n));
    return true;
  }

  std::string last_words() const {
    const off_t size = std::max<off_t>(0, lseek(error.get(), 0, SEEK_END));
    constexpr off_t kEnough = 4096;
    std::string text(static_cast<std::size_t>(std::min(size, kEnough)), '\0');
    const ssize_t n = pread(error.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::size_t begin = text.rfind('\n');
    return begin == text.npos ? text : text.substr(begin + 1);
  }

  // `most_octets`: that it had in memory.
  Ended end(unsigned seconds, std::uint64_t& most_octets) {
    int status = 0;
    rusage used{};
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
    }
    most_octets = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    pid = -1;
    Ended e{index, WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::move(output), last_words(), false};
    e.late = seconds != 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    if (e.late)
      e.error = fmt::format("not finished after {} s", seconds);
    else if (WIFSIGNALED(status))
      e.error = fmt::format("ended by {}{}{}", strsignal(WTERMSIG(status)), e.error.empty() ? "" : ": ", e.error);
    return e;
  }
};

}  // namespace

void run_all(std::size_t count, const Limits& limits, const std::function<std::string(std::size_t)>& work,
             const std::function<bool(Ended)>& done) {
  const std::size_t parallel = limits.parallel != 0 ? limits.parallel : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<Process>> running;
  MemoryRoom room;
  const auto has_room = [&] {
    std::vector<std::uint64_t> have;
    for (const auto& p : running) have.push_back(resident_octets(p->pid));
    return room.for_one_more(MachineMemory::now(), have);
  };
  std::size_t next = 0;
  while (next < count || !running.empty()) {
    while (next < count && running.size() < parallel && has_room()) {
      auto process = std::make_unique<Process>();
      process->index = next++;
      process->begin(work, limits.seconds);
      running.push_back(std::move(process));
    }
    std::vector<pollfd> waits;
    for (const auto& p : running) waits.push_back({p->out.get(), POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) fail_with_errno("poll");
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0 || running[i]->read_on()) continue;
      std::uint64_t most_octets = 0;
      Ended ended = running[i]->end(limits.seconds, most_octets);
      room.ended(most_octets);
      running[i].reset();
      if (!done(std::move(ended))) return;
    }
    std::erase(running, nullptr);
  }
}

void run_all(const std::vector<std::vector<std::string>>& commands, const Limits& limits, const std::function<bool(Ended)>& done) {
  run_all(commands.size(), limits, [&](std::size_t index) -> std::string { become(commands[index]); }, done);
}

}  // namespace railyard::scheduler
