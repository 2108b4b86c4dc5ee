// Drops by reason, counted by one device and read by anyone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dataplane/base/counter.h"
#include "dataplane/base/drop_reason.h"
#include "dataplane/device/class_counters.h"

namespace railyard {

// Most queues never drop anything: memory comes with the first drop.
class DropCounters {
 public:
  DropCounters() = default;
  DropCounters(DropCounters&& other) noexcept : counters_(other.counters_.exchange(nullptr)) {}
  DropCounters& operator=(DropCounters&&) = delete;
  ~DropCounters() { delete counters_.load(std::memory_order_relaxed); }

  void count(DropReason reason) { of(reason).increment(); }
  void count(DropReason reason, std::uint64_t n) { of(reason).add(n); }

  // Whether anything was ever counted.
  bool any() const noexcept { return counters_.load(std::memory_order_acquire) != nullptr; }
  DropCounts read() const {
    DropCounts out;
    if (const Counters* const all = counters_.load(std::memory_order_acquire))
      for (std::size_t r = 0; r < kDropReasons; ++r) out.of(r) = (*all)[r].read();
    return out;
  }

  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    if (const Counters* const all = counters_.load(std::memory_order_acquire))
      for (const Counter& c : *all) sum += c.read();
    return sum;
  }

 private:
  using Counters = std::array<Counter, kDropReasons>;

  // By the device alone. Readers see counters that are zero, or none.
  Counter& of(DropReason reason) {
    Counters* all = counters_.load(std::memory_order_relaxed);
    if (all == nullptr) [[unlikely]]
      counters_.store(all = std::make_unique<Counters>().release(), std::memory_order_release);
    return (*all)[static_cast<std::size_t>(reason)];
  }

  std::atomic<Counters*> counters_{nullptr};
};

}  // namespace railyard
