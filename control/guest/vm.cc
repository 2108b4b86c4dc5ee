#include "control/guest/vm.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/guest/agent_session.h"
#include "control/guest/guest_error.h"
#include "control/guest/guest_files.h"
#include "control/guest/qemu_arguments.h"

namespace railyard::guest {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr std::size_t kLongestSocketPath = 107;
constexpr milliseconds kKvmPatience{15'000};  // nested, a guest sometimes never comes up
constexpr milliseconds kPollInterval{20};

bool kvm_usable() { return access("/dev/kvm", R_OK | W_OK) == 0; }

// Whether a shell would find it.
bool executable(const std::string& program) {
  if (program.contains('/')) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/bin:/bin";
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    if (access(fmt::format("{}/{}", folders.substr(0, colon), program).c_str(), X_OK) == 0) return true;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return false;
}

void write_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::trunc);
  out << text;
  if (!out.flush()) throw GuestError(fmt::format("cannot write {}", file.string()));
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The last lines of a text file on one line.
std::string end_of(const fs::path& file) {
  std::string text = text_of(file);
  std::erase_if(text, [](char c) { return c != '\n' && (c < ' ' || c > '~'); });
  while (text.ends_with('\n')) text.pop_back();
  constexpr std::size_t kShown = 300;
  if (text.size() > kShown) text = "... " + text.substr(text.size() - kShown);
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string(" | ") : std::string(1, c);
  return out;
}

// Ended, and if it is our child, reaped.
bool ended(pid_t pid) {
  int status = 0;
  const pid_t got = waitpid(pid, &status, WNOHANG);
  if (got == pid) return true;
  return got < 0 && (errno != ECHILD || kill(pid, 0) < 0);
}

bool wait_for_end(pid_t pid, Clock::time_point deadline, const GiveUp& give_up = {}) {
  while (!ended(pid)) {
    if (Clock::now() >= deadline || (give_up && give_up())) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

void remove_files(const GuestFiles& files) noexcept {
  std::error_code ignored;
  for (int port = 0; port < kAgentPorts; ++port) {
    fs::remove(files.agent_socket(port), ignored);
    fs::remove(files.agent_lock(port), ignored);
  }
  for (const fs::path& file : {files.control_socket(), files.control_lock(), files.monitor_socket(), files.pid_file(), files.hosts(),
                               files.network_v4(), files.network_v6()})
    fs::remove(file, ignored);
}

}  // namespace

Accelerator default_accelerator() {
  const char* value = std::getenv("RAILYARD_SOFTROCE_ACCEL");
  const std::string_view accel = value != nullptr ? value : "";
  if (accel.empty()) return Accelerator::kAuto;
  if (accel == "kvm") return Accelerator::kKvm;
  if (accel == "tcg") return Accelerator::kTcg;
  throw GuestError(fmt::format("RAILYARD_SOFTROCE_ACCEL={}: expected kvm or tcg", accel));
}

std::string default_qemu() {
  const char* value = std::getenv("RAILYARD_SOFTROCE_QEMU");
  return value != nullptr && *value != '\0' ? value : "qemu-system-x86_64";
}

Vm::Vm(VmConfig config) : config_(std::move(config)) {
  const std::string& name = config_.network.hostname;
  const auto refuse = [&](const std::string& what) { throw GuestError(fmt::format("{}: {}", name, what)); };
  config_.directory = fs::absolute(config_.directory);
  const GuestFiles files{config_.directory};
  // The longest of the sockets; QEMU cuts what is too long without a word.
  if (const std::string path = files.control_socket().string(); path.size() > kLongestSocketPath)
    refuse(fmt::format("the socket path {} has {} characters, the limit is {}: use a directory with a shorter name",
                       path, path.size(), kLongestSocketPath));
  // The machine `pc` has 32 PCI slots; its bridges and the serial ports take three.
  constexpr std::size_t kMostNics = 29;
  if (config_.network.nics.size() > kMostNics)
    refuse(fmt::format("{} NICs; a guest has {} at most", config_.network.nics.size(), kMostNics));
  for (const GuestNic& nic : config_.network.nics) {
    if (nic.socket.size() > kLongestSocketPath)
      refuse(fmt::format("the socket path {} has {} characters, the limit is {}", nic.socket, nic.socket.size(),
                         kLongestSocketPath));
    if (nic.mtu < 1280 || nic.mtu > 65535)
      refuse(fmt::format("an MTU of {}; a guest's NIC takes 1280 to 65535", nic.mtu));
    if (nic.mac.is_multicast()) refuse(fmt::format("{} is a multicast MAC address", to_string(nic.mac)));
  }
  if (config_.memory_mib < 128) refuse(fmt::format("{} MiB of memory; a guest needs 128", config_.memory_mib));
  if (config_.cpus < 1 || config_.cpus > 64) refuse(fmt::format("{} CPUs; a guest has 1 to 64", config_.cpus));
  if (!executable(config_.qemu)) refuse(fmt::format("{} is not installed (Debian: qemu-system-x86)", config_.qemu));
  if (config_.accelerator == Accelerator::kKvm && !kvm_usable())
    refuse("/dev/kvm is missing or not accessible; RAILYARD_SOFTROCE_ACCEL=tcg runs without it");
  check_image(config_.image);
}

Vm::Vm(Vm&& other) noexcept
    : config_(std::move(other.config_)),
      pid_(std::exchange(other.pid_, -1)),
      accelerator_(other.accelerator_),
      notes_(std::move(other.notes_)) {}

Vm::~Vm() {
  if (pid_ >= 0) kill_now();
}

void Vm::start() {
  const GuestFiles files{config_.directory};
  std::error_code error;
  fs::create_directories(config_.directory, error);
  if (error)
    throw GuestError(
        fmt::format("{}: cannot create {}: {}", config_.network.hostname, config_.directory.string(), error.message()));
  if (const fs::path used = files.pid_file(); fs::exists(used)) {
    long pid = 0;
    std::ifstream(used) >> pid;
    if (pid > 1 && kill(static_cast<pid_t>(pid), 0) == 0)
      throw GuestError(fmt::format("{}: a guest already runs in {} (process {})", config_.network.hostname,
                                   config_.directory.string(), pid));
  }
  const bool kvm = config_.accelerator != Accelerator::kTcg && kvm_usable();
  if (config_.accelerator == Accelerator::kAuto && !kvm)
    notes_.push_back(fmt::format("{}: no KVM: using TCG (much slower)", config_.network.hostname));
  launch(kvm ? Accelerator::kKvm : Accelerator::kTcg);
}

void Vm::launch(Accelerator accelerator) {
  const GuestFiles files{config_.directory};
  remove_files(files);
  write_file(files.hosts(), hosts_text(config_.network));
  write_file(files.network_v4(), ip_batch(config_.network, IpFamily::kV4));
  write_file(files.network_v6(), ip_batch(config_.network, IpFamily::kV6));
  accelerator_ = accelerator;

  std::vector<std::string> arguments = qemu_arguments(config_, accelerator);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files.qemu_log().c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  // QEMU outlives the fabric: it must not hold the fabric's sockets.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int failed = posix_spawnp(&pid_, config_.qemu.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    pid_ = -1;
    remove_files(files);
    throw GuestError(fmt::format("{}: cannot start {}: {}", config_.network.hostname, config_.qemu,
                                 std::generic_category().message(failed)));
  }
}

// False: QEMU has ended, or there was no answer in time. Throws if the guest has come up with problems, or is given up.
bool Vm::answers(milliseconds limit, const GiveUp& give_up) {
  const GuestFiles files{config_.directory};
  const Clock::time_point deadline = Clock::now() + limit;
  const auto left = [&] { return std::chrono::ceil<milliseconds>(deadline - Clock::now()); };
  std::error_code ignored;
  std::string problems;
  for (;;) {
    if (give_up && give_up()) throw GuestError(fmt::format("{}: timed out", config_.network.hostname));
    if (!running()) return false;
    if (fs::exists(files.control_socket(), ignored)) {
      try {
        problems =
            AgentSession::open_control(config_.directory, config_.network.hostname, left(), give_up).ping(left());
        break;
      } catch (const GuestError&) {  // gone or too late: seen above or below
      }
    }
    if (left() <= milliseconds(0)) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  if (problems.empty()) return true;
  while (problems.ends_with('\n')) problems.pop_back();
  std::ranges::replace(problems, '\n', ';');
  throw GuestError(fmt::format("{}: the guest has booted, but {} (console: {})", config_.network.hostname, problems,
                               files.console().string()));
}

void Vm::wait_ready(milliseconds limit, const GiveUp& give_up) {
  const std::string& name = config_.network.hostname;
  if (pid_ < 0) throw GuestError(fmt::format("{}: the guest has not been started", name));
  const bool may_fall_back = config_.accelerator == Accelerator::kAuto && accelerator_ == Accelerator::kKvm;
  try {
    if (answers(may_fall_back ? std::min(limit, kKvmPatience) : limit, give_up)) return;
    if (may_fall_back) {
      const std::string how =
          running() ? "the guest does not boot" : "QEMU ends: " + end_of(GuestFiles{config_.directory}.qemu_log());
      kill_now();
      notes_.push_back(fmt::format(
          "{}: KVM does not work ({}): using TCG (much slower); RAILYARD_SOFTROCE_ACCEL=tcg skips the attempt", name,
          how));
      launch(Accelerator::kTcg);
      if (answers(limit, give_up)) return;
    }
    const std::string what =
        running() ? fmt::format("the guest did not boot within {:.0f} s", std::chrono::duration<double>(limit).count())
                  : "QEMU has exited";
    throw GuestError(fmt::format("{}: {}; {}", name, what, console_end()));
  } catch (...) {
    kill_now();
    throw;
  }
}

std::string Vm::console_end() const {
  const GuestFiles files{config_.directory};
  const std::string qemu = end_of(files.qemu_log());
  const std::string console = end_of(files.console());
  return fmt::format("{}: {}; {}: {}", files.qemu_log().string(), qemu.empty() ? "(empty)" : qemu,
                     files.console().string(), console.empty() ? "(empty)" : console);
}

bool Vm::running() {
  if (pid_ < 0) return false;
  if (!ended(pid_)) return true;
  pid_ = -1;
  return false;
}

void Vm::stop(milliseconds grace, const GiveUp& give_up) noexcept {
  if (running()) {
    try {
      const Clock::time_point deadline = Clock::now() + grace;
      AgentSession::open_control(config_.directory, config_.network.hostname, grace, give_up).power_off();
      if (wait_for_end(pid_, deadline, give_up)) pid_ = -1;
    } catch (const std::exception&) {  // then without its consent
    }
  }
  kill_now();
}

void Vm::kill_now() noexcept {
  if (running()) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
  }
  remove_sockets();
}

void Vm::remove_sockets() noexcept { remove_files(GuestFiles{config_.directory}); }

bool Vm::stop_leftover(const fs::path& directory, milliseconds grace) {
  const GuestFiles files{directory};
  long pid = 0;
  std::ifstream(files.pid_file()) >> pid;
  if (pid <= 1) return false;
  // The number may be somebody else's by now: QEMU has the path of the file among its arguments.
  const std::string command = text_of(fmt::format("/proc/{}/cmdline", pid));
  const bool ours = command.contains("-pidfile" + std::string(1, '\0') + fs::absolute(files.pid_file()).string());
  if (ours) {
    const auto process = static_cast<pid_t>(pid);
    const Clock::time_point deadline = Clock::now() + grace;
    try {
      if (grace > milliseconds(0)) AgentSession::open_control(directory, "guest", grace).power_off();
    } catch (const GuestError&) {  // then without its consent
    }
    if (!wait_for_end(process, deadline)) {
      kill(process, SIGKILL);
      wait_for_end(process, Clock::now() + std::chrono::seconds(5));
    }
  }
  remove_files(files);
  return ours;
}

}  // namespace railyard::guest
