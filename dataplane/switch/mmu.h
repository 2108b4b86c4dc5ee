// The memory management unit: one shared buffer in cells, charged twice for every frame until its last octet has left,
// once to the ingress priority group it came in by and once to the egress queue it waits in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/switch/buffer_config.h"

namespace railyard {

enum class Admission : std::uint8_t { kAdmitted, kIngressFull, kHeadroomFull, kEgressFull };

// Amounts are in cells. A group's charge goes to its reserved cells first, then to the shared memory up to its threshold,
// then, if it is lossless, to its headroom; it is given back in the opposite order. Thresholds are dynamic (Choudhury and
// Hahne, IEEE/ACM ToN 1998): alpha x what is free of the shared memory.
class Mmu {
 public:
  struct Group {
    std::uint32_t reserved = 0;  // in use
    std::uint32_t shared = 0;
    std::uint32_t headroom = 0;
    std::uint32_t reserved_limit = 0;
    std::uint32_t headroom_limit = 0;
    std::uint32_t xon_offset = 0;
    std::uint32_t fixed_limit = 0;  // 0: alpha
    Alpha alpha{};
    bool lossless = false;
    bool xoff = false;  // the sender is to be paused
    std::uint32_t max_held = 0;
    std::uint32_t max_headroom = 0;

    std::uint32_t held() const noexcept { return reserved + shared + headroom; }
  };
  struct Queue {
    std::uint32_t cells = 0;
    std::uint32_t shared = 0;
    std::uint32_t reserved_limit = 0;
    Alpha alpha{};
    bool lossless = false;
  };
  // Whether the group's sender must be told something new.
  enum class Pfc : std::uint8_t { kNothing, kXoff, kXon };

  Mmu(std::size_t ports, const BufferConfig& buffer);

  // Sets one class of one port; then commit() once. Sizes are rounded up to cells.
  void configure(PortIndex port, Priority priority, const ClassBuffer& config);
  // Takes what is set aside out of the shared memory. Error: more is set aside than there is.
  std::expected<void, std::string> commit();

  std::uint16_t cells(std::uint32_t octets) const noexcept {
    return static_cast<std::uint16_t>((octets * reciprocal_ + kRoundUp) >> 32);
  }
  Bytes cell() const noexcept { return {cell_}; }

  // Charges a frame of `n` cells to ingress group `g` and egress queue `q`, or says why not and charges nothing.
  Admission admit(std::size_t g, std::size_t q, std::uint32_t n) noexcept {
    Group& group = groups_[g];
    Queue& queue = queues_[q];
    const std::uint32_t own = std::min(n, group.reserved_limit - group.reserved);
    const std::uint32_t rest = n - own;
    const std::uint32_t free = free_shared();
    const bool in_shared = rest <= free && group.shared + std::uint64_t{rest} <= threshold(group, free);
    if (!in_shared && rest > group.headroom_limit - group.headroom) [[unlikely]]
      return group.lossless ? Admission::kHeadroomFull : Admission::kIngressFull;

    const std::uint32_t queue_own = std::min(n, queue.reserved_limit - (queue.cells - queue.shared));
    const std::uint32_t queue_rest = n - queue_own;
    if (!queue.lossless && queue_rest > 0) {
      const std::uint32_t egress_free = egress_used_ < egress_size_ ? egress_size_ - egress_used_ : 0;
      if (queue.shared + std::uint64_t{queue_rest} > queue.alpha.of(egress_free)) [[unlikely]]
        return Admission::kEgressFull;
    }

    group.reserved += own;
    (in_shared ? group.shared : group.headroom) += rest;
    shared_used_ += in_shared ? rest : 0;
    queue.cells += n;
    queue.shared += queue_rest;
    egress_used_ += queue_rest;
    used_ += n;
    if (used_ > max_used_) max_used_ = used_;
    if (group.held() > group.max_held) group.max_held = group.held();
    if (group.headroom > group.max_headroom) group.max_headroom = group.headroom;
    return Admission::kAdmitted;
  }

  // Gives back `n` cells of a frame that has left (or was flushed).
  void release(std::size_t g, std::size_t q, std::uint32_t n) noexcept {
    Group& group = groups_[g];
    Queue& queue = queues_[q];
    const std::uint32_t from_headroom = std::min(n, group.headroom);
    const std::uint32_t from_shared = std::min(n - from_headroom, group.shared);
    group.headroom -= from_headroom;
    group.shared -= from_shared;
    shared_used_ -= from_shared;
    group.reserved -= n - from_headroom - from_shared;
    queue.cells -= n;
    const std::uint32_t queue_shared = std::min(n, queue.shared);
    queue.shared -= queue_shared;
    egress_used_ -= queue_shared;
    used_ -= n;
  }

  // PFC generation, looked at on the group's own events, as chips do: the threshold may move without any.
  Pfc after_admit(std::size_t g) noexcept {
    Group& group = groups_[g];
    if (!group.lossless || group.xoff) return Pfc::kNothing;
    if (group.headroom == 0 && group.shared < threshold(group, free_shared())) return Pfc::kNothing;
    group.xoff = true;
    return Pfc::kXoff;
  }
  Pfc after_release(std::size_t g) noexcept {
    Group& group = groups_[g];
    if (!group.xoff) [[likely]]
      return Pfc::kNothing;
    if (group.headroom > 0) return Pfc::kNothing;
    if (group.shared > 0 && std::uint64_t{group.shared} + group.xon_offset > threshold(group, free_shared()))
      return Pfc::kNothing;
    group.xoff = false;
    return Pfc::kXon;
  }

  const Group& group(std::size_t g) const noexcept { return groups_[g]; }
  const Queue& queue(std::size_t q) const noexcept { return queues_[q]; }
  std::uint32_t shared_size() const noexcept { return shared_size_; }
  std::uint32_t shared_used() const noexcept { return shared_used_; }
  std::uint32_t used() const noexcept { return used_; }
  std::uint32_t max_used() const noexcept { return max_used_; }
  std::uint32_t total() const noexcept { return total_; }

  static constexpr std::size_t index(PortIndex port, Priority priority) noexcept {
    return port.index() * kPriorities + priority.index();
  }

 private:
  static constexpr std::uint64_t kRoundUp = 0xFFFFFFFF;

  std::uint32_t free_shared() const noexcept { return shared_size_ - shared_used_; }
  static std::uint64_t threshold(const Group& group, std::uint32_t free) noexcept {
    return group.fixed_limit > 0 ? group.fixed_limit : group.alpha.of(free);
  }
  std::uint32_t round_up(Bytes b) const noexcept {
    return static_cast<std::uint32_t>((b.n + cell_ - 1) / cell_);
  }

  std::vector<Group> groups_;
  std::vector<Queue> queues_;
  std::uint32_t shared_size_ = 0;
  std::uint32_t shared_used_ = 0;
  std::uint32_t egress_size_ = 0;
  std::uint32_t egress_used_ = 0;
  std::uint32_t used_ = 0;
  std::uint32_t max_used_ = 0;
  std::uint32_t total_;
  std::int64_t cell_;
  std::uint64_t reciprocal_;
};

}  // namespace railyard
