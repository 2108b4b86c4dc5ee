#include "control/front/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace railyard::front {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe new_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// For what is written to the program: a pipe whose other end is gone would end this process (SIGPIPE).
Pipe new_socket() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0)
    throw std::runtime_error(fmt::format("no socket: {}", std::strerror(errno)));
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// Waits for `events`; false: the time is over.
bool wait_for(int fd, short events, milliseconds patience) {
  pollfd p{fd, events, 0};
  const auto end = steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    const int n = ::poll(&p, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

}  // namespace

Child::Child(const std::vector<std::string>& command) {
  Pipe in = new_socket();
  Pipe out = new_pipe();
  Pipe error = new_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, in.read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, error.write.get(), STDERR_FILENO);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words = command;
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  const int result = ::posix_spawnp(&pid_, raw[0], &actions, &attributes, raw.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (result != 0) throw std::runtime_error(fmt::format("cannot run {}: {}", command[0], std::strerror(result)));
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  error_ = std::move(error.read);
  for (const FileDescriptor* fd : {&in_, &out_, &error_}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  in_.close();
  constexpr milliseconds kTurn{20};
  for (int i = 0; i < 50; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(kTurn);
  }
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Child::write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::send(in_.get(), text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n >= 0) {
      at += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (!wait_for(in_.get(), POLLOUT, milliseconds(10'000))) return false;
    } else if (errno != EINTR) {
      ended_ = true;
      return false;
    }
  }
  return true;
}

std::optional<std::string> Child::read_line(milliseconds patience) {
  const auto end = steady_clock::now() + patience;
  std::array<char, 65536> block;
  for (;;) {
    if (const std::size_t line = received_.find('\n', searched_); line != received_.npos) {
      std::string text = received_.substr(0, line);
      received_.erase(0, line + 1);
      searched_ = 0;
      return text;
    }
    searched_ = received_.size();
    if (searched_ > kMostLine) ended_ = true;
    if (ended_) return std::nullopt;
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    if (!wait_for(out_.get(), POLLIN, std::max(left, milliseconds(0)))) return std::nullopt;
    const ssize_t n = ::read(out_.get(), block.data(), block.size());
    if (n > 0)
      received_.append(block.data(), static_cast<std::size_t>(n));
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
      ended_ = true;
  }
}

std::string Child::last_words() {
  std::string text;
  std::array<char, 4096> block;
  // It ends soon, if it has not yet.
  while (text.size() < 65536 && wait_for(error_.get(), POLLIN, milliseconds(500))) {
    const ssize_t n = ::read(error_.get(), block.data(), block.size());
    if (n <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(n));
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t line = text.rfind('\n');
  return line == text.npos ? text : text.substr(line + 1);
}

}  // namespace railyard::front
