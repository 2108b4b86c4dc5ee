// A ring of frames in memory that two processes share, in one direction: what lies between a NIC of the fabric and an
// application that sends and receives frames. Lock-free, one producer and one consumer.
//
// Neither side trusts the other. Each keeps its own position where the other cannot write it, reads a number of the
// other's once and checks it, and never follows an address out of shared memory. A side that finds an impossible number
// says so (broken()) and does nothing more.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace railyard {

// The size of a ring. Both sides know it from a message, not from shared memory.
struct FrameRingGeometry {
  std::uint32_t slots = 0;        // a power of two, at most kMostSlots
  std::uint32_t slot_octets = 0;  // a multiple of 64, kLeastSlot..kMostSlot; kFrameAt of them are the slot's own

  static constexpr std::uint32_t kMostSlots = 1u << 16;
  static constexpr std::uint32_t kLeastSlot = 128;
  static constexpr std::uint32_t kMostSlot = 1u << 16;
  // Where the frame begins in its slot. Ethernet, IPv4, UDP and BTH (54 octets) then share the first two cache lines
  // with the slot's descriptor.
  static constexpr std::uint32_t kFrameAt = 16;

  bool operator==(const FrameRingGeometry&) const = default;
  constexpr bool valid() const noexcept {
    return slots > 0 && slots <= kMostSlots && (slots & (slots - 1)) == 0 && slot_octets >= kLeastSlot &&
           slot_octets <= kMostSlot && slot_octets % 64 == 0;
  }
  // Octets of the longest frame.
  constexpr std::uint32_t room() const noexcept { return slot_octets - kFrameAt; }
  // Of shared memory.
  constexpr std::size_t octets() const noexcept;
};

// What stands in front of the slots. Positions count frames and wrap at 2^32.
struct FrameRingHeader {
  alignas(64) std::atomic<std::uint32_t> tail;  // written by the producer: frames put in so far
  alignas(64) std::atomic<std::uint32_t> head;  // written by the consumer: frames taken so far
  // Set by the side that is going to sleep, cleared by the one that wakes it.
  alignas(64) std::atomic<std::uint32_t> consumer_sleeps;  // wake it when there is a frame
  std::atomic<std::uint32_t> producer_sleeps;              // wake it when there is room
};
static_assert(sizeof(FrameRingHeader) == 192 && std::atomic<std::uint32_t>::is_always_lock_free);

// At the beginning of a slot.
struct FrameDescriptor {
  std::atomic<std::uint32_t> octets;  // of the frame, without FCS, from its Ethernet header on
  std::atomic<std::uint32_t> flags;   // FrameFlag
};

enum FrameFlag : std::uint32_t {
  kFrameIcrcPending = 1,  // behind the frame's octets belong 4 more: an ICRC that is right and was not computed
  kFrameTrimmed = 2,      // a switch has cut the payload
};
inline constexpr std::uint32_t kFrameFlags = kFrameIcrcPending | kFrameTrimmed;

constexpr std::size_t FrameRingGeometry::octets() const noexcept {
  return sizeof(FrameRingHeader) + std::size_t{slots} * slot_octets;
}

// What both sides have: where the ring lies, and the position that is one's own.
class FrameRingEnd {
 public:
  // `memory`: geometry.octets(), aligned to 64, all zero at first. It outlives this. `geometry` is valid.
  FrameRingEnd(std::byte* memory, FrameRingGeometry geometry) noexcept
      : header_(reinterpret_cast<FrameRingHeader*>(memory)),
        slots_(memory + sizeof(FrameRingHeader)),
        geometry_(geometry),
        consumer_sleeps_(&header_->consumer_sleeps) {}
  // One of several rings with one consumer, which sleeps until there is a frame in any of them: where it says so.
  FrameRingEnd(std::byte* memory, FrameRingGeometry geometry, std::atomic<std::uint32_t>& consumer_sleeps) noexcept
      : FrameRingEnd(memory, geometry) {
    consumer_sleeps_ = &consumer_sleeps;
  }

  const FrameRingGeometry& geometry() const noexcept { return geometry_; }
  // The other side wrote what cannot be: nothing can be exchanged any more.
  bool broken() const noexcept { return broken_; }

 protected:
  std::byte* slot(std::uint32_t position) const noexcept {
    return slots_ + std::size_t{position & (geometry_.slots - 1)} * geometry_.slot_octets;
  }
  static FrameDescriptor& descriptor(std::byte* slot) noexcept { return *reinterpret_cast<FrameDescriptor*>(slot); }
  // Whether the other side sleeps and is to be woken: says so once.
  static bool take_sleeper(std::atomic<std::uint32_t>& sleeps) noexcept {
    // What was published before is seen by a side that decides to sleep after it has set its flag, or the flag is seen
    // here.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return sleeps.load(std::memory_order_relaxed) != 0 && sleeps.exchange(0, std::memory_order_relaxed) != 0;
  }

