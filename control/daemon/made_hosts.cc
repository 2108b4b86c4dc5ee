#include "control/daemon/made_hosts.h"

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
    : log_(log), namespaces_(namespace_hosts(lab, dir.name())) {
  for (const spec::NodeSpec& node : lab.nodes)
    if (!node.nics.empty() && std::holds_alternative<spec::AttachVm>(node.nics[0].attach)) {
      guests_.emplace_back(guest_config(lab, dir, node.name));
      std::filesystem::create_directories(guest_folder(dir, node.name));
    }
  if (namespaces_.hosts.empty()) return;
  journal_.emplace(dir.journal());
  hosts::create_namespaces(namespaces_, *journal_);
  log_.line(fmt::format("{} network namespaces", namespaces_.hosts.size()));
}

MadeHosts::~MadeHosts() {
  for (guest::Vm& vm : guests_) vm.stop(std::chrono::milliseconds(0));
  if (!journal_) return;
  for (const std::string& left : journal_->remove_all()) log_.line(left);
}

void MadeHosts::boot(const std::atomic<bool>& stop) {
  for (guest::Vm& vm : guests_) vm.start();
  for (guest::Vm& vm : guests_) {
    if (stop) return;
    vm.wait_ready();
    for (const std::string& note : vm.notes()) log_.line(note);
    log_.line(fmt::format("{} has booted", vm.config().network.hostname));
  }
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
  for (const guest::Vm& vm : guests_)
    for (std::size_t i = 0; i < vm.config().network.nics.size(); ++i)
      out[{vm.config().network.hostname, static_cast<int>(i) + 1}] = {
          .netns = {}, .name = {}, .socket = vm.config().network.nics[i].socket};
  for (const hosts::FabricEnd& end : hosts::fabric_ends(namespaces_))
    out[{end.host, end.port}] = {.netns = end.netns, .name = end.interface, .socket = {}};
  return out;
}

void MadeHosts::tell(LiveLab& lab) const {
  for (const hosts::NamespaceHost& host : namespaces_.hosts)
    lab.add_host(host.name, {"namespace", hosts::host_namespace(namespaces_.name, host.name)});
  for (const guest::Vm& vm : guests_) lab.add_host(vm.config().network.hostname, {"vm", vm.config().directory});
}

}  // namespace railyard::daemon
