#include "control/speakers/frr.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/hosts/command.h"
#include "control/hosts/hosts_error.h"

namespace railyard::speakers {
namespace {

using hosts::HostsError;

const std::string kRoot = "/run/frr";
// zebra first: the others connect to it.
struct Daemon {
  const char* name;
  const char* socket = nullptr;
};
constexpr std::array kDaemons{Daemon{"zebra", "zserv.api"}, Daemon{"staticd"}, Daemon{"bfdd", "bfdd.sock"},
                              Daemon{"bgpd"}};

std::string program(const Daemon& daemon) { return fmt::format("/usr/lib/frr/{}", daemon.name); }

// What is made below the folder, the folder first.
std::vector<hosts::Thing> things(const std::string& netns) {
  const std::string folder = frr_folder(netns);
  std::vector<hosts::Thing> all{hosts::Directory{folder}, hosts::File{folder + "/frr.conf"},
                                hosts::File{folder + "/vtysh.conf"}};
  for (const Daemon& daemon : kDaemons) {
    for (const char* kind : {"pid", "vty", "log"})
      all.emplace_back(hosts::File{fmt::format("{}/{}.{}", folder, daemon.name, kind)});
    if (daemon.socket != nullptr) all.emplace_back(hosts::File{fmt::format("{}/{}", folder, daemon.socket)});
  }
  return all;
}

[[noreturn]] void fail(const Speaker& speaker, const std::string& what) {
  throw HostsError(fmt::format("{}: control: frr: {}", speaker.name, what));
}

struct User {
  uid_t uid;
  gid_t gid;
};

User frr_user(const Speaker& speaker) {
  const passwd* const user = ::getpwnam("frr");
  if (user == nullptr) fail(speaker, "there is no user 'frr'; install FRR again: apt-get install --reinstall frr");
  return {user->pw_uid, user->pw_gid};
}

void make_folder(const Speaker& speaker, const std::string& path, const User& owner) {
  if (::mkdir(path.c_str(), 0755) == 0) {
    if (::chown(path.c_str(), owner.uid, owner.gid) == 0) return;
  } else if (errno == EEXIST) {
    return;
  }
  fail(speaker, fmt::format("cannot create {}: {}", path, std::strerror(errno)));
}

void make_file(const Speaker& speaker, const std::string& path, const std::string& text, const User& owner) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file || ::chmod(path.c_str(), 0640) != 0 || ::chown(path.c_str(), owner.uid, owner.gid) != 0)
    fail(speaker, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace

std::string frr_folder(const std::string& netns) { return fmt::format("{}/{}", kRoot, netns); }

std::vector<std::string> vtysh(const std::string& netns) { return {"vtysh", "-N", netns, "--config_dir", kRoot}; }

void check_frr(const Speaker& speaker, const std::string& text) {
  for (const Daemon& daemon : kDaemons)
    if (::access(program(daemon).c_str(), X_OK) != 0)
      fail(speaker, fmt::format("{} is missing; install FRR: apt-get install frr", program(daemon)));
  // vtysh reads files only, and a pipe is one.
  const hosts::CommandResult checked = hosts::run_command({"vtysh", "-C", "-f", "/dev/stdin"}, {.input = text});
  if (checked.status == 0) return;
  std::string said = checked.output;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  fail(speaker, fmt::format("FRR refuses {}: {}",
                            speaker.control.config.empty() ? "its configuration" : speaker.control.config, said));
}

void start_frr(const Speaker& speaker, const std::string& text, const std::string& netns, hosts::Journal& journal) {
  const User user = frr_user(speaker);
  const std::string folder = frr_folder(netns);
  if (std::filesystem::exists(folder))
    fail(speaker, fmt::format("{0} exists already; if it is unused: rm -r {0}", folder));
  journal.record(things(netns));
  make_folder(speaker, kRoot, user);
  make_folder(speaker, folder, user);
  const std::string config = folder + "/frr.conf";
  make_file(speaker, config, text, user);
  make_file(speaker, folder + "/vtysh.conf", "", user);
  for (const Daemon& daemon : kDaemons) {
    // No port for telnet (-P 0). Each daemon reads what is for it of the one file.
    const hosts::CommandResult started = hosts::run_command(
        {"ip", "netns", "exec", netns, program(daemon), "-d", "-N", netns, "-f", config, "-A", "127.0.0.1", "-P", "0",
         "--log", fmt::format("file:{}/{}.log", folder, daemon.name), "--log-level", "informational"});
    if (started.status != 0)
      fail(speaker, fmt::format("{} does not start (status {}): {}", daemon.name, started.status, started.output));
  }
}

}  // namespace railyard::speakers
