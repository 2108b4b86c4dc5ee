#include "dataplane/device/counters.h"

#include <algorithm>

#include "dataplane/base/state_archive.h"

namespace railyard {
namespace {

template <class Of>
std::uint64_t over_classes(const PortCounters& port, Of of) noexcept {
  std::uint64_t sum = 0;
  for (const ClassCounters& c : port.classes) sum += of(c);
  return sum;
}

template <class Of>
std::uint64_t over_ports(const DeviceCounters& device, Of of) noexcept {
  std::uint64_t sum = 0;
  for (const PortCounters& p : device.ports) sum += of(p);
  return sum;
}

}  // namespace

void LinkRetryCounters::add(const LinkRetryCounters& other) noexcept {
  if (other.frames != 0) least_late = frames == 0 ? other.least_late : std::min(least_late, other.least_late);
  on |= other.on;
  frames += other.frames;
  replays += other.replays;
  late += other.late;
  most_late = std::max(most_late, other.most_late);
}

std::uint64_t PortCounters::rx_packets() const noexcept {
  return over_classes(*this, [](const ClassCounters& c) { return c.rx_packets; });
}
std::uint64_t PortCounters::rx_octets() const noexcept {
  return over_classes(*this, [](const ClassCounters& c) { return c.rx_octets; });
}
std::uint64_t PortCounters::tx_packets() const noexcept {
  return over_classes(*this, [](const ClassCounters& c) { return c.tx_packets; });
}
std::uint64_t PortCounters::tx_octets() const noexcept {
  return over_classes(*this, [](const ClassCounters& c) { return c.tx_octets; });
}
std::uint64_t PortCounters::dropped() const noexcept {
  return drops.total() + over_classes(*this, [](const ClassCounters& c) { return c.drops.total(); });
}

std::uint64_t DeviceCounters::received() const noexcept {
  return over_ports(*this, [](const PortCounters& p) { return p.delivered; });
}
std::uint64_t DeviceCounters::sent() const noexcept {
  return over_ports(*this, [](const PortCounters& p) { return p.tx_packets() + p.tx_control; });
}
std::uint64_t DeviceCounters::dropped() const noexcept {
  return over_ports(*this, [](const PortCounters& p) { return p.dropped(); });
}

void exchange(StateArchive& archive, ClassCounters& c) {
  archive(c.rx_packets, c.rx_octets, c.tx_packets, c.tx_octets, c.ecn_marked, c.trimmed, c.xoff_sent, c.xon_sent,
          c.xoff_received, c.xon_received, c.pfc_not_enabled, c.paused, c.stalled, c.storms_detected, c.storms_restored,
          c.first_ce, c.first_xoff, c.depth_octets, c.max_depth_octets, c.ingress_cells, c.max_ingress_cells,
          c.headroom_cells, c.max_headroom_cells, c.drops, c.rdma_drops);
  static_assert(sizeof(ClassCounters) == 25 * sizeof(std::uint64_t), "all of them are here");
}

// Most classes of most ports have counted nothing.
void exchange(StateArchive& archive, PortCounters& port) {
  PriorityMask used = 0;
  for (std::size_t k = 0; k < kPriorities && !archive.reads(); ++k)
    if (port.classes.has(k)) used |= bit(Priority{static_cast<std::uint8_t>(k)});
  archive(used);
  if (archive.reads()) port.classes = {};
  for (std::uint8_t k = 0; k < kPriorities; ++k)
    if ((used & bit(Priority{k})) != 0) archive(port.classes[k]);
  archive(port.rx_control, port.tx_control, port.quality_reports_sent, port.quality_reports_received,
          port.credit_messages_sent, port.credit_octets_sent, port.credit_messages_received, port.delivered, port.lost,
          port.lost_to_faults, port.duplicated, port.misclassified, port.held_back, port.llr, port.drops);
}

void exchange(StateArchive& archive, PathGroupCounters& group) { archive(group.members); }

void DeviceCounters::exchange(StateArchive& archive) {
  archive(name, at, ports, generated, consumed, queued, buffer_cells, max_shared_cells, path_groups);
}

}  // namespace railyard
