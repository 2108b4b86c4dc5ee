#include "control/telemetry/transient_watch.h"

#include <algorithm>

namespace railyard::telemetry {
namespace {

std::uint64_t sent_again(const build::BuiltLab& lab) {
  std::uint64_t sum = 0;
  for (const build::Flow& f : lab.flows()) {
    if (f.is_roce()) sum += f.qps().retransmitted_packets;
    if (f.is_uet()) sum += f.uet->sent().retransmitted;
  }
  return sum;
}

}  // namespace

TransientWatch::TransientWatch(const build::BuiltLab& lab, Duration every)
    : lab_(lab), every_(every), arrived_(lab.flows().size(), {0}) {}

void TransientWatch::look(Instant at) {
  const auto n = static_cast<std::size_t>((at - Instant{}).ps / every_.ps);
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    std::vector<std::uint64_t>& series = arrived_[i];
    if (series.size() <= n) series.resize(n + 1, series.back());
    series[n] = lab_.flows()[i].received().payload_octets;
  }
  if (!first_repair_) look_for_loss(at);
}

void TransientWatch::look_for_loss(Instant at) {
  const std::uint64_t again = sent_again(lab_);
  if (!first_loss_) {
    for (const auto& device : lab_.fabric().devices()) {
      if (!lab_.is_switch(device->id())) continue;
      const DeviceCounters c = device->counters();
      std::uint64_t lost = c.dropped();
      for (const PortCounters& p : c.ports)
        for (const ClassCounters& k : p.classes) lost += k.trimmed;
      if (lost == 0) continue;
      first_loss_ = at;
      break;
    }
    if (!first_loss_) again_before_ = again;
  }
  if (first_loss_ && again > again_before_) first_repair_ = at;
}

}  // namespace railyard::telemetry
