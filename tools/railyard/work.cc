// Commands that work on a lab that is up: exec, shell, agent, again, cp, restart, link, pause, resume, logs.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/guest/copy_files.h"
#include "control/guest/run_command.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"
#include "tools/railyard/live.h"

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
        fmt::format("{} is down: {}; `railyard restart {}` boots it anew", host, about.value("why", ""), host));
  return about;
}

// Without words: a shell.
int exec(const std::string& lab_name, const std::string& host, std::vector<std::string> words) {
  const LabDir lab = chosen_lab(lab_name);
  const auto about = reachable(lab, host);
  const auto kind = about["kind"].get<std::string>();
  if (kind == "namespace") {
    if (words.empty()) words.push_back(login_shell());
    words.insert(words.begin(), {"ip", "netns", "exec", about["location"].get<std::string>()});
    become(std::move(words));
  }
  if (kind == "vm") {
    const guest::GuestAddress address{about["location"].get<std::string>(), host};
    if (words.empty()) return guest::run_at_terminal(address, guest::shell_command());
    return guest::run_at_standard_streams(address, {.arguments = std::move(words)});
  }
  throw std::runtime_error(fmt::format(
      "{} is {}: nothing can be run there; hosts with `attach: namespace` or `attach: vm` are made for that", host,
      kind));
}

// railyard-agent lies where this program lies, if it was built.
std::string agent_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "railyard-agent";
  if (error || !std::filesystem::exists(beside))
    throw std::runtime_error(fmt::format("there is no {}: it is built where libibverbs is (Debian: libibverbs-dev)",
                                         beside.string()));
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
  const guest::AgentExit exit = session.run(
      {.arguments = std::move(words), .environment = {token}}, {.input = fd, .output = fd, .error = STDERR_FILENO});
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
    throw std::invalid_argument(fmt::format("cp {} {}: expected one of them on a host, as h1:/root/file", from, to));
  if (a.host.empty()) check_readable(a.path);
  const LabDir lab = chosen_lab(lab_name);
  const std::string& host = a.host.empty() ? b.host : a.host;
  const auto about = reachable(lab, host);
  const auto kind = about["kind"].get<std::string>();
  if (kind == "namespace")
    throw std::invalid_argument(fmt::format("{} is a namespace of this machine: it has the same files as you", host));
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
  fmt::print("{} is up again\n", host);
  return kOk;
}

int link(const std::string& lab_name, const std::string& port, bool up) {
  const auto done = ask(chosen_lab(lab_name), "POST", "/links", {{"link", port}, {"up", up}});
  fmt::print("link {} is {} since {:.6f} s\n", done["link"].get<std::string>(), up ? "up" : "down",
             done["effective_seconds"].get<double>());
  return kOk;
}

int logs(const std::string& lab_name, bool follow) {
  const LabDir lab = chosen_lab(lab_name);
  std::ifstream in(lab.log());
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", lab.log()));
  for (;;) {
    for (std::string line; std::getline(in, line);) fmt::print("{}\n", line);
    std::fflush(stdout);
    if (!follow || !lab.running()) return kOk;
    in.clear();
    ::usleep(100'000);
  }
}

}  // namespace

void add_exec(CLI::App& app, int& exit_code) {
  struct WorkOptions {
    std::string lab;
    std::string host;
    std::vector<std::string> words;
  };
  auto* command = app.add_subcommand("exec", "Run a command on a host of a lab that is up");
  auto o = std::make_shared<WorkOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST", o->host, "Name of the host")->required();
  command->add_option("CMD", o->words, "The command and its arguments, behind --")->required();
  command->footer("Example:\n  railyard exec h1 -- ping -c 3 h2");
  command->callback([o, &exit_code] { exit_code = exec(o->lab, o->host, o->words); });

  auto* shell = app.add_subcommand("shell", "A shell on a host of a lab that is up");
  auto s = std::make_shared<WorkOptions>();
  add_lab_option(*shell, s->lab);
  shell->add_option("HOST", s->host, "Name of the host")->required();
  shell->callback([s, &exit_code] { exit_code = exec(s->lab, s->host, {}); });
}

