#include "control/hosts/command.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"

namespace railyard::hosts {
namespace {

// The Debian package that a program is in.
const std::map<std::string_view, std::string_view> kPackages{
    {"ip", "iproute2"}, {"tc", "iproute2"}, {"ethtool", "ethtool"}, {"sysctl", "procps"}, {"ping", "iputils-ping"},
    {"vtysh", "frr"}};

[[noreturn]] void cannot_run(const std::string& program, const char* what, int error) {
  throw HostsError(fmt::format("cannot run {}: {}: {}", program, what, std::strerror(error)));
}

// A file in memory, so that a program that reads little or nothing holds nobody up.
FileDescriptor input_of(const std::string& program, const std::string& text) {
  FileDescriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) cannot_run(program, "memfd_create", errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) cannot_run(program, "its input", errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("LC_ALL=")) all.emplace_back(*entry);
  all.emplace_back("LC_ALL=C");  // messages that can be recognized
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  void give(int ours, int theirs) { ::posix_spawn_file_actions_adddup2(&actions_, ours, theirs); }

  // 0 or an errno.
  int start(pid_t& pid, const std::string& file, std::vector<std::string> arguments) {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::vector<std::string> variables = environment();
    return ::posix_spawn(&pid, file.c_str(), &actions_, &attributes_, pointers(arguments).data(),
                         pointers(variables).data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::string collect(int from, std::size_t most) {
  std::string out;
  std::array<char, 4096> block;
  for (;;) {
    const ssize_t n = ::read(from, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(block.data(), std::min(static_cast<std::size_t>(n), most - out.size()));
  }
}

}  // namespace

std::string find_program(const std::string& program) {
  const char* path = std::getenv("PATH");
  const std::string folders =
      std::string(path == nullptr ? "" : path) + ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";
  for (std::size_t begin = 0; program.find('/') == program.npos && begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = folders.substr(begin, end - begin) + "/" + program;
    if (end > begin && ::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  if (program.find('/') != program.npos && ::access(program.c_str(), X_OK) == 0) return program;
  const auto package = kPackages.find(program);
  throw HostsError(package == kPackages.end()
                       ? fmt::format("program {} not found", program)
                       : fmt::format("program {0} not found; install the Debian package {1}: apt-get install {1}",
                                     program, package->second));
}

CommandResult run_command(const std::vector<std::string>& arguments, const CommandOptions& options) {
  const std::string& program = arguments.at(0);
  const std::string file = find_program(program);
  const FileDescriptor input = input_of(program, options.input);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) cannot_run(program, "pipe", errno);
  const FileDescriptor output(ends[0]);
  FileDescriptor their_output(ends[1]);

  Spawn spawn;
  // Onto itself means: stays open (posix_spawn_file_actions_adddup2, POSIX.1-2024). First, before 0 to 2 are taken.
  if (options.keep_open >= 0) spawn.give(options.keep_open, options.keep_open);
  spawn.give(input.get(), STDIN_FILENO);
  spawn.give(their_output.get(), STDOUT_FILENO);
  spawn.give(their_output.get(), STDERR_FILENO);
  pid_t pid = 0;
  if (const int error = spawn.start(pid, file, arguments); error != 0) cannot_run(program, file.c_str(), error);
  their_output.close();

  CommandResult result;
  result.output = collect(output.get(), options.most_output);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) cannot_run(program, "waitpid", errno);
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace railyard::hosts
