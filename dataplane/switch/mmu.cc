#include "dataplane/switch/mmu.h"

#include <fmt/format.h>

namespace railyard {

// The reciprocal is rounded down: octets x r / 2^32 then falls short of octets / cell by less than 2^-16, which is less
// than the least fraction (1 / 4096) and less than one, so that adding 1 - 2^-32 and cutting off gives the exact ceiling.
Mmu::Mmu(std::size_t ports, const BufferConfig& buffer)
    : groups_(ports * kPriorities),
      queues_(ports * kPriorities),
      total_(static_cast<std::uint32_t>(buffer.size.n / buffer.cell.n)),
      cell_(buffer.cell.n),
      reciprocal_((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(buffer.cell.n)) {}

void Mmu::configure(PortIndex port, Priority priority, const ClassBuffer& c) {
  Group& g = groups_[index(port, priority)];
  g.reserved_limit = round_up(c.reserved);
  g.headroom_limit = c.lossless ? round_up(c.headroom) : 0;
  g.xon_offset = round_up(c.xon_offset);
  g.fixed_limit = round_up(c.xoff);
  g.alpha = c.alpha;
  g.lossless = c.lossless;
  Queue& q = queues_[index(port, priority)];
  q.reserved_limit = round_up(c.queue_reserved);
  q.alpha = c.queue_alpha;
  q.lossless = c.lossless;
}

std::expected<void, std::string> Mmu::commit() {
  std::uint64_t ingress = 0;
  std::uint64_t egress = 0;
  for (const Group& g : groups_) ingress += g.reserved_limit + g.headroom_limit;
  for (const Queue& q : queues_) egress += q.reserved_limit;
  if (ingress >= total_ || egress >= total_) {
    const std::uint64_t aside = std::max(ingress, egress);
    return std::unexpected(fmt::format(
        "the buffer of {} octets is too small: {} octets are set aside for {}, and some must be left to share",
        total_ * cell_, static_cast<std::int64_t>(aside) * cell_,
        ingress >= total_ ? "reserved and headroom of the ports' priority groups" : "reserved queue space"));
  }
  shared_size_ = total_ - static_cast<std::uint32_t>(ingress);
  egress_size_ = total_ - static_cast<std::uint32_t>(egress);
  return {};
}

}  // namespace railyard
