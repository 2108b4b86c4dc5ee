#include "control/lab/figure_exchange.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace railyard::lab {

FigureExchange::FigureExchange(build::BuiltLab& lab, Engine& engine, fault::Faults& faults, probes::Prober& prober,
                               telemetry::PortWatch& ports, const Parts& parts)
    : lab_(lab), engine_(engine), faults_(faults), prober_(prober), ports_(ports), parts_(parts) {
  std::set<const TrafficGenerator*> known;
  const auto add = [&](TrafficGenerator* generator, const spec::PortName& nic) {
    if (generator != nullptr && known.insert(generator).second)
      generators_.push_back({generator, lab_.device(nic.node).id()});
  };
  for (const build::Flow& f : lab_.flows()) {
    add(f.sender, f.plan.source);
    add(f.receiver, f.plan.destination);
  }
}

void FigureExchange::exchange_devices(StateArchive& archive, std::size_t process, Device::Figures which) {
  for (const auto& device : lab_.fabric().devices())
    if (parts_.part_of[device->id().index()] == process) device->exchange_figures(archive, which);
}

void FigureExchange::exchange_traffic(StateArchive& archive, std::size_t process) {
  const auto is_its = [&](DeviceId device) { return parts_.part_of[device.index()] == process; };
  const auto is_at = [&](const spec::PortName& nic) { return is_its(lab_.device(nic.node).id()); };
  for (const Generator& g : generators_)
    if (is_its(g.device)) g.generator->exchange_figures(archive);
  for (const build::RoceNics::Named& nic : lab_.roce_nics())
    if (is_at(nic.name)) nic.endpoint->exchange_figures(archive);
  for (const build::UetNics::Named& nic : lab_.uet_nics())
    if (is_at(nic.name)) nic.endpoint->exchange_figures(archive);
  for (const build::ServiceNics::Nic& nic : lab_.service_nics())
    if (is_at(nic.name)) nic.endpoint->exchange_figures(archive);
  for (std::size_t i = 0; i < lab_.pcaps().size(); ++i)
    if (is_at(lab_.pcap_nics()[i].nic)) lab_.pcaps()[i]->exchange_figures(archive);
  for (const build::Collective& c : lab_.collectives())
    for (std::size_t r = 0; r < c.ranks.size(); ++r)
      if (is_at(c.nics[r])) c.ranks[r]->exchange_figures(archive);
  if (build::FlowTriggers* const triggers = lab_.triggers()) triggers->exchange_figures(archive, is_its);
}

void FigureExchange::exchange_figures(StateArchive& archive, std::size_t process) {
  const auto is_its = [&](DeviceId device) { return parts_.part_of[device.index()] == process; };
  exchange_devices(archive, process, Device::kAllFigures);
  exchange_traffic(archive, process);
  faults_.exchange_figures(archive, is_its);
  prober_.exchange_figures(archive, is_its);
}

void FigureExchange::exchange_ports(StateArchive& archive, std::size_t process) {
  ports_.exchange(archive, [&](DeviceId device) { return parts_.part_of[device.index()] == process; });
}

void FigureExchange::exchange_traffic() {
  StateArchive mine;
  exchange_traffic(mine, parts_.peers->self());
  const auto given = parts_.peers->give_all(mine.take());
  for (std::size_t p = 0; p < given.size(); ++p) {
    if (p == parts_.peers->self()) continue;
    StateArchive in{std::span(given[p])};
    exchange_traffic(in, p);
  }
}

void FigureExchange::gather_for(const telemetry::Looks& looks) {
  using Reads = telemetry::Looks::Reads;
  const bool all = looks.next_reads(Reads::kAnything);
  const auto which = static_cast<Device::Figures>((looks.next_reads(Reads::kQueues) ? Device::kQueueFigures : 0u) |
                                                  (looks.next_reads(Reads::kPauses) ? Device::kPauseFigures : 0u));
  if (!all && which == 0) return;
  const auto of_process = [&](StateArchive& archive, std::size_t process) {
    all ? exchange_figures(archive, process) : exchange_devices(archive, process, which);
  };
  StateArchive mine;
  if (parts_.peers->self() != 0) of_process(mine, parts_.peers->self());
  const auto given = parts_.peers->give_first(mine.take());
  for (std::size_t p = 1; p < given.size(); ++p) {
    StateArchive in{std::span(given[p])};
    of_process(in, p);
  }
}

void FigureExchange::gather_for_report() {
  lab_.fabric().forget_packets_elsewhere();
  StateArchive mine;
  if (parts_.peers->self() != 0) {
    exchange_figures(mine, parts_.peers->self());
    exchange_ports(mine, parts_.peers->self());
    lab_.fabric().exchange_packets(mine);
  }
  const auto given = parts_.peers->give_first(mine.take());
  for (std::size_t p = 1; p < given.size(); ++p) {
    StateArchive in{std::span(given[p])};
    exchange_figures(in, p);
    exchange_ports(in, p);
    lab_.fabric().exchange_packets(in);
  }
}

// Counters that were taken have a name.
std::size_t FigureExchange::complete(report::Snapshot& counters) const {
  std::map<std::size_t, DeviceCounters> taken;
  for (std::size_t d = 0; d < counters.size(); ++d)
    if (!counters[d].name.empty()) taken.emplace(d, counters[d]);
  StateArchive mine;
  if (parts_.peers->self() != 0) mine(taken);
  const auto given = parts_.peers->give_first(mine.take());
  for (std::size_t p = 1; p < given.size(); ++p) {
    StateArchive in{std::span(given[p])};
    in(taken);
    for (auto& [d, of_one] : taken) counters.at(d) = std::move(of_one);
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(counters, [](const DeviceCounters& c) { return !c.name.empty(); }));
}

std::vector<report::ProcessReport> FigureExchange::costs(report::ProcessReport mine) const {
  mine.devices = static_cast<int>(std::ranges::count(parts_.part_of, parts_.peers->self()));
  mine.frames_sent = engine_.boundary()->frames();
  mine.bytes_sent = engine_.boundary()->octets();
  StateArchive archive;
  archive(mine);
  const auto given = parts_.peers->give_first(archive.take());
  std::vector<report::ProcessReport> all(given.size());
  if (!all.empty()) all[0] = mine;
  for (std::size_t p = 1; p < given.size(); ++p) {
    StateArchive in{std::span(given[p])};
    in(all[p]);
  }
  return all;
}

void check_runs_in_parts(const spec::Lab& lab) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument(fmt::format("several processes: {}", what));
  };
  if (lab.run.clock != spec::Clock::kVirtual) refuse("run.clock is wall; expected virtual");
  for (const spec::NodeSpec& node : lab.nodes) {
    if (node.agent) refuse(fmt::format("{} is an agent's host; expected built-in hosts", node.name));
    for (std::size_t n = 0; n < node.nics.size(); ++n)
      if (const spec::Attachment& attach = node.nics[n].attach;
          !std::holds_alternative<std::monostate>(attach) && !std::holds_alternative<spec::AttachPcap>(attach))
        refuse(fmt::format("{}:{} is attached; expected built-in hosts and capture files", node.name, n + 1));
  }
}

}  // namespace railyard::lab
