// What a session has outside: ports of NICs and of switches that run daemons, trunks, and their sockets.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/lab/behind_ports.h"
#include "control/lab/session.h"
#include "control/spec/addresses.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "dataplane/port/tap_port.h"
#include "dataplane/switch/switch.h"

namespace railyard::lab {
namespace {

void check_socket_free(const spec::Place& place, const char* kind, const std::string& path) {
  constexpr std::size_t kMostSocketPath = 107;  // sun_path, unix(7)
  if (path.size() > kMostSocketPath)
    throw spec::SpecError(place, fmt::format("{}: the socket path has {} characters; expected at most {}", kind,
                                             path.size(), kMostSocketPath));
  struct stat st;
  if (lstat(path.c_str(), &st) == 0)
    throw spec::SpecError(
        place,
        fmt::format("{}: {} exists already. Choose another path, or remove it if no process uses it", kind, path));
  const std::filesystem::path dir = std::filesystem::path(path).parent_path();
  if (!dir.empty() && !std::filesystem::is_directory(dir))
    throw spec::SpecError(place, fmt::format("{}: there is no directory {}", kind, dir.string()));
  if (::access(dir.empty() ? "." : dir.c_str(), W_OK | X_OK) != 0)
    throw spec::SpecError(place, fmt::format("{}: cannot create {}: no permission to write to {}", kind, path,
                                             dir.empty() ? "the working directory" : dir.string()));
}

}  // namespace

// What comes and what goes; whichever is in it at the end is closed.
class Session::Exchange {
 public:
  Exchange(Host& host, PortIndex port, OpenedPort opened)
      : host_(host), port_(port), device_(opened.port.get()), coming_(std::move(opened)) {}
  ~Exchange() {
    if (coming_.port == nullptr) return;
    coming_.port.reset();
    remove(coming_.socket);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  static void remove(const std::string& socket) {
    std::error_code ignored;
    if (!socket.empty()) std::filesystem::remove(socket, ignored);
  }

 private:
  friend class Session;
  Host& host_;
  PortIndex port_;
  OutsidePort* device_;
  OpenedPort coming_;
  std::unique_ptr<Attachment> gone_;
};

std::shared_ptr<Session::Exchange> Session::prepare_exchange(const spec::PortName& name, const spec::Attachment& attach,
                                                             const Interfaces& made) {
  const PortRef port = lab_->port(name);
  spec::NicSpec nic = lab_->node_of(port.device).nics[port.port.index()];
  // The address that the switch knows goes to an interface that is made.
  if (!nic.mac) nic.mac = spec::automatic_mac(port.device.index(), name.port);
  nic.attach = attach;
  if (const auto* vhost = std::get_if<spec::AttachVhostUser>(&attach); vhost != nullptr && !vhost->is_client)
    check_socket_free({}, "vhost-user", vhost->socket);
  if (const auto* memif = std::get_if<spec::AttachMemif>(&attach); memif != nullptr && !memif->is_client)
    check_socket_free({}, "memif", memif->socket);
  OpenedPort opened =
      open_port(name, nic, static_cast<std::uint32_t>(lab_->mtu(port)), made, engine_->pool_of(port.device), lab_->rate(port));
  return std::make_shared<Exchange>(lab_->host(name.node), port.port, std::move(opened));
}

void Session::exchange(Exchange& e, Instant at) { e.gone_ = e.host_.attach(at, e.port_, std::move(e.coming_.port)); }

void Session::finish_exchange(Exchange& e) {
  std::string socket;
  {
    // The run may be at its end, and its report be about to say what was attached.
    const std::lock_guard lock(attached_mutex_);
    const auto old =
        std::ranges::find_if(attached_, [&](const Attached& a) { return a.host == &e.host_ && a.port == e.port_; });
    if (old != attached_.end()) {
      socket = old->socket;
      attached_.erase(old);
    }
    if (e.device_ != nullptr)
      attached_.push_back({&e.host_, e.port_, e.device_, e.coming_.description, e.coming_.socket});
  }
  e.gone_.reset();
  Exchange::remove(socket);
}

// Ports go before the packets that they receive into.
void Session::detach() noexcept {
  for (Attached& a : attached_) {
    a.host->attach(Instant{}, a.port, nullptr);
    if (!a.socket.empty()) {
      std::error_code ignored;
      std::filesystem::remove(a.socket, ignored);
    }
  }
  attached_.clear();
  for (const SpeakerPort& s : speaker_ports_) s.device->attach_control(s.port, nullptr);
  speaker_ports_.clear();
  for (Trunk& t : trunks_) {
    t.end->connect_outside(nullptr, 1, nullptr);
    Exchange::remove(t.socket);
  }
  trunks_.clear();
}

void Session::check_sockets() const {
  std::set<std::string> sockets;  // of memif, where one may serve several NICs
  for_each_behind(lab_->spec(), [&](const spec::Attachment& attach, const spec::Place& place) {
    if (const auto* vhost = std::get_if<spec::AttachVhostUser>(&attach); vhost != nullptr && !vhost->is_client)
      check_socket_free(place, "vhost-user", vhost->socket);
    const auto* memif = std::get_if<spec::AttachMemif>(&attach);
    if (memif != nullptr && !memif->is_client && sockets.insert(memif->socket).second)
      check_socket_free(place, "memif", memif->socket);
  });
}

void Session::attach_ports() {
  for (const spec::NodeSpec& node : lab_->spec().nodes) {
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::NicSpec& nic = node.nics[i];
      const spec::PortName name{node.name, static_cast<int>(i) + 1};
      const PortRef port = lab_->port(name);
      try {
        OpenedPort opened = open_port(name, nic, static_cast<std::uint32_t>(lab_->mtu(port)), options_.interfaces,
                                      engine_->pool_of(port.device), lab_->rate(port));
        if (opened.port == nullptr) continue;
        Host& host = lab_->host(node.name);
        attached_.push_back({&host, port.port, opened.port.get(), opened.description, opened.socket});
        host.attach(Instant{}, port.port, std::move(opened.port));
      } catch (const std::runtime_error& error) {
        throw spec::SpecError(nic.place, error.what());
      }
    }
  }
}

// An interface for each port that is linked, as front panels of switches have them.
void Session::attach_speakers() {
  for (const spec::NodeSpec& node : lab_->spec().nodes) {
    if (!spec::has_speaker(lab_->spec(), node)) continue;
    Switch& device = lab_->switch_named(node.name);
    try {
      for (const routing::Graph::Edge& e : lab_->graph().edges(device.id().index())) {
        const PortRef port{device.id(), e.port};
        const auto made = options_.speakers.find({node.name, e.port.value + 1});
        if (made == options_.speakers.end())
          throw std::runtime_error(fmt::format("{} has a `control`, which needs a live lab; use `railyard up`", node.name));
        TapPortConfig config;
        config.interface = made->second.name;
        config.netns = made->second.netns;
        config.mtu = static_cast<std::uint32_t>(lab_->mtu(port));
        config.mac = spec::automatic_mac(device.id().index(), e.port.value + 1);
        config.up = true;
        config.rate = lab_->rate(port);
        auto tap = std::make_unique<TapPort>(config, engine_->pool_of(device.id()));
        speaker_ports_.push_back({&device, e.port, tap.get()});
        device.attach_control(e.port, std::move(tap));
      }
    } catch (const std::runtime_error& error) {
      throw spec::SpecError(node.place, error.what());
    }
  }
}

void Session::connect_trunks() {
  // Later lives have larger numbers, as long as the machine's clock is not set back between them by more than a restart
  // and the timeout take.
  const auto session = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  for (const spec::NodeSpec& node : lab_->spec().nodes) {
    if (node.kind != spec::NodeSpec::Kind::kTrunk) continue;
    try {
      TrunkEnd& end = lab_->trunk(node.name);
      const PortRef port{end.id(), PortIndex{0}};
      OpenedWire opened = open_wire(node, end.config(), session, engine_->pool_of(end.id()));
      trunks_.push_back({&end, std::move(opened.description), std::move(opened.socket)});
      end.connect_outside(std::move(opened.wire), session, [this, port](Instant at, bool up) {
        if (up)
          lab_->fabric().link_up_at(at, port);
        else
          lab_->fabric().link_down_at(at, port);
        engine_->wake_all();
      });
    } catch (const std::runtime_error& error) {
      throw spec::SpecError(node.place, error.what());
    }
  }
}

}  // namespace railyard::lab
