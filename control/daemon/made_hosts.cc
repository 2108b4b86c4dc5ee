#include "control/daemon/made_hosts.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/daemon/namespace_hosts.h"
#include "control/guest/lab_network.h"
#include "control/hosts/namespaces.h"

namespace railyard::daemon {
namespace {

// A folder for each guest: its sockets, the fabric's for it, its console.
std::filesystem::path guest_folder(const LabDir& dir, const std::string& host) { return dir.path() / "guests" / host; }

guest::VmConfig guest_config(const spec::Lab& lab, const LabDir& dir, const std::string& host) {
  guest::VmConfig config;
  config.network = guest::network_of(lab, host);
  config.directory = guest_folder(dir, host);
  for (std::size_t i = 0; i < config.network.nics.size(); ++i)
    config.network.nics[i].socket = config.directory / fmt::format("nic{}.sock", i + 1);
  return config;
}

}  // namespace

MadeHosts::MadeHosts(const spec::Lab& lab, const LabDir& dir, Log& log)
    : log_(log), journal_path_(dir.journal()), namespaces_(namespace_hosts(lab, dir.name())), guests_(log) {
  for (const spec::NodeSpec& node : lab.nodes)
    if (!node.nics.empty() && std::holds_alternative<spec::AttachVm>(node.nics[0].attach)) {
      guests_.add(guest_config(lab, dir, node.name));
      std::filesystem::create_directories(guest_folder(dir, node.name));
    }
  if (namespaces_.hosts.empty()) return;
  journal_.emplace(journal_path_);
  hosts::create_namespaces(namespaces_, *journal_);
  log_.line(fmt::format("{} network namespaces", namespaces_.hosts.size()));
}

MadeHosts::~MadeHosts() {
  if (!journal_) return;
  for (const std::string& left : journal_->remove_all()) log_.line(left);
}

void MadeHosts::follow(const spec::Lab& lab) {
  if (!journal_) return;
  hosts::LabHosts wanted = namespace_hosts(lab, namespaces_.name);
  hosts::change_rates(namespaces_, wanted, *journal_);
  namespaces_ = std::move(wanted);
}

void MadeHosts::end_leftover_guests(const LabDir& dir) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() / "guests", none))
    guest::Vm::stop_leftover(entry.path());
}

lab::Interfaces MadeHosts::interfaces() const {
  lab::Interfaces out;
  for (std::size_t g = 0; g < guests_.size(); ++g) {
    const guest::GuestNetwork& network = guests_.config(g).network;
    for (std::size_t i = 0; i < network.nics.size(); ++i)
      out[{network.hostname, static_cast<int>(i) + 1}] = {.netns = {}, .name = {}, .socket = network.nics[i].socket};
  }
  for (const hosts::FabricEnd& end : hosts::fabric_ends(namespaces_))
    out[{end.host, end.port}] = {.netns = end.netns, .name = end.interface, .socket = {}};
  return out;
}

lab::Interfaces MadeHosts::make(const spec::Lab& lab, const std::string& host) {
  hosts::LabHosts all = namespace_hosts(lab, namespaces_.name);
  const auto found = std::ranges::find(all.hosts, host, &hosts::NamespaceHost::name);
  if (!journal_) journal_.emplace(journal_path_);
  hosts::create_namespace(all, static_cast<std::size_t>(found - all.hosts.begin()), *journal_);
  lab::Interfaces out;
  for (const hosts::FabricEnd& end : hosts::fabric_ends(all))
    if (end.host == host) out[{end.host, end.port}] = {.netns = end.netns, .name = end.interface, .socket = {}};
  // The others are as they were, whatever `lab` says of them.
  namespaces_.hosts.push_back(std::move(*found));
  return out;
}

MadeHost MadeHosts::reach(const std::string& host) const {
  return {.kind = "namespace", .location = hosts::host_namespace(namespaces_.name, host)};
}

void MadeHosts::remove(const std::string& host) {
  for (const std::string& left : hosts::remove_namespace(namespaces_, host, *journal_)) log_.line(left);
  std::erase_if(namespaces_.hosts, [&](const hosts::NamespaceHost& h) { return h.name == host; });
}

std::unique_ptr<GuestLinks> MadeHosts::follow_links(lab::Session& session, const Watch& watch) {
  std::vector<GuestLinks::Guest> guests;
  for (std::size_t g = 0; g < guests_.size(); ++g) {
    const guest::VmConfig& config = guests_.config(g);
    GuestLinks::Guest guest{.name = config.network.hostname, .directory = config.directory, .is_up = {}};
    for (std::size_t i = 0; i < config.network.nics.size(); ++i) {
      const PortRef port = session.lab().port({config.network.hostname, static_cast<int>(i) + 1});
      guest.is_up.emplace_back([&watch, port] { return watch.is_up(port); });
    }
    guests.push_back(std::move(guest));
  }
  return std::make_unique<GuestLinks>(std::move(guests), log_);
}

void MadeHosts::tell(LiveLab& lab) {
  for (const hosts::NamespaceHost& host : namespaces_.hosts) lab.add_host(host.name, reach(host.name));
  for (std::size_t g = 0; g < guests_.size(); ++g)
    lab.add_host(guests_.config(g).network.hostname, {.kind = "vm",
                                                      .location = guests_.config(g).directory,
                                                      .look = [this, g] { return guests_.look(g); },
                                                      .restart = [this, g] { return guests_.restart(g); }});
}

}  // namespace railyard::daemon
