// `railyard up`, `down` and `ls`: labs that stay up.
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/daemon/cleanup.h"
#include "control/daemon/ready.h"
#include "control/spec/load.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"
#include "tools/railyard/live.h"
#include "tools/railyard/page_link.h"

namespace railyard::tools {
namespace {

using daemon::LabDir;

struct UpOptions {
  std::string file;
  std::string name;
  std::vector<std::string> sets;
  std::string log_level;
  std::string metrics;
  std::string listen;
  std::string tls_cert;
  std::string tls_key;
  bool web = false;
  bool detach = false;
};

// railyardd lies where this program lies.
std::string daemon_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "railyardd";
  if (error || !std::filesystem::exists(beside))
    throw std::runtime_error(
        fmt::format("{} is missing; railyard and railyardd must be installed together", beside.string()));
  return beside;
}

volatile std::sig_atomic_t daemon_pid = 0;
void pass_on(int signal) {
  if (daemon_pid > 0) ::kill(static_cast<pid_t>(daemon_pid), signal == SIGINT ? SIGTERM : signal);
}

// The daemon, started; and what it tells.
pid_t start_daemon(const UpOptions& o, int& ready) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
  const std::string program = daemon_program();
  std::vector<std::string> args{program, std::filesystem::absolute(o.file), "--ready-fd", std::to_string(pipe[1])};
  if (!o.name.empty()) args.insert(args.end(), {"--name", o.name});
  for (const std::string& s : o.sets) args.insert(args.end(), {"--set", s});
  if (!o.log_level.empty()) args.insert(args.end(), {"--log-level", o.log_level});
  if (!o.metrics.empty()) args.insert(args.end(), {"--metrics", o.metrics});
  if (!o.listen.empty() || o.web) args.insert(args.end(), {"--listen", o.listen.empty() ? "127.0.0.1:0" : o.listen});
  if (!o.tls_cert.empty()) args.insert(args.end(), {"--tls-cert", std::filesystem::absolute(o.tls_cert)});
  if (!o.tls_key.empty()) args.insert(args.end(), {"--tls-key", std::filesystem::absolute(o.tls_key)});
  if (!o.detach) args.emplace_back("--foreground");
  std::vector<char*> raw;
  for (std::string& a : args) raw.push_back(a.data());
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
  if (pid < 0) throw std::runtime_error(fmt::format("cannot start railyardd: {}", std::strerror(errno)));
  if (pid == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    // Ctrl-C goes to us, who pass it on once.
    ::setsid();
    ::dup2(null, STDIN_FILENO);
    if (o.detach) {
      ::dup2(null, STDOUT_FILENO);
      ::dup2(null, STDERR_FILENO);
      if (::chdir("/") != 0) ::_exit(126);
    }
    ::fcntl(pipe[1], F_SETFD, 0);
    ::execv(program.c_str(), raw.data());
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

int up(const UpOptions& o) {
  if (o.file.empty()) check_readable(o.file);
  int fd = -1;
  const pid_t pid = start_daemon(o, fd);
  const auto told = daemon::wait_ready(fd);
  ::close(fd);
  if (!told || told->lab.empty()) {
    const int code = wait_for(pid);
    if (told) {
      fmt::print(stderr, "railyard: {}\n", told->error);
      return told->exit_code;
    }
    fmt::print(stderr, "railyard: railyardd ended (exit code {}) before the lab started\n", code);
    return kFailed;
  }
  const auto lab = ask(LabDir(told->lab), "GET", "/lab");
  fmt::print("lab '{}' is up: {} switches, {} hosts, {} links\n", told->lab, lab["size"]["switches"].get<int>(),
             lab["size"]["hosts"].get<int>(), lab["size"]["links"].get<int>());
  const bool plain_metrics = o.metrics.starts_with("127.") || o.metrics.starts_with("[::1]");
  if (!o.metrics.empty())
    fmt::print("  {}://{}/metrics            for Prometheus\n", plain_metrics ? "http" : "https", o.metrics);
  if (o.web || !o.listen.empty()) print_page(LabDir(told->lab));
  if (o.detach) {
    fmt::print("  railyard status --watch     rates, once a second\n  railyard down               stops it\n");
    return kOk;
  }
  fmt::print("Ctrl-C stops it\n");
  std::fflush(stdout);
  return wait_for(pid);
}

// Waits until nobody holds the lab any more.
bool gone(const LabDir& dir, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kTurn{50};
  for (; patience > kTurn; patience -= kTurn) {
    if (!dir.running()) return true;
    std::this_thread::sleep_for(kTurn);
  }
  return !dir.running();
}

// Whether it will go down. A daemon that was killed holds its lab until the kernel has closed all it had open.
bool told_to_go_down(const LabDir& dir) {
  if (!dir.running()) return false;
  try {
    ask(dir, "POST", "/down");
    return true;
  } catch (const std::runtime_error&) {
    if (!gone(dir, std::chrono::seconds(5))) throw;
    return false;
  }
}

int down_one(const LabDir& dir) {
  if (told_to_go_down(dir)) {
    if (!gone(dir, std::chrono::seconds(30)))
      throw std::runtime_error(fmt::format("lab '{}' is still stopping; its log: {}", dir.name(), dir.log()));
    fmt::print("lab '{}' stopped\n", dir.name());
  } else {
    const std::vector<std::string> left = daemon::clean_up(dir);
    for (const std::string& line : left) fmt::print(stderr, "railyard: {}\n", line);
    if (!left.empty()) return kFailed;
    fmt::print("lab '{}' was not running; removed its leftovers\n", dir.name());
  }
  return kOk;
}

int down(const std::string& name, bool all) {
  const std::vector<std::string> names = LabDir::names();
  if (all) {
    for (const std::string& n : names) down_one(LabDir(n));
    return kOk;
  }
  if (!name.empty()) {
    const LabDir dir(name);
    if (!dir.exists()) {
      chosen_lab(name);  // says which are up
      return kFailed;
    }
    return down_one(dir);
  }
  return down_one(names.size() == 1 ? LabDir(names[0]) : chosen_lab(name));
}

int list(bool as_json) {
  nlohmann::json labs = nlohmann::json::array();
  for (const std::string& name : LabDir::names()) {
    const LabDir dir(name);
    nlohmann::json lab{{"name", name}, {"running", dir.running()}};
    try {
      if (dir.running()) lab.update(ask(dir, "GET", "/lab", nullptr, std::chrono::seconds(3)));
    } catch (const std::runtime_error& error) {
      lab["error"] = error.what();
    }
    labs.push_back(std::move(lab));
  }
  if (as_json) {
    fmt::print("{}\n", json_text(labs, 2));
    return kOk;
  }
  if (labs.empty()) fmt::print("no running labs\n");
  for (const auto& lab : labs) {
    const auto name = lab["name"].get<std::string>();
    if (!lab["running"].get<bool>())
      fmt::print("{:20} not running; `railyard down {}` removes its leftovers\n", name, name);
    else if (lab.contains("error"))
      fmt::print("{:20} {}\n", name, lab["error"].get<std::string>());
    else
      fmt::print("{:20} pid {}, {} switches, {} hosts, {} links{}\n", name, lab["pid"].get<int>(),
                 lab["size"]["switches"].get<int>(), lab["size"]["hosts"].get<int>(), lab["size"]["links"].get<int>(),
                 lab["held"].get<bool>() ? ", paused" : "");
  }
  return kOk;
}

}  // namespace

void add_up(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<UpOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command->add_flag("-d,--detach", o->detach, "Return when the lab runs; `railyard down` stops it");
  command->add_option("-l,--lab,--name", o->name, "Name of the live lab (default: the file's `name`)")
      ->type_name("NAME")
      ->envname(kLabVariable);
  command->add_option("--set", o->sets, "Override a value of the file")->type_name("PATH=VALUE");
  command->add_option("--metrics", o->metrics, "Answer GET /metrics for Prometheus at this loopback address; with --tls-cert at any, by the token")
      ->type_name("ADDRESS:PORT");
  command->add_flag("--web", o->web, "Serve the live page on this machine, and print its address");
  command->add_option("--listen", o->listen, "Serve the page and the API at this loopback address, with --tls-cert at any; port 0: any that is free")
      ->type_name("ADDRESS:PORT");
  auto* cert = command->add_option("--tls-cert", o->tls_cert, "Certificate of this machine, with its chain (PEM)")->type_name("FILE");
  auto* key = command->add_option("--tls-key", o->tls_key, "Its key (PEM, without a passphrase)")->type_name("FILE")->needs(cert);
  cert->needs(key);
  command->add_option("--log-level", o->log_level, "Lowest level in the daemon's log (default: info)")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "critical", "off"}));
  command->footer(
      "run.duration of the file is ignored: built-in traffic without `bytes` or `stop` runs until the lab stops.\n"
      "Examples:\n"
      "  railyard up topologies/labs/softroce-pair.yaml --detach\n"
      "  railyard up topologies/labs/rails-4x8.yaml --web --detach\n"
      "  railyard exec h1 ping -c 3 h2\n"
      "  railyard down");
  command->callback([o, &exit_code] { exit_code = up(*o); });
}

void add_down(CLI::App* command, int& exit_code) {
  auto name = std::make_shared<std::string>();
  auto all = std::make_shared<bool>(false);
  command->add_option("LAB", *name, "Name of the lab; required if several are running")->type_name("");
  auto option = std::make_shared<std::string>();
  add_lab_option(*command, *option);
  command->add_flag("--all", *all, "Stop all labs");
  command->footer(
      "Examples:\n"
      "  railyard down\n"
      "  railyard down rails-4x8\n"
      "  railyard down --all");
  command->callback([=, &exit_code] { exit_code = down(name->empty() ? *option : *name, *all); });
}

void add_ls(CLI::App* command, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->footer("Example:\n  railyard ls --json | jq -r '.[].name'");
  command->callback([json, &exit_code] { exit_code = list(*json); });
}

}  // namespace railyard::tools