  FrameRingHeader* header_;
  std::byte* slots_;
  FrameRingGeometry geometry_;
  std::atomic<std::uint32_t>* consumer_sleeps_;
  std::uint32_t own_ = 0;    // this side's position, also of what is not published yet
  std::uint32_t other_ = 0;  // the other side's, as it was read last
  bool broken_ = false;
};

class FrameRingProducer : public FrameRingEnd {
 public:
  using FrameRingEnd::FrameRingEnd;

  // Room for the next frame, geometry().room() octets; nullptr: the ring is full, or broken.
  std::byte* next() noexcept {
    if (own_ - other_ >= geometry_.slots && !look_again()) return nullptr;
    return slot(own_) + FrameRingGeometry::kFrameAt;
  }
  // The frame at next() is complete. `octets`: at most geometry().room().
  void commit(std::uint32_t octets, std::uint32_t flags) noexcept {
    FrameDescriptor& d = descriptor(slot(own_++));
    d.octets.store(octets, std::memory_order_relaxed);
    d.flags.store(flags, std::memory_order_relaxed);
  }
  // The consumer may take what was committed. Returns whether it sleeps and is to be woken.
  bool publish() noexcept {
    header_->tail.store(own_, std::memory_order_release);
    return take_sleeper(*consumer_sleeps_);
  }
  // Asks to be woken when there is room. False: there is room already (or never will be).
  bool sleep_until_room() noexcept {
    header_->producer_sleeps.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (own_ - other_ >= geometry_.slots && !look_again() && !broken_) return true;
    header_->producer_sleeps.store(0, std::memory_order_relaxed);
    return false;
  }

 private:
  bool look_again() noexcept {
    if (broken_) return false;
    const std::uint32_t head = header_->head.load(std::memory_order_acquire);
    if (own_ - head > geometry_.slots) return broken_ = true, false;
    other_ = head;
    return own_ - other_ < geometry_.slots;
  }
};

class FrameRingConsumer : public FrameRingEnd {
 public:
  using FrameRingEnd::FrameRingEnd;

  struct Frame {
    std::span<const std::byte> octets;  // in shared memory: whoever does not trust the producer copies, then parses
    std::uint32_t flags = 0;
  };
  // The oldest frame, until pop(); nullopt: there is none, or the ring is broken.
  std::optional<Frame> front() noexcept {
    if (own_ == other_ && !look_again()) return std::nullopt;
    std::byte* const at = slot(own_);
    const std::uint32_t octets = descriptor(at).octets.load(std::memory_order_relaxed);
    const std::uint32_t flags = descriptor(at).flags.load(std::memory_order_relaxed);
    if (octets > geometry_.room() || (flags & ~std::uint32_t{kFrameFlags}) != 0) {
      broken_ = true;
      other_ = own_;
      return std::nullopt;
    }
    return Frame{{at + FrameRingGeometry::kFrameAt, octets}, flags};
  }
  // Whether there is one.
  bool any() noexcept { return own_ != other_ || look_again(); }
  // How many there are; 0 if the ring is broken.
  std::uint32_t count() noexcept {
    look_again();
    return broken_ ? 0 : other_ - own_;
  }
  void pop() noexcept { ++own_; }
  // Fetches the beginning of the frame that is `ahead` frames behind the oldest, if it is known to be there.
  void prefetch(std::uint32_t ahead) const noexcept {
    if (other_ - own_ <= ahead) return;
    __builtin_prefetch(slot(own_ + ahead));
    __builtin_prefetch(slot(own_ + ahead) + 64);
  }
  // The producer may use again what was popped. Returns whether it sleeps and is to be woken.
  bool release() noexcept {
    header_->head.store(own_, std::memory_order_release);
    return take_sleeper(header_->producer_sleeps);
  }
  // Asks to be woken when there is a frame. False: there is one already (or never will be).
  bool sleep_until_frame() noexcept {
    ask_for_signal();
    if (own_ == other_ && !look_again() && !broken_) return true;
    wake();
    return false;
  }
  // The first half of sleep_until_frame(); the second is to look for a frame.
  void ask_for_signal() noexcept {
    consumer_sleeps_->store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  // It does not sleep any more; needs no signal.
  void wake() noexcept { consumer_sleeps_->store(0, std::memory_order_relaxed); }
  // Whether sleep_until_frame() still holds: nobody has signalled.
  bool sleeps() const noexcept { return consumer_sleeps_->load(std::memory_order_relaxed) != 0; }

 private:
  bool look_again() noexcept {
    if (broken_) return false;
    const std::uint32_t tail = header_->tail.load(std::memory_order_acquire);
    if (tail - own_ > geometry_.slots) return broken_ = true, false;
    other_ = tail;
    return own_ != other_;
  }
};

}  // namespace railyard
