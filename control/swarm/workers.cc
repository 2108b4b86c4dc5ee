#include "control/swarm/workers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/swarm/trial.h"
#include "dataplane/base/file_descriptor.h"

namespace railyard::swarm {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Appends what is there; false at the end.
bool read_some(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    into.append(buffer.data(), static_cast<std::size_t>(n));
    return true;
  }
}

std::optional<std::string> take_line(std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

std::string line_of(const Task& t) {
  return nlohmann::json{{"seed", t.seed}, {"without", t.without}, {"lab", t.lab}}.dump() + "\n";
}

Outcome do_task(const std::string& line) {
  const nlohmann::json j = nlohmann::json::parse(line);
  const auto seed = j.at("seed").get<std::uint64_t>();
  try {
    const std::string lab = j.at("lab");
    return lab.empty() ? try_seed(seed, j.at("without")) : try_lab(lab);
  } catch (const std::exception& error) {
    Outcome o;
    o.violations.push_back({"run", error.what()});
    return o;
  }
}

[[noreturn]] void work(int fd, int log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGALRM, SIG_DFL);
  dup2(log, STDERR_FILENO);
  std::string text;
  for (;;) {
    while (const auto line = take_line(text)) {
      alarm(Workers::kMostSeconds);
      const std::string answer = do_task(*line).json() + "\n";
      alarm(0);
      if (!write_all(fd, answer)) _exit(1);
    }
    if (!read_some(fd, text)) _exit(0);
  }
}

std::string last_line(int log) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, lseek(log, 0, SEEK_END))), '\0');
  const ssize_t n = pread(log, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t begin = text.rfind('\n');
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

}  // namespace

struct Workers::Worker {
  FileDescriptor socket;
  FileDescriptor log;
  pid_t pid = -1;
  std::string received;
  std::optional<Task> task;

  // Others may hold copies of our end of its socket, so that it would wait for more for ever.
  ~Worker() {
    if (pid > 0) kill(pid, SIGKILL);
    end();
  }

  void begin() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
    FileDescriptor ours(ends[0]);
    FileDescriptor theirs(ends[1]);
    log = FileDescriptor(memfd_create("railyard-swarm", MFD_CLOEXEC));
    if (log.get() < 0) fail("memfd_create");
    pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) work(theirs.get(), log.get());
    socket = std::move(ours);
    received.clear();
  }
  // How it ended.
  int end() {
    int status = 0;
    if (pid > 0) {
      socket = FileDescriptor();
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
    }
    pid = -1;
    return status;
  }

  void give(const Task& t) {
    task = t;
    if (pid < 0) begin();
    write_all(socket.get(), line_of(t));  // if it is gone, that shows when it is read from
  }

  // What has come of its task, if it is there or will never be.
  std::optional<Outcome> take() {
    if (!read_some(socket.get(), received)) {
      const int status = end();
      Outcome o;
      o.seed = task->seed;
      task.reset();
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        o.violations.push_back({"time", fmt::format("not finished after {} s", kMostSeconds)});
      else if (WIFSIGNALED(status))
        o.violations.push_back({"crash", fmt::format("{}: {}", strsignal(WTERMSIG(status)), last_line(log.get()))});
      else
        o.violations.push_back({"crash", fmt::format("ended with {}: {}", WEXITSTATUS(status), last_line(log.get()))});
      return o;
    }
    const auto line = take_line(received);
    if (!line) return std::nullopt;
    Outcome o = Outcome::from_json(*line);
    o.seed = task->seed;
    task.reset();
    return o;
  }
};

Workers::Workers(std::size_t processes) {
  std::signal(SIGPIPE, SIG_IGN);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, processes); ++i) workers_.push_back(std::make_unique<Worker>());
}

Workers::~Workers() = default;

void Workers::run(const std::vector<Task>& tasks, const std::function<bool(Outcome)>& done) {
  std::size_t next = 0;
  bool goes_on = true;
  for (;;) {
    for (const auto& w : workers_)
      if (goes_on && !w->task && next < tasks.size()) w->give(tasks[next++]);
    std::vector<pollfd> waits;
    std::vector<Worker*> busy;
    for (const auto& w : workers_) {
      if (!w->task) continue;
      waits.push_back({w->socket.get(), POLLIN, 0});
      busy.push_back(w.get());
    }
    if (busy.empty()) return;
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) fail("poll");
    for (std::size_t i = 0; i < busy.size(); ++i) {
      if (waits[i].revents == 0) continue;
      if (auto outcome = busy[i]->take(); outcome && goes_on) goes_on = done(std::move(*outcome));
    }
  }
}

Outcome Workers::run(const Task& task) {
  Outcome result;
  run(std::vector{task}, [&](Outcome o) {
    result = std::move(o);
    return true;
  });
  return result;
}

}  // namespace railyard::swarm
