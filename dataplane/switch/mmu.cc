#include "dataplane/switch/mmu.h"

#include <fmt/format.h>

namespace railyard {

// The reciprocal is rounded down: octets x r / 2^32 then falls short of octets / cell by less than 2^-16, which is less
// than the least fraction (1 / 4096) and less than one, so that adding 1 - 2^-32 and cutting off gives the exact
// ceiling.
Mmu::Mmu(const BufferConfig& buffer)
    : total_(static_cast<std::uint32_t>(buffer.size.n / buffer.cell.n)),
      cell_(buffer.cell.n),
      reciprocal_((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(buffer.cell.n)) {}

Mmu::Group Mmu::make_group(const ClassBuffer& c) {
  Group g;
  g.reserved_limit = round_up(c.reserved);
  g.headroom_limit = c.lossless ? round_up(c.headroom) : 0;
  g.xon_offset = round_up(c.xon_offset);
  g.limit = c.xoff.n > 0 ? Threshold::of(round_up(c.xoff)) : Threshold::dynamic(c.alpha);
  g.lossless = c.lossless;
  ingress_aside_ += g.reserved_limit + std::uint64_t{g.headroom_limit};
  return g;
}

Mmu::Queue Mmu::make_queue(const ClassBuffer& c) {
  Queue q;
  q.reserved_limit = round_up(c.queue_reserved);
  q.limit = Threshold::dynamic(c.queue_alpha);
  q.lossless = c.lossless;
  egress_aside_ += q.reserved_limit;
  return q;
}

std::expected<void, std::string> Mmu::commit() {
  if (ingress_aside_ >= total_ || egress_aside_ >= total_) {
    const std::uint64_t aside = std::max(ingress_aside_, egress_aside_);
    return std::unexpected(fmt::format(
        "the buffer of {} octets is too small: {} octets are set aside for {}, and some must be left to share",
        total_ * cell_, static_cast<std::int64_t>(aside) * cell_,
        ingress_aside_ >= total_ ? "reserved and headroom of the ports' priority groups" : "reserved queue space"));
  }
  free_ = least_free_ = shared_size_ = total_ - static_cast<std::uint32_t>(ingress_aside_);
  egress_size_ = total_ - static_cast<std::uint32_t>(egress_aside_);
  return {};
}

}  // namespace railyard
