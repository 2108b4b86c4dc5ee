// The memory management unit: one shared buffer in cells, charged twice for every frame until its last octet has left,
// once to the ingress priority group it came in by and once to the egress queue it waits in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/level.h"
#include "dataplane/base/planted_bug.h"
#include "dataplane/switch/buffer_config.h"

namespace railyard {

enum class Admission : std::uint8_t { kAdmitted, kIngressFull, kHeadroomFull, kEgressFull };

// Amounts are in cells. A group's charge goes to its reserved cells first, then to the shared memory up to its
// threshold, then, if it is lossless, to its headroom and, beyond that, to the headroom pool that all groups share; it
// is given back in the opposite order, so that what is in the reserved part follows from the sum. Thresholds are
// dynamic (Choudhury and Hahne, IEEE/ACM ToN 1998): alpha x what is free of the shared memory.
//
// PFC generation is looked at on the group's own events, as chips do, and when its limits are set anew (review()): the
// threshold may move without any.
class Mmu {
 public:
  // alpha x free, or a fixed number of cells, without asking which.
  struct Threshold {
    std::uint32_t fixed = 0;
    std::uint8_t shift = 0;  // Alpha::kMost - exponent; 63: no dynamic part

    static constexpr Threshold dynamic(Alpha alpha) noexcept {
      return {0, static_cast<std::uint8_t>(Alpha::kMost - alpha.exponent)};
    }
    static constexpr Threshold of(std::uint32_t cells) noexcept { return {cells, 63}; }
    constexpr std::uint64_t at(std::uint32_t free) const noexcept {
      return fixed + ((std::uint64_t{free} << Alpha::kMost) >> shift);
    }
  };

  struct alignas(64) Group {
    Level held;                  // in all: reserved, shared and headroom
    std::uint32_t headroom = 0;  // of that, its own and from the pool
    std::uint32_t reserved_limit = 0;
    std::uint32_t headroom_limit = 0;  // of its own
    std::uint32_t pool_limit = 0;      // of what it may have from the headroom pool beyond that
    std::uint32_t xon_offset = 0;
    Threshold limit;  // of the shared part: XOFF, or drop
    bool lossless = false;
    bool xoff = false;     // the sender is to be paused
    bool blocked = false;  // nothing comes in by it: its port's queue of the class is in a storm (pfc_watchdog.h), or
                           // was, and the group has not drained since
    std::uint32_t max_held = 0;
    std::uint32_t max_headroom = 0;
    Counter rx_packets;  // frames that came in by this group, whatever became of them
    Counter rx_octets;

    std::uint32_t shared() const noexcept { return beyond(held, reserved_limit) - headroom; }
  };
  static_assert(sizeof(Group) == 64);
  struct Queue {
    std::uint32_t cells = 0;
    std::uint32_t reserved_limit = 0;
    Threshold limit;  // of the shared part, if not lossless
    bool lossless = false;

    std::uint32_t shared() const noexcept { return beyond(cells, reserved_limit); }
  };
  // Whether the group's sender must be told something new.
  enum class Pfc : std::uint8_t { kNothing, kXoff, kXon };

  explicit Mmu(const BufferConfig& buffer);

  // Makes the ingress group and the egress queue of a class, and sets their guarantees aside. Sizes are rounded up to
  // cells. All of them first, then commit().
  Group make_group(const ClassBuffer& config);
  Queue make_queue(const ClassBuffer& config);
  // Takes what is set aside out of the shared memory. Error: more is set aside than there is.
  std::expected<void, std::string> commit();

  std::uint16_t cells(std::uint32_t octets) const noexcept {
    return static_cast<std::uint16_t>((octets * reciprocal_ + kRoundUp) >> 32);
  }
  Bytes cell() const noexcept { return {cell_}; }

