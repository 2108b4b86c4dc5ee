#include "control/telemetry/queue_series.h"

#include <utility>

#include <fmt/format.h>

namespace railyard::telemetry {

QueueSeries::QueueSeries(const build::BuiltLab& lab, OutputFile file)
    : lab_(lab),
      out_(std::move(file), "time_ns,port,class,depth_bytes,held_cells,tx_bytes,ecn_marked,paused_ns,xoff_sent,dropped") {
  for (const auto& device : lab.fabric().devices())
    for (std::size_t p = 0; p < device->ports(); ++p)
      for (std::uint8_t k = 0; k < kPriorities; ++k) {
        const PortIndex port{static_cast<std::uint16_t>(p)};
        queues_.push_back({device->id(), port, Priority{k}, fmt::format("{}:{}", device->name(), p + 1),
                           device->sample(port, Priority{k}), false});
      }
}

void QueueSeries::look(Instant at) {
  if (out_.failed()) return;
  ++looks_;
  for (Queue& q : queues_) {
    const QueueSample s = lab_.fabric()[q.device].sample(q.port, q.priority);
    const QueueSample& b = q.before;
    const bool holds = s.depth_octets != 0 || s.ingress_cells != 0;
    if (!holds && !q.told && s == b) continue;
    out_.line("{},{},{},{},{},{},{},{},{},{}", (at - Instant{}).ps / 1000, q.name, q.priority.value, s.depth_octets,
              s.ingress_cells, s.tx_octets - b.tx_octets, s.ecn_marked - b.ecn_marked, (s.paused - b.paused).ps / 1000,
              s.xoff_sent - b.xoff_sent, s.dropped - b.dropped);
    q.before = s;
    q.told = holds;
    ++lines_;
  }
}

}  // namespace railyard::telemetry
