#include "control/swarm/room.h"

#include <algorithm>

#include "control/spec/frame_tags.h"

namespace railyard::swarm {
namespace {

std::int64_t cells(Bytes size, Bytes cell) { return (size.n + cell.n - 1) / cell.n; }

// `n` cells against a reserved part and a threshold of `shared` cells.
bool fits(std::int64_t n, std::int64_t reserved, Bytes fixed, Alpha alpha, std::int64_t shared, Bytes cell) {
  const std::int64_t rest = std::max<std::int64_t>(0, n - reserved);
  const std::int64_t limit = fixed.n > 0          ? cells(fixed, cell)
                             : alpha.exponent < 0 ? shared >> -alpha.exponent
                                                  : shared << alpha.exponent;
  return rest <= shared && rest <= limit;
}

}  // namespace

bool has_room(const Switch& device, Priority priority, std::uint32_t octets) {
  const SwitchConfig& config = device.config();
  const Bytes cell = config.buffer.cell;
  const std::int64_t n = cells(Bytes{octets}, cell);
  const std::int64_t ingress = device.mmu().shared_size();
  std::int64_t egress = device.mmu().total();
  for (const auto& port : config.ports)
    for (const auto& c : port.classes) egress -= cells(c.buffer.queue_reserved, cell);
  return std::ranges::all_of(config.ports, [&](const auto& port) {
    const ClassBuffer& c = port.classes[priority.index()].buffer;
    const std::int64_t reserved =
        cells(std::max(c.reserved, c.credits), cell) + (c.lossless ? cells(c.headroom, cell) : 0);
    if (!fits(n, reserved, c.xoff, c.alpha, ingress, cell)) return false;
    return c.lossless || fits(n, cells(c.queue_reserved, cell), c.queue_limit, c.queue_alpha, egress, cell);
  });
}

bool has_room(build::BuiltLab& lab, int dscp, std::uint32_t octets) {
  return std::ranges::all_of(lab.spec().nodes, [&](const spec::NodeSpec& n) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch) return true;
    const spec::QosProfile& qos = lab.spec().qos.at(lab.spec().switches.at(n.profile).qos);
    const int in = spec::class_at_switch(lab.spec(), qos, dscp);
    const int to = qos.classes[static_cast<std::size_t>(in)].remap_to;
    const auto room = [&](int k) {
      return has_room(lab.switch_named(n.name), Priority{static_cast<std::uint8_t>(k)}, octets);
    };
    return room(in) && (to < 0 || room(to));
  });
}

}  // namespace railyard::swarm
