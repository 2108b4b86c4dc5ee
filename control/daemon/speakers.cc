#include "control/daemon/speakers.h"

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "control/hosts/hosts_error.h"
#include "control/hosts/namespaces.h"
#include "control/speakers/frr.h"
#include "control/speakers/frr_config.h"
#include "control/speakers/kernel_routes.h"
#include "control/speakers/switch_namespace.h"
#include "control/spec/load.h"
#include "dataplane/base/file_descriptor.h"

namespace railyard::daemon {

using Kind = spec::ControlSpec::Kind;

// A thread that waits for the kernels of all speakers.
class Speakers::Watch {
 public:
  struct Followed {
    std::string name;
    DeviceId device;
    std::unique_ptr<speakers::KernelRoutes> routes;
    std::optional<speakers::KernelRoutes::Table> given{};  // to the engine; nothing: not yet
    bool stale = true;
  };

  Watch(std::vector<Followed> followed, lab::Session& session, WallClockLive& live, Log& log)
      : followed_(std::move(followed)), session_(session), live_(live), log_(log), wake_(::eventfd(0, EFD_CLOEXEC)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Watch() {
    stop_ = true;
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake_.get(), &one, sizeof one));
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  // After a first event for others of the same cause.
  static constexpr std::chrono::milliseconds kGather{1};
  // Until what failed is tried again.
  static constexpr int kAgainMs = 100;

  void run() {
    while (!stop_) {
      bool failed = false;
      for (Followed& f : followed_)
        if (f.stale) failed |= !follow(f);
      wait(failed ? kAgainMs : -1);
    }
  }

  void wait(int most_ms) {
    std::vector<pollfd> all{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    for (const Followed& f : followed_) all.push_back({.fd = f.routes->readable(), .events = POLLIN, .revents = 0});
    if (::poll(all.data(), all.size(), most_ms) <= 0 || stop_) return;
    std::this_thread::sleep_for(kGather);
    for (std::size_t i = 0; i < followed_.size(); ++i) {
      if (all[i + 1].revents == 0) continue;
      followed_[i].routes->calm();
      followed_[i].stale = true;
    }
  }

  // Has the switch forward as its speaker's kernel would. False: it is to be tried again.
  bool follow(Followed& f) {
    try {
      speakers::KernelRoutes::Table table = f.routes->read();
      if (table == f.given) return f.stale = false, true;
      const bool posted = live_.requests.post([this, device = f.device, table](Engine& engine, Instant at) {
        session_.routing().take_table(at, device, table.routes, table.local);
        engine.wake_all();
      });
      if (!posted) return false;
      f.given = std::move(table);
      return f.stale = false, true;
    } catch (const std::runtime_error& error) {
      log_.warning(fmt::format("{}: {}", f.name, error.what()));
      return false;
    }
  }

  std::vector<Followed> followed_;
  lab::Session& session_;
  WallClockLive& live_;
  Log& log_;
  FileDescriptor wake_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

Speakers::Speakers(const spec::Lab& lab, const LabDir& dir, Log& log) : dir_(dir), log_(log), routing_(lab.routing) {
  speakers_ = speakers::speakers_of(lab);
  for (const speakers::Speaker& s : speakers_)
    if (s.control.kind == Kind::kFrr) speakers::check_frr(s, config(s));
}

std::string Speakers::netns(const speakers::Speaker& speaker) const {
  return hosts::host_namespace(dir_.name(), speaker.name);
}

// Commands that know where the speaker is.
std::filesystem::path Speakers::programs(const speakers::Speaker& speaker) const {
  return dir_.path() / "speakers" / speaker.name;
}

std::string Speakers::config(const speakers::Speaker& speaker) const {
  return speaker.control.config.empty() ? speakers::frr_config(speaker, routing_)
                                        : spec::read_file(speaker.control.config);
}

void Speakers::set_up(std::optional<hosts::Journal>& journal) const {
  for (const speakers::Speaker& s : speakers_) speakers::set_up_switch_namespace(s, netns(s), journal.value());
}

lab::Interfaces Speakers::interfaces() const {
  lab::Interfaces out;
  for (const speakers::Speaker& s : speakers_)
    for (const speakers::SpeakerPort& p : s.ports)
      out[{s.name, p.port}] = {.netns = netns(s), .name = speakers::interface_of(p.port), .socket = {}};
  return out;
}

void Speakers::tell(LiveLab& lab) const {
  for (const speakers::Speaker& s : speakers_) {
    std::string folder;
    if (s.control.kind == Kind::kFrr) {
      folder = programs(s);
      std::filesystem::create_directories(folder);
      const std::filesystem::path file = programs(s) / "vtysh";
      std::ofstream(file) << fmt::format("#!/bin/sh\nexec /usr/bin/{} \"$@\"\n",
                                         fmt::join(speakers::vtysh(netns(s)), " "));
      std::filesystem::permissions(file, std::filesystem::perms{0755});
    }
    lab.add_host(s.name, {.kind = "namespace", .location = netns(s), .programs = folder});
  }
}

Speakers::Running Speakers::start(std::optional<hosts::Journal>& journal, lab::Session& session,
                                  WallClockLive& live) const {
  if (speakers_.empty()) return {};
  std::vector<Watch::Followed> followed;
  for (const speakers::Speaker& s : speakers_) {
    speakers::name_peers(s, netns(s), journal.value());
    std::map<std::string, PortIndex> ports;
    for (const speakers::SpeakerPort& p : s.ports)
      ports[speakers::interface_of(p.port)] = PortIndex{static_cast<std::uint16_t>(p.port - 1)};
    followed.push_back({.name = s.name,
                        .device = session.lab().switch_named(s.name).id(),
                        .routes = std::make_unique<speakers::KernelRoutes>(netns(s), ports)});
    if (s.control.kind == Kind::kFrr) speakers::start_frr(s, config(s), netns(s), journal.value());
    log_.line(fmt::format("{}: {} in the network namespace {}", s.name,
                          s.control.kind == Kind::kFrr ? "FRR" : "a speaker of yours", netns(s)));
  }
  return std::make_shared<Watch>(std::move(followed), session, live, log_);
}

}  // namespace railyard::daemon