  // Charges a frame of `n` cells to its ingress group and egress queue, or says why not and charges nothing.
  Admission admit(Group& group, Queue& queue, std::uint32_t n, Pfc& pfc) noexcept {
    const std::uint32_t before = beyond(group.held, group.reserved_limit);
    const std::uint32_t rest = beyond(group.held + n, group.reserved_limit) - before;
    const std::uint32_t shared = before - group.headroom + rest;
    const bool in_shared = rest <= free_ && shared <= group.limit.at(free_);
    if (!in_shared && !headroom_has(group, rest)) [[unlikely]]
      return group.lossless ? Admission::kHeadroomFull : Admission::kIngressFull;
    const std::uint32_t queue_before = queue.shared();
    const std::uint32_t queue_shared = beyond(queue.cells + n, queue.reserved_limit);
    if (!queue.lossless && queue_shared > queue_before) {
      const std::uint32_t egress_free = egress_used_ < egress_size_ ? egress_size_ - egress_used_ : 0;
      if (queue_shared > queue.limit.at(egress_free)) [[unlikely]]
        return Admission::kEgressFull;
    }

    queue.cells += n;
    egress_used_ += queue_shared - queue_before;
    group.held += n;
    if (group.held > group.max_held) group.max_held = group.held;
    pfc = Pfc::kNothing;
    if (in_shared) [[likely]] {
      free_ -= rest;
      if (free_ < least_free_) least_free_ = free_;
      if (!group.lossless || group.xoff || (group.headroom == 0 && shared < group.limit.at(free_)))
        return Admission::kAdmitted;
    } else {
      pool_free_ -= pooled(group, group.headroom + rest) - pooled(group, group.headroom);
      if (pool_free_ < least_pool_free_) least_pool_free_ = pool_free_;
      group.headroom += rest;
      if (group.headroom > group.max_headroom) group.max_headroom = group.headroom;
      if (!group.lossless || group.xoff) return Admission::kAdmitted;
    }
    group.xoff = true;
    pfc = Pfc::kXoff;
    return Admission::kAdmitted;
  }

  // Gives back `n` cells of a frame that has left (or was flushed).
  Pfc release(Group& group, Queue& queue, std::uint32_t n) noexcept {
    std::uint32_t given = beyond(group.held, group.reserved_limit) - beyond(group.held - n, group.reserved_limit);
    group.held -= n;
    if (group.headroom > 0) [[unlikely]] {
      const std::uint32_t from_headroom = std::min(n, group.headroom);
      if (!planted(PlantedBug::kHeadroomPoolLeak))
        pool_free_ += pooled(group, group.headroom) - pooled(group, group.headroom - from_headroom);
      group.headroom -= from_headroom;
      given -= from_headroom;
    }
    free_ += given;
    egress_used_ -= queue.shared() - beyond(queue.cells - n, queue.reserved_limit);
    queue.cells -= n;
    if (!group.xoff) [[likely]]
      return Pfc::kNothing;
    if (group.headroom > 0) return Pfc::kNothing;
    const std::uint32_t shared = group.shared();
    if (shared > 0 && std::uint64_t{shared} + group.xon_offset > group.limit.at(free_)) return Pfc::kNothing;
    group.xoff = false;
    return planted(PlantedBug::kLostXon) ? Pfc::kNothing : Pfc::kXon;
  }

  // ---- Changes while frames are held: what is held stays held. Reserved space does not change.

  // The limits of a class from now on.
  void set_limits(Group& group, Queue& queue, const ClassBuffer& config) noexcept;
  // What the sender of a lossless group must be told now that its limits are others: no frame need come or go for it.
  // What is in headroom and fits below the new limit is charged to the shared memory. A group that has nothing there is
  // never paused: nothing would ever let it go.
  Pfc review(Group& group) noexcept;
  // Headroom of a group, rounded up to cells. More has its effect at once; as far as the shared memory it is taken from
  // is in use, that is made up for by settle(). Less has none while more is in use: false.
  bool set_headroom(Group& group, Bytes headroom) noexcept;
  // Takes what set_headroom() still owes out of what has become free. False: not all of it yet.
  bool settle() noexcept;

