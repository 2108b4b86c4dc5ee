#include "dataplane/switch/mmu.h"

#include <fmt/format.h>

namespace railyard {

// The reciprocal is rounded down: octets x r / 2^32 then falls short of octets / cell by less than 2^-16, which is less
// than the least fraction (1 / 4096) and less than one, so that adding 1 - 2^-32 and cutting off gives the exact
// ceiling.
Mmu::Mmu(const BufferConfig& buffer)
    : total_(static_cast<std::uint32_t>(buffer.size.n / buffer.cell.n)),
      pool_size_(static_cast<std::uint32_t>(buffer.headroom_pool.n / buffer.cell.n)),
      pool_free_(pool_size_),
      least_pool_free_(pool_size_),
      ingress_aside_(pool_size_),
      cell_(buffer.cell.n),
      reciprocal_((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(buffer.cell.n)) {}

Mmu::Group Mmu::make_group(const ClassBuffer& c) {
  Group g;
  g.lossless = pauses(c);
  // What there are credits for has its place; more than that can come only where the link has made frames of its own.
  g.reserved_limit = round_up(std::max(c.reserved, c.credits));
  g.headroom_limit = g.lossless ? round_up(c.headroom) : 0;
  g.pool_limit = g.lossless ? round_up(c.pooled_headroom) : 0;
  g.xon_offset = round_up(c.xon_offset);
  g.limit = limit_of(c);
  ingress_aside_ += g.reserved_limit + std::uint64_t{g.headroom_limit};
  return g;
}

Mmu::Queue Mmu::make_queue(const ClassBuffer& c) {
  Queue q;
  q.reserved_limit = round_up(c.queue_reserved);
  q.limit = queue_limit_of(c);
  q.lossless = c.lossless;
  egress_aside_ += q.reserved_limit;
  return q;
}

void Mmu::set_limits(Group& group, Queue& queue, const ClassBuffer& c) noexcept {
  group.pool_limit = pauses(c) ? round_up(c.pooled_headroom) : 0;
  group.xon_offset = round_up(c.xon_offset);
  group.limit = limit_of(c);
  queue.limit = queue_limit_of(c);
}

Mmu::Pfc Mmu::review(Group& group) noexcept {
  if (!group.lossless) return Pfc::kNothing;
  if (const std::uint64_t limit = group.limit.at(free_); group.headroom > 0 && limit > group.shared()) {
    const auto fits =
        static_cast<std::uint32_t>(std::min<std::uint64_t>({group.headroom, free_, limit - group.shared()}));
    pool_free_ += pooled(group, group.headroom) - pooled(group, group.headroom - fits);
    group.headroom -= fits;
    free_ -= fits;
    least_free_ = std::min(least_free_, free_);
  }
  const std::uint32_t shared = group.shared();
  const std::uint64_t limit = group.limit.at(free_);
  if (!group.xoff) {
    if (shared == 0 || shared < limit) return Pfc::kNothing;
    group.xoff = true;
    return Pfc::kXoff;
  }
  if (group.headroom > 0 || (shared > 0 && std::uint64_t{shared} + group.xon_offset > limit)) return Pfc::kNothing;
  group.xoff = false;
  return Pfc::kXon;
}

bool Mmu::set_headroom(Group& group, Bytes headroom) noexcept {
  const std::uint32_t wanted = round_up(headroom);
  if (wanted < std::min(group.headroom, group.headroom_limit)) return false;
  remember_use();
  const std::uint32_t before = pooled(group, group.headroom);
  if (wanted < group.headroom_limit) {
    const std::uint32_t given = group.headroom_limit - wanted;
    const std::uint32_t paid = std::min(given, owed_);
    owed_ -= paid;
    free_ += given - paid;
    shared_size_ += given;
    group.headroom_limit = wanted;
  } else {
    const std::uint32_t added = std::min(wanted - group.headroom_limit, shared_size_);
    const std::uint32_t taken = std::min(added, free_);
    free_ -= taken;
    owed_ += added - taken;
    shared_size_ -= added;
    group.headroom_limit += added;
  }
  pool_free_ += before - pooled(group, group.headroom);
  least_free_ = free_;
  return true;
}

std::uint32_t Mmu::carve_out(std::uint32_t cells) noexcept {
  remember_use();
  const std::uint32_t added = std::min({cells, shared_size_, egress_size_});
  const std::uint32_t taken = std::min(added, free_);
  free_ -= taken;
  owed_ += added - taken;
  shared_size_ -= added;
  egress_size_ -= added;
  carved_out_ += added;
  least_free_ = free_;
  return added;
}

void Mmu::give_back(std::uint32_t cells) noexcept {
  remember_use();
  const std::uint32_t paid = std::min(cells, owed_);
  owed_ -= paid;
  free_ += cells - paid;
  shared_size_ += cells;
  egress_size_ += cells;
  carved_out_ -= cells;
  least_free_ = free_;
}

bool Mmu::settle() noexcept {
  remember_use();
  const std::uint32_t paid = std::min(owed_, free_);
  owed_ -= paid;
  free_ -= paid;
  least_free_ = free_;
  return owed_ == 0;
}

std::vector<std::string> Mmu::audit(std::span<const Group> groups, std::span<const Queue* const> queues) const {
  std::vector<std::string> wrong;
  const auto same = [&](const char* what, std::uint64_t booked, std::uint64_t counted) {
    if (booked != counted) wrong.push_back(fmt::format("{}: {} cells in the books, {} held", what, booked, counted));
  };
  std::uint64_t held = 0;
  std::uint64_t in_shared = 0;
  std::uint64_t from_pool = 0;
  std::uint64_t own_headroom = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    held += g.held;
    in_shared += g.shared();
    from_pool += pooled(g, g.headroom);
    own_headroom += g.headroom_limit;
    if (g.headroom > beyond(g.held, g.reserved_limit))
      wrong.push_back(fmt::format("group {}: {} cells of headroom of {} held", i, g.headroom, g.held.read()));
    if (g.xoff && g.held == 0) wrong.push_back(fmt::format("group {}: over its threshold, and holds nothing", i));
  }
  std::uint64_t in_egress = 0;
  for (const Queue* q : queues) in_egress += q->shared();
  same("shared memory", shared_used(), in_shared);
  same("headroom pool", pool_size_ - pool_free_, from_pool);
  same("egress memory", egress_used_, in_egress);
  if (held > total_) wrong.push_back(fmt::format("{} cells are held of {} that there are", held, total_));
  // Where headroom of a group has become another, reserved memory and headroom still are what is not shared.
  std::uint64_t reserved = 0;
  for (const Group& g : groups) reserved += g.reserved_limit;
  same("all memory", total_, std::uint64_t{shared_size_} + carved_out_ + pool_size_ + own_headroom + reserved);
  if (max_shared_used() > total_ || max_pool_used() > pool_size_)
    wrong.push_back(fmt::format("at most {} cells of {} and {} of {} of the headroom pool were in use",
                                max_shared_used(), total_, max_pool_used(), pool_size_));
  return wrong;
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
