#include "tests/tools/railyard/command_line.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace railyard::tools {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

const std::string kLab = R"(name: small
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, from: h1, to: h2, bytes: 100KB } ]
run: { duration: 1ms, memory: 256MiB }
)";

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void redirect(int to, const fs::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, to) < 0) _exit(126);
  close(file);
}

[[noreturn]] void become(const std::vector<std::string>& arguments, const fs::path& folder, const fs::path& outputs,
                         const std::string& input, const std::string& output, std::size_t address_space,
                         bool unprivileged) {
  std::vector<char*> argv;
  std::string program = RAILYARD_BINARY;
  argv.push_back(program.data());
  std::vector<std::string> copies = arguments;
  for (std::string& a : copies) argv.push_back(a.data());
  argv.push_back(nullptr);
  redirect(STDOUT_FILENO, output.empty() ? outputs / "out" : fs::path(output));
  redirect(STDERR_FILENO, outputs / "err");
  if (chdir(folder.c_str()) != 0) _exit(126);
  if (!input.empty()) {
    const int file = open(input.c_str(), O_RDONLY);
    if (file < 0 || dup2(file, STDIN_FILENO) < 0) _exit(126);
    close(file);
  }
  // Opened before: others than root may have no way into root's home, where the clone may be.
  const int binary = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (binary < 0) _exit(126);
  if (unprivileged && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(126);
  const rlimit limit{address_space, address_space};
  if (address_space != 0 && setrlimit(RLIMIT_AS, &limit) != 0) _exit(126);
  fexecve(binary, argv.data(), environ);
  _exit(127);
}

}  // namespace

CommandLine::CommandLine() {
  std::string name = testing::TempDir() + "railyard_cli_test.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
  folder_ = fs::path(name) / "work";
  fs::create_directory(folder_);
  write("lab.yaml", kLab);
}

CommandLine::~CommandLine() { fs::remove_all(folder_.parent_path()); }

Outcome CommandLine::railyard(const std::vector<std::string>& arguments, std::size_t address_space) const {
  const fs::path outputs = folder_.parent_path();
  const pid_t child = fork();
  if (child == 0) become(arguments, folder_, outputs, input_, output_, address_space, unprivileged_);
  int status = 0;
  waitpid(child, &status, 0);
  Outcome o;
  o.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (output_.empty()) o.out = contents(outputs / "out");
  o.err = contents(outputs / "err");
  return o;
}

std::string CommandLine::error(int exit_code, const std::vector<std::string>& arguments,
                               std::size_t address_space) const {
  const std::vector<std::string> before = files();
  const Outcome o = railyard(arguments, address_space);
  EXPECT_EQ(o.exit_code, exit_code) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_EQ(files(), before) << "something was left behind";
  return o.err.substr(0, o.err.find('\n'));
}

void CommandLine::give_up_privileges() {
  if (geteuid() != 0) return;
  unprivileged_ = true;
  fs::permissions(folder_.parent_path(), fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
  if (chown(folder_.c_str(), kNobody, kNobody) != 0) throw std::runtime_error("the folder cannot be given away");
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    if (chown(entry.path().c_str(), kNobody, kNobody) != 0) throw std::runtime_error("a file cannot be given away");
}

fs::path CommandLine::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return folder_ / name;
}

std::string CommandLine::read(const std::string& name) const { return contents(folder_ / name); }

std::vector<std::string> CommandLine::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    names.push_back(fs::relative(entry.path(), folder_));
  std::ranges::sort(names);
  return names;
}

std::string topology(const std::string& name) { return RAILYARD_SOURCE_DIR "/topologies/" + name; }

}  // namespace railyard::tools
