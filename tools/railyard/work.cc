// Commands that work on a lab that is up: exec, shell, agent, again, stop, cp, restart, link, pause, resume, logs.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/guest/copy_files.h"
#include "control/guest/run_command.h"
#include "control/report/shell_word.h"
#include "tools/railyard/application_environment.h"
#include "tools/railyard/at_site.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"
#include "tools/railyard/live.h"
#include "tools/railyard/processors.h"

namespace railyard::tools {
namespace {

using daemon::LabDir;

// Becomes `argv`; returns only if that cannot be.
[[noreturn]] void become(std::vector<std::string> argv) {
  std::vector<char*> raw;
  for (std::string& a : argv) raw.push_back(a.data());
  raw.push_back(nullptr);
  ::execvp(raw[0], raw.data());
  throw std::runtime_error(fmt::format("cannot run {}: {}", argv[0], std::strerror(errno)));
}

std::string login_shell() {
  const char* shell = std::getenv("SHELL");
  return shell != nullptr && *shell != '\0' ? shell : "/bin/sh";
}

// Of a host, and that something can be run there.
nlohmann::json reachable(const LabDir& lab, const std::string& host) {
  auto about = ask(lab, "GET", "/hosts/" + host);
  const std::string state = about.value("state", "up");
  if (state == "booting") throw std::runtime_error(fmt::format("{} is still booting", host));
  if (state == "down")
    throw std::runtime_error(
        fmt::format("{} is down: {}; `railyard restart {}` reboots it", host, about.value("why", ""), host));
  return about;
}

// What this process becomes will see the NICs of the host.
void enter_application(const nlohmann::json& about, DeviceNodes nodes) {
  for (const auto& [name, value] : application_environment(about["location"].get<std::string>(), nodes))
    ::setenv(name.c_str(), value.c_str(), 1);
}

// Without words: a shell.
int exec(const std::string& lab_name, const std::string& host, DeviceNodes nodes, std::vector<std::string> words) {
  const LabDir lab = chosen_lab(lab_name);
  std::vector<std::string> there{host};
  if (!words.empty()) there.push_back("--");
  there.insert(there.end(), words.begin(), words.end());
  go_to_site(lab, host, words.empty() ? "shell" : "exec", there);
  const auto about = reachable(lab, host);
  const auto kind = about["kind"].get<std::string>();
  keep_off(about.value("cores", std::vector<int>{}));
  if (kind == "namespace") {
    // A shell in between says 127 for a command that is not there, and 126 for one that cannot be run.
    if (words.empty())
      words.push_back(login_shell());
    else
      words.insert(words.begin(), {"sh", "-c", "exec \"$@\"", "railyard exec"});
    if (const std::string programs = about.value("programs", ""); !programs.empty()) {
      const char* path = std::getenv("PATH");
      words.insert(words.begin(), {"env", fmt::format("PATH={}:{}", programs, path != nullptr ? path : "/usr/bin:/bin")});
    }
    words.insert(words.begin(), {"ip", "netns", "exec", about["location"].get<std::string>()});
    become(std::move(words));
  }
  if (kind == "vm") {
    const guest::GuestAddress address{about["location"].get<std::string>(), host};
    if (words.empty()) return guest::run_at_terminal(address, guest::shell_command());
    return guest::run_at_standard_streams(address, {.arguments = std::move(words)});
  }
  if (kind == "application") {
    enter_application(about, nodes);
    if (words.empty()) words.push_back(login_shell());
    if (const auto why = why_not_for(words[0])) fmt::print(stderr, "railyard: warning: {}\n", *why);
    words.insert(words.begin(), {"sh", "-c", "exec \"$@\"", "railyard exec"});
    become(std::move(words));
  }
  throw std::runtime_error(fmt::format("{} is {}: it cannot run commands; expected a host with `attach: namespace`, "
                                       "`attach: vm` or `attach: application`",
                                       host, kind));
}

// Lines for a POSIX shell.
int print_environment(const std::string& lab_name, const std::string& host, DeviceNodes nodes) {
  go_to_site(chosen_lab(lab_name), host, "env", {host});
  const auto about = reachable(chosen_lab(lab_name), host);
  if (about["kind"] != "application")
    throw std::runtime_error(fmt::format("{} is {}; expected a host with `attach: application`", host,
                                         about["kind"].get<std::string>()));
  for (const auto& [name, value] : application_environment(about["location"].get<std::string>(), nodes))
    std::printf("export %s=%s\n", name.c_str(), report::shell_word(value).c_str());
  return 0;
}

// railyard-agent lies where this program lies, if it was built.
std::string agent_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "railyard-agent";
  if (error || !std::filesystem::exists(beside))
    throw std::runtime_error(
        fmt::format("{} is missing: it is built only with libibverbs (Debian: libibverbs-dev)", beside.string()));
  return beside;
}

int connected_to(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error(fmt::format("the lab does not answer at {}: {}", socket, std::strerror(errno)));
  return fd;
}

// In a virtual machine it gets there by copy, and its messages pass through the session that it runs in: the guest
// needs no network to the daemon.
int agent(const std::string& lab_name, const std::string& host, const std::vector<std::string>& more) {
  const LabDir lab = chosen_lab(lab_name);
  const auto about = ask(lab, "GET", "/agents/" + host);
  const auto where = reachable(lab, host);
  const std::string program = agent_program();
  const auto socket = about["socket"].get<std::string>();
  const std::string token = "RAILYARD_AGENT_TOKEN=" + about["token"].get<std::string>();
  if (where["kind"] != "vm") {
    if (where["kind"] == "application") enter_application(where, DeviceNodes::kMade);
    std::vector<std::string> words{"env", token, program, "--lab", "unix:" + socket, "--name", host};
    words.insert(words.end(), more.begin(), more.end());
    if (where["kind"] == "namespace")
      words.insert(words.begin(), {"ip", "netns", "exec", where["location"].get<std::string>()});
    become(std::move(words));
  }
  const guest::GuestAddress address{where["location"].get<std::string>(), host};
  const std::string there = "/root/railyard-agent";
  guest::copy_to_guest(address, program, there);
  const int fd = connected_to(socket);
  auto session = guest::AgentSession::open(address.directory, address.name);
  std::vector<std::string> words{there, "--lab", "stdio", "--name", host};
  words.insert(words.end(), more.begin(), more.end());
  const guest::AgentExit exit = session.run({.arguments = std::move(words), .environment = {token}},
                                            {.input = fd, .output = fd, .error = STDERR_FILENO});
  ::close(fd);
  if (!exit.failure.empty()) throw std::runtime_error(fmt::format("{}: {}", host, exit.failure));
  return exit.status();
}

// "h1:/root/x"; without a host: here.
struct CopyEnd {
  std::string host;
  std::string path;
};
CopyEnd copy_end(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.find('/') < colon) return {{}, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

int copy(const std::string& lab_name, const std::string& from, const std::string& to) {
  const CopyEnd a = copy_end(from);
  const CopyEnd b = copy_end(to);
  if (a.host.empty() == b.host.empty())
    throw std::invalid_argument(fmt::format("cp {} {}: expected one file on a host, e.g. h1:/root/file", from, to));
  if (a.host.empty()) check_readable(a.path);
  const LabDir lab = chosen_lab(lab_name);
  const std::string& host = a.host.empty() ? b.host : a.host;
  const auto about = reachable(lab, host);
  const auto kind = about["kind"].get<std::string>();
  if (kind == "namespace")
    throw std::invalid_argument(fmt::format("{} is a namespace of this machine: it shares your files", host));
  if (kind != "vm") throw std::invalid_argument(fmt::format("{} is {}: it has no files", host, kind));
  const guest::GuestAddress address{about["location"].get<std::string>(), host};
  if (a.host.empty())
    guest::copy_to_guest(address, a.path, b.path);
  else
    guest::copy_from_guest(address, a.path, b.path);
  return kOk;
}

int restart(const std::string& lab_name, const std::string& host) {
  const LabDir lab = chosen_lab(lab_name);
  auto about = ask(lab, "POST", "/restart", {{"host", host}});
  while (about["state"] == "booting") {
    ::usleep(100'000);
    about = ask(lab, "GET", "/hosts/" + host);
  }
  if (about["state"] != "up") throw std::runtime_error(fmt::format("{} is down: {}", host, about.value("why", "")));
  fmt::print("lab {}: {} is up again\n", lab.name(), host);
  return kOk;
}

int link(const std::string& lab_name, const std::string& port, bool up) {
  const LabDir lab = chosen_lab(lab_name);
  const auto done = ask(lab, "POST", "/links", {{"link", port}, {"up", up}});
  fmt::print("lab {}: link {} {} at {:.6f} s\n", lab.name(), done["link"].get<std::string>(), up ? "up" : "down",
             done["effective_seconds"].get<double>());
  return kOk;
}

// The file is another one after the daemon has rotated it.
bool is_still(const std::string& path, ino_t inode) {
  struct stat st {};
  return ::stat(path.c_str(), &st) != 0 || st.st_ino == inode;
}

int logs(const std::string& lab_name, bool follow) {
  const LabDir lab = chosen_lab_dead_or_alive(lab_name);
  for (;;) {
    struct stat st {};
    std::ifstream in(lab.log());
    if (!in || ::stat(lab.log().c_str(), &st) != 0) throw std::runtime_error(fmt::format("cannot read {}", lab.log()));
    for (bool same = true; same; ::usleep(100'000)) {
      same = is_still(lab.log(), st.st_ino);
      for (std::string line; std::getline(in, line);) fmt::print("{}\n", line);
      std::fflush(stdout);
      if (!follow || !lab.running()) return kOk;
      in.clear();
    }
  }
}

}  // namespace

namespace {

struct HostOptions {
  std::string lab;
  std::string host;
  std::vector<std::string> words;
  bool preload = false;
  DeviceNodes nodes() const noexcept { return preload ? DeviceNodes::kPreload : DeviceNodes::kMade; }
};

void add_preload_option(CLI::App& command, HostOptions& o) {
  command.add_flag("--preload", o.preload,
                   "RDMA programs: use a preloaded library in place of /dev/infiniband, and hide the kernel's RDMA devices");
}

}  // namespace

void add_exec(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<HostOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST", o->host, "Name of the host")->required();
  add_preload_option(*command, *o);
  command->add_option("COMMAND", o->words, "The command and its arguments: everything after HOST")->required();
  command->footer(
      "Examples:\n"
      "  railyard exec h1 ping -c 3 h2\n"
      "  railyard exec -l rails-4x8 h1 ip -s link\n"
      "  railyard exec h1 sh -c 'iperf3 -s -D; ss -lt'");
  command->callback([o, &exit_code] { exit_code = exec(o->lab, o->host, o->nodes(), o->words); });
}

void add_env(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<HostOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST", o->host, "Name of a host with `attach: application`")->required();
  add_preload_option(*command, *o);
  command->footer(
      "Print the environment that lets RDMA programs find the host's NICs, as lines for a shell. `railyard exec` sets "
      "it.\n"
      "Example:\n  eval \"$(railyard env h1)\" && ibv_devinfo");
  command->callback([o, &exit_code] { exit_code = print_environment(o->lab, o->host, o->nodes()); });
}

void add_shell(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<HostOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST", o->host, "Name of the host")->required();
  command->footer("Example:\n  railyard shell h1");
  command->callback([o, &exit_code] { exit_code = exec(o->lab, o->host, o->nodes(), {}); });
}

void add_agent(CLI::App* command, int& exit_code) {
  auto lab = std::make_shared<std::string>();
  auto host = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command->add_option("HOST", *host, "A host with `agent: {}` in the fabric file")->required();
  auto more = std::make_shared<std::vector<std::string>>();
  command->add_option("ARGUMENT", *more, "Arguments of railyard-agent, e.g. --device rxe2: everything after HOST");
  command->footer(
      "The agent runs in the host's virtual machine or namespace, with the devices of a host of applications, or else on\n"
      "this machine. On other machines start railyard-agent directly. The agent exits when the lab stops.\n"
      "Example:\n  railyard agent h1 & railyard agent h2 & sleep 5; railyard status");
  command->callback([=, &exit_code] { exit_code = agent(*lab, *host, *more); });
}

void add_again(CLI::App* command, int& exit_code) {
  auto lab = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command->add_option("NAME", *name, "A collective or flow of agents that has ended (see `railyard status`), or what `railyard stop` has stopped")
      ->required();
  command->footer(
      "A built-in collective runs as many iterations more as the file says. What has agents starts when they have joined.\n"
      "The lab keeps running.\n"
      "Example:\n  railyard restart h1 && railyard agent h1 & railyard again gradients");
  command->callback([=, &exit_code] {
    const LabDir dir = chosen_lab(*lab);
    const auto done = ask(dir, "POST", "/again", {{"name", *name}});
    fmt::print("lab {}: {} {} runs again\n", dir.name(), done["what"].get<std::string>(), *name);
    exit_code = kOk;
  });
}

void add_stop(CLI::App* command, int& exit_code) {
  auto lab = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command->add_option("NAME", *name, "Built-in traffic or a built-in collective of the fabric file")->required();
  command->footer(
      "Until `railyard again NAME`. The rate of traffic becomes 1 bit/s for each queue pair; packets already queued are\n"
      "delivered. A collective finishes the iteration that goes on, and begins no other.\n"
      "Example:\n  railyard stop incast; railyard again incast");
  command->callback([=, &exit_code] {
    const LabDir dir = chosen_lab(*lab);
    const auto done = ask(dir, "POST", "/stop", {{"name", *name}});
    fmt::print("lab {}: {} {} stopped\n", dir.name(), done["what"].get<std::string>(), done["name"].get<std::string>());
    exit_code = kOk;
  });
}

void add_cp(CLI::App* command, int& exit_code) {
  struct WorkOptions {
    std::string lab;
    std::string from;
    std::string to;
  };
  auto o = std::make_shared<WorkOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("FROM", o->from, "FILE, or HOST:FILE")->required();
  command->add_option("TO", o->to, "HOST:FILE, or FILE")->required();
  command->footer(
      "Namespace hosts share the files of this machine.\n"
      "Examples:\n"
      "  railyard cp ./perf.sh h1:/root/perf.sh\n"
      "  railyard cp h1:/root/out.txt .");
  command->callback([o, &exit_code] { exit_code = copy(o->lab, o->from, o->to); });
}

void add_restart(CLI::App* command, int& exit_code) {
  struct WorkOptions {
    std::string lab;
    std::string host;
  };
  auto o = std::make_shared<WorkOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST", o->host, "Name of the host")->required();
  command->footer("A running machine is powered off first. The lab keeps running.\nExample:\n  railyard restart h1");
  command->callback([o, &exit_code] { exit_code = restart(o->lab, o->host); });
}

void add_link(CLI::App* command, int& exit_code) {
  command->require_subcommand(1);
  command->footer("Example:\n  railyard link down leaf1:3; sleep 5; railyard link up leaf1:3");
  for (const bool up : {false, true}) {
    struct WorkOptions {
      std::string lab;
      std::string port;
    };
    auto* c =
        command->add_subcommand(up ? "up" : "down", up ? "Bring a link up" : "Take a link down: it drops all frames");
    c->footer(fmt::format("Example:\n  railyard link {} leaf1:3", up ? "up" : "down"));
    auto o = std::make_shared<WorkOptions>();
    add_lab_option(*c, o->lab);
    c->add_option("PORT", o->port, "Either end, e.g. leaf1:3")->required();
    c->callback([o, up, &exit_code] { exit_code = link(o->lab, o->port, up); });
  }
}

namespace {

void add_hold(CLI::App* command, bool on, int& exit_code) {
  auto lab = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command->callback([lab, on, &exit_code] {
    const LabDir dir = chosen_lab(*lab);
    ask(dir, "POST", "/hold", {{"on", on}});
    fmt::print("lab {}: {}\n", dir.name(), on ? "paused" : "resumed");
    exit_code = kOk;
  });
}

}  // namespace

void add_pause(CLI::App* command, int& exit_code) {
  add_hold(command, true, exit_code);
  command->footer("Example:\n  railyard pause; railyard status; railyard resume");
}

void add_resume(CLI::App* command, int& exit_code) {
  add_hold(command, false, exit_code);
  command->footer("Example:\n  railyard resume");
}

void add_logs(CLI::App* command, int& exit_code) {
  struct WorkOptions {
    std::string lab;
    bool follow = false;
  };
  auto o = std::make_shared<WorkOptions>();
  add_lab_option(*command, o->lab);
  command->add_flag("-f,--follow", o->follow, "Print new lines as they come");
  command->footer("It shows the log of a lab that was killed, too, until `railyard down` removes it.\nExample:\n  railyard logs --follow");
  command->callback([o, &exit_code] { exit_code = logs(o->lab, o->follow); });
}

}  // namespace railyard::tools
