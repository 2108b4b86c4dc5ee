// A bounded ring of records of any length, from one thread to one other, in memory that is there from the beginning.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "dataplane/base/assert.h"

namespace railyard {

// Every record lies in one piece, at a multiple of 8 octets, behind its length. What does not fit before the end of the
// memory begins at its front. One producer thread calls reserve() and commit(), one consumer thread the rest.
class RecordRing {
 public:
  // `octets` are rounded up to a power of two, at least 4 KiB. All of them are touched here.
  explicit RecordRing(std::size_t octets)
      : memory_(std::bit_ceil(octets < kLeast ? kLeast : octets)), mask_(memory_.size() - 1) {}
  RecordRing(const RecordRing&) = delete;
  RecordRing& operator=(const RecordRing&) = delete;

  // The longest record that always fits once the ring has drained.
  std::size_t longest() const noexcept { return memory_.size() / 2 - kLength; }

  // Room for a record, or nothing if it does not fit now. `octets` > 0.
  std::span<std::byte> reserve(std::size_t octets) noexcept {
    RAILYARD_EXPENSIVE_ASSERT(octets > 0, "an empty record");
    const std::size_t whole = round_up(octets + kLength);
    const std::uint64_t tail = producer_.tail.load(std::memory_order_relaxed);
    const std::size_t to_end = memory_.size() - (tail & mask_);
    const std::size_t skipped = whole > to_end ? to_end : 0;
    if (!has_room(tail, whole + skipped)) return {};
    if (skipped != 0) put_length(tail, kSkip);
    put_length(tail + skipped, octets);
    producer_.reserved = tail + skipped + whole;
    return {memory_.data() + ((tail + skipped) & mask_) + kLength, octets};
  }
  // Hands over what reserve() gave last.
  void commit() noexcept { producer_.tail.store(producer_.reserved, std::memory_order_release); }

  // The oldest record, or nothing. Valid until pop().
  std::span<const std::byte> front() noexcept {
    std::uint64_t head = consumer_.head.load(std::memory_order_relaxed);
    if (head == consumer_.seen) {
      consumer_.seen = producer_.tail.load(std::memory_order_acquire);
      if (head == consumer_.seen) return {};
    }
    std::uint64_t octets = length(head);
    if (octets == kSkip) {
      head += memory_.size() - (head & mask_);
      octets = length(head);
    }
    consumer_.next = head + round_up(octets + kLength);
    return {memory_.data() + (head & mask_) + kLength, octets};
  }
  // Removes what front() returned.
  void pop() noexcept { consumer_.head.store(consumer_.next, std::memory_order_release); }

 private:
  static constexpr std::size_t kLeast = 4096;
  static constexpr std::size_t kLength = sizeof(std::uint64_t);  // in front of a record
  static constexpr std::uint64_t kSkip = 0;                      // instead of one: the rest up to the end is unused

  static constexpr std::size_t round_up(std::size_t n) noexcept { return (n + 7) / 8 * 8; }

  bool has_room(std::uint64_t tail, std::size_t octets) noexcept {
    if (tail + octets - producer_.free_from <= memory_.size()) return true;
    producer_.free_from = consumer_.head.load(std::memory_order_acquire);
    return tail + octets - producer_.free_from <= memory_.size();
  }
  void put_length(std::uint64_t at, std::uint64_t octets) noexcept {
    std::memcpy(memory_.data() + (at & mask_), &octets, sizeof octets);
  }
  std::uint64_t length(std::uint64_t at) const noexcept {
    std::uint64_t octets = 0;
    std::memcpy(&octets, memory_.data() + (at & mask_), sizeof octets);
    return octets;
  }

  std::vector<std::byte> memory_;
  std::size_t mask_;
  // Both count octets since the beginning.
  struct alignas(64) {
    std::atomic<std::uint64_t> tail = 0;
    std::uint64_t reserved = 0;   // the tail after commit()
    std::uint64_t free_from = 0;  // the consumer may still use what follows, as far as the producer knows
  } producer_;
  struct alignas(64) {
    std::atomic<std::uint64_t> head = 0;
    std::uint64_t next = 0;  // the head after pop()
    std::uint64_t seen = 0;  // the last tail seen
  } consumer_;
};

}  // namespace railyard
