// A counter with one writer and any number of readers: the writer's device counts, anyone may look at it live.
#pragma once

#include <atomic>
#include <cstdint>

namespace railyard {

// Relaxed loads and stores only: no locked instruction, no ordering with other counters. A consistent view of several
// counters comes from a snapshot, which the device takes of itself at an instant.
class Counter {
 public:
  constexpr Counter() noexcept = default;
  Counter(const Counter& other) noexcept : value_(other.read()) {}
  Counter& operator=(const Counter& other) noexcept { return set(other.read()), *this; }

  void add(std::uint64_t n) noexcept { set(read() + n); }
  void increment() noexcept { add(1); }
  // Keeps the largest value seen.
  void raise_to(std::uint64_t n) noexcept {
    if (n > read()) set(n);
  }
  void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace railyard