void add_agent(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("agent", "Run the agent of a host of a lab that is up: its RDMA devices are ranks");
  auto lab = std::make_shared<std::string>();
  auto host = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command->add_option("HOST", *host, "With `agent: {}` in the fabric file")->required();
  auto more = std::make_shared<std::vector<std::string>>();
  command->add_option("ARGUMENT", *more, "Of railyard-agent, behind --: such as -- --device rxe2");
  command->footer(
      "In a virtual machine of the lab, in a namespace, or else here; on other machines run railyard-agent itself.\n"
      "It ends with the lab.\n"
      "Example:\n  railyard agent h1 & railyard agent h2 & sleep 5; railyard status");
  command->callback([=, &exit_code] { exit_code = agent(*lab, *host, *more); });
}

void add_again(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("again", "Run a collective or a flow of agents of a lab that is up again");
  auto lab = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command->add_option("NAME", *name, "One that has failed, or is done; as `railyard status` lists it")->required();
  command->footer(
      "It begins anew as soon as its agents are there; the lab goes on meanwhile.\n"
      "Example:\n  railyard restart h1 && railyard agent h1 & railyard again gradients");
  command->callback([=, &exit_code] {
    const auto done = ask(chosen_lab(*lab), "POST", "/again", {{"name", *name}});
    fmt::print("{} {} is run again\n", done["what"].get<std::string>(), *name);
    exit_code = kOk;
  });
}

void add_cp(CLI::App& app, int& exit_code) {
  struct WorkOptions {
    std::string lab;
    std::string from;
    std::string to;
  };
  auto* command = app.add_subcommand("cp", "Copy a file to or from a virtual machine of a lab that is up");
  auto o = std::make_shared<WorkOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("FROM", o->from, "FILE, or HOST:FILE")->required();
  command->add_option("TO", o->to, "HOST:FILE, or FILE")->required();
  command->callback([o, &exit_code] { exit_code = copy(o->lab, o->from, o->to); });
}

void add_restart(CLI::App& app, int& exit_code) {
  struct WorkOptions {
    std::string lab;
    std::string host;
  };
  auto* command = app.add_subcommand("restart", "Boot a virtual machine of a lab that is up anew");
  auto o = std::make_shared<WorkOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST", o->host, "Name of the host")->required();
  command->footer("One that runs is powered off first. The lab goes on meanwhile.\nExample:\n  railyard restart h1");
  command->callback([o, &exit_code] { exit_code = restart(o->lab, o->host); });
}

void add_link(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("link", "Take a link down or up");
  command->require_subcommand(1);
  for (const bool up : {false, true}) {
    struct WorkOptions {
      std::string lab;
      std::string port;
    };
    auto* c =
        command->add_subcommand(up ? "up" : "down", up ? "The link carries frames again" : "The link loses all frames");
    auto o = std::make_shared<WorkOptions>();
    add_lab_option(*c, o->lab);
    c->add_option("PORT", o->port, "Either end, e.g. leaf1:3")->required();
    c->callback([o, up, &exit_code] { exit_code = link(o->lab, o->port, up); });
  }
}

void add_pause(CLI::App& app, int& exit_code) {
  for (const bool on : {true, false}) {
    auto* command =
        app.add_subcommand(on ? "pause" : "resume",
                           on ? "Have modelled time stand still; nothing goes in or out" : "Have modelled time go on");
    auto lab = std::make_shared<std::string>();
    add_lab_option(*command, *lab);
    command->callback([lab, on, &exit_code] {
      ask(chosen_lab(*lab), "POST", "/hold", {{"on", on}});
      exit_code = kOk;
    });
  }
}

void add_logs(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("logs", "What the lab's daemon has done and seen");
  struct WorkOptions {
    std::string lab;
    bool follow = false;
  };
  auto o = std::make_shared<WorkOptions>();
  add_lab_option(*command, o->lab);
  command->add_flag("-f,--follow", o->follow, "Go on as more comes");
  command->callback([o, &exit_code] { exit_code = logs(o->lab, o->follow); });
}

}  // namespace railyard::tools
