#include "control/daemon/application_traffic.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "transports/application/traffic_report.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::span<const std::string_view> names(bool uet) {
  if (uet) return application::kUetCounters;
  return application::kRoceCounters;
}

void add(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& more) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += more[i];
}

json by_name(const std::vector<std::uint64_t>& sums, bool uet) {
  json out = json::object();
  for (std::size_t i = 0; i < sums.size(); ++i) out[std::string(names(uet)[i])] = sums[i];
  return out;
}

std::string command_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(in, name);
  return name;
}

// Readers find the old number or the new one.
void replace(const fs::path& file, std::uint64_t number) {
  const fs::path beside = file.parent_path() / ".new";
  std::ofstream(beside) << number << '\n';
  std::error_code ignored;
  fs::rename(beside, file, ignored);
}

}  // namespace

ApplicationTraffic::ApplicationTraffic(const std::vector<ApplicationNic>& nics, fs::path folder,
                                       const std::vector<std::pair<wire::IpAddress, std::string>>& host_names)
    : folder_(std::move(folder)) {
  for (const ApplicationNic& nic : nics)
    nics_[nic.name] = {.device = nic.device().name,
                       .roce = Sums(names(false).size()),
                       .uet = Sums(names(true).size()),
                       .written = {}};
  for (const auto& [address, text] : host_names) hosts_[address] = text.substr(0, text.find(' '));
}

void ApplicationTraffic::joined(const spec::PortName& nic, pid_t pid,
                                std::shared_ptr<const ApplicationProcess> process) {
  const std::lock_guard lock(mutex_);
  nics_.at(nic).processes.push_back({pid, command_of(pid), std::move(process)});
}

void ApplicationTraffic::left(const ApplicationProcess& process) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, nic] : nics_) {
    const auto found = std::ranges::find_if(nic.processes, [&](const Process& p) { return p.shared.get() == &process; });
    if (found == nic.processes.end()) continue;
    add(process.uet() ? nic.uet : nic.roce, counters_of(process));
    nic.processes.erase(found);
    return;
  }
}

ApplicationTraffic::Sums ApplicationTraffic::counters_of(const ApplicationProcess& process) {
  Sums out(names(process.uet().has_value()).size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = process.figures().counters[i].load(std::memory_order_relaxed);
  return out;
}

ApplicationTraffic::Sums ApplicationTraffic::sum(const Nic& nic, bool uet) const {
  Sums all = uet ? nic.uet : nic.roce;
  for (const Process& p : nic.processes)
    if (p.shared->uet().has_value() == uet) add(all, counters_of(*p.shared));
  return all;
}

json ApplicationTraffic::connections(const ApplicationProcess& process) const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const TrafficFigures& figures = process.figures();
  const bool uet = process.uet().has_value();
  json out = json::array();
  const std::size_t n = std::min<std::size_t>(figures.open.load(kRelaxed), TrafficFigures::kConnections);
  for (std::size_t i = 0; i < n; ++i) {
    const TrafficFigures::Connection& c = figures.connections[i];
    json j{{uet ? "mode" : "type", application::readable(c.kind.load(kRelaxed))},
           {"state", application::readable(c.state.load(kRelaxed))},
           {uet ? "pdcid" : "qp", c.local.load(kRelaxed)},
           {"packets", c.packets.load(kRelaxed)},
           {"retransmitted", c.retransmitted.load(kRelaxed)}};
    if (!uet) j["bytes"] = c.bytes.load(kRelaxed);
    wire::IpAddress peer;
    const std::array<std::uint64_t, 2> octets{c.peer[0].load(kRelaxed), c.peer[1].load(kRelaxed)};
    std::memcpy(peer.octets.data(), octets.data(), sizeof octets);
    if (!peer.is_unspecified()) {
      j["peer"] = wire::to_string(peer);
      j[uet ? "peer_pdcid" : "peer_qp"] = c.remote.load(kRelaxed);
      if (const auto host = hosts_.find(peer); host != hosts_.end()) j["peer_host"] = host->second;
    }
    out.push_back(std::move(j));
  }
  return out;
}

json ApplicationTraffic::status() const {
  const std::lock_guard lock(mutex_);
  json out = json::array();
  for (const auto& [name, nic] : nics_) {
    json processes = json::array();
    for (const Process& p : nic.processes)
      processes.push_back({{"pid", p.pid},
                           {"command", p.command},
                           {"transport", p.shared->uet() ? "uet" : "roce"},
                           {"open_connections", p.shared->figures().open.load(std::memory_order_relaxed)},
                           {"connections", connections(*p.shared)}});
    out.push_back({{"host", name.node},
                   {"port", name.port},
                   {"device", nic.device},
                   {"counters", {{"roce", by_name(sum(nic, false), false)}, {"uet", by_name(sum(nic, true), true)}}},
                   {"processes", std::move(processes)}});
  }
  return out;
}

void ApplicationTraffic::write_hw_counters() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, nic] : nics_) {
    const Sums now = sum(nic, false);
    const fs::path folder = folder_ / name.node / "class/infiniband" / nic.device / "ports/1/hw_counters";
    std::error_code error;
    if (nic.written.empty()) fs::create_directories(folder, error);
    if (error) continue;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (nic.written.empty() || nic.written[i] != now[i]) replace(folder / names(false)[i], now[i]);
    nic.written = now;
  }
}

}  // namespace railyard::daemon
