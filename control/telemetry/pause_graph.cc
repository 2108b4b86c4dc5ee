#include "control/telemetry/pause_graph.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace railyard::telemetry {

std::string format(const build::BuiltLab& lab, const PortClass& q) {
  return fmt::format("{}:{} class {}", lab.node_of(q.device).name, q.port.value + 1, q.priority.value);
}

PauseGraph pause_graph(build::BuiltLab& lab) {
  PauseGraph graph{};
  std::map<PortClass, std::size_t> index;
  for (const auto& device : lab.fabric().devices()) {
    graph.at = device->done();
    for (std::size_t p = 0; p < device->ports(); ++p)
      for (std::uint8_t k = 0; k < kPriorities; ++k) {
        const PortIndex port{static_cast<std::uint16_t>(p)};
        const Instant since = device->paused_since(port, Priority{k});
        if (since == Instant::never()) continue;
        const PortClass queue{device->id(), port, Priority{k}};
        index.emplace(queue, graph.paused.size());
        graph.paused.push_back({queue, since, {}, {}});
      }
  }

  std::map<DeviceId, std::vector<Switch::Waiting>> waiting;
  for (PauseGraph::Paused& paused : graph.paused) {
    const PortRef peer = lab.fabric().peer({paused.queue.device, paused.queue.port});
    if (!lab.is_switch(peer.device)) {
      paused.roots.push_back({peer.device, peer.port, paused.queue.priority});
      continue;
    }
    const auto [found, is_new] = waiting.try_emplace(peer.device);
    if (is_new) found->second = lab.switch_named(lab.node_of(peer.device).name).waiting();
    for (const Switch::Waiting& w : found->second) {
      if (w.in != peer.port || w.in_class != paused.queue.priority) continue;
      const PortClass behind{peer.device, w.out, w.out_class};
      if (const auto next = index.find(behind); next != index.end())
        paused.waits_for.push_back(next->second);
      else
        paused.roots.push_back(behind);
    }
  }
  return graph;
}

}  // namespace railyard::telemetry