  // Takes `cells` out of the shared memory, or as many as it has, and returns how many; as far as they are in use, that
  // is made up for by settle(). Gives them back.
  std::uint32_t carve_out(std::uint32_t cells) noexcept;
  void give_back(std::uint32_t cells) noexcept;

  std::uint32_t shared_size() const noexcept { return shared_size_; }
  std::uint32_t shared_used() const noexcept { return shared_size_ + owed_ - free_; }
  // The most that was ever in use of the shared memory.
  std::uint32_t max_shared_used() const noexcept {
    return std::max(max_used_before_, shared_size_ + owed_ - least_free_);
  }
  std::uint32_t total() const noexcept { return total_; }

  // Counts anew what `groups` and `queues`, which are all there are, hold, and says what of the books of this memory
  // does not agree with it, or is more than there is; nothing: all is right. Not per packet.
  std::vector<std::string> audit(std::span<const Group> groups, std::span<const Queue* const> queues) const;

  // The headroom pool, and the most that was ever in use of it.
  std::uint32_t pool_size() const noexcept { return pool_size_; }
  std::uint32_t max_pool_used() const noexcept { return pool_size_ - least_pool_free_; }

 private:
  static constexpr std::uint64_t kRoundUp = 0xFFFFFFFF;
  static constexpr std::int64_t kMostCells = std::int64_t{1} << 31;

  // The shared memory is about to have another size.
  void remember_use() noexcept { max_used_before_ = max_shared_used(); }

  static constexpr std::uint32_t beyond(std::uint32_t amount, std::uint32_t limit) noexcept {
    return amount > limit ? amount - limit : 0;
  }

  // What of `headroom` cells of a group comes from the pool.
  static std::uint32_t pooled(const Group& group, std::uint32_t headroom) noexcept {
    return beyond(headroom, group.headroom_limit);
  }
  bool headroom_has(const Group& group, std::uint32_t n) const noexcept {
    const std::uint32_t from_pool = pooled(group, group.headroom + n);
    return from_pool <= group.pool_limit && from_pool - pooled(group, group.headroom) <= pool_free_;
  }

  // A sender with credits is never paused.
  static bool pauses(const ClassBuffer& c) noexcept { return c.lossless && c.credits.n == 0; }
  Threshold limit_of(const ClassBuffer& c) const noexcept {
    return c.xoff.n > 0 ? Threshold::of(round_up(c.xoff)) : Threshold::dynamic(c.alpha);
  }
  Threshold queue_limit_of(const ClassBuffer& c) const noexcept {
    return c.queue_limit.n > 0 ? Threshold::of(round_up(c.queue_limit)) : Threshold::dynamic(c.queue_alpha);
  }

  // Saturates: more than any buffer has is more than this one has.
  std::uint32_t round_up(Bytes b) const noexcept {
    return static_cast<std::uint32_t>(std::min(b.n / cell_ + (b.n % cell_ != 0 ? 1 : 0), kMostCells));
  }

  std::uint32_t free_ = 0;        // of the shared memory
  std::uint32_t least_free_ = 0;  // since the shared memory has had its size
  std::uint32_t shared_size_ = 0;
  std::uint32_t egress_size_ = 0;
  std::uint32_t egress_used_ = 0;
  std::uint32_t carved_out_ = 0;  // by faults
  std::uint32_t total_;
  std::uint32_t pool_size_ = 0;  // of the headroom pool
  std::uint32_t pool_free_ = 0;
  std::uint32_t least_pool_free_ = 0;
  std::uint64_t ingress_aside_ = 0;
  std::uint64_t egress_aside_ = 0;
  std::int64_t cell_;
  std::uint64_t reciprocal_;
  std::uint32_t owed_ = 0;             // set aside as headroom, and still in use as shared memory
  std::uint32_t max_used_before_ = 0;  // of the shared memory, when it had another size
};

}  // namespace railyard
