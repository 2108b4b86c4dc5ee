// The counters of a port by priority. Most priorities of most ports have counted nothing, and take no memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/device/class_counters.h"

namespace railyard {

// Reads like an array of kPriorities ClassCounters.
class PortClasses {
 public:
  // Of a priority that has no counters of its own: zeroes.
  const ClassCounters& operator[](std::size_t priority) const noexcept {
    return has(priority) ? kept_[place(priority)] : nothing();
  }
  // To be written: the priority has counters of its own from now on. References to those of others hold no longer.
  ClassCounters& operator[](std::size_t priority) {
    if (!has(priority)) {
      kept_.insert(kept_.begin() + static_cast<std::ptrdiff_t>(place(priority)), nothing());
      used_ = static_cast<PriorityMask>(used_ | 1u << priority);
    }
    return kept_[place(priority)];
  }
  // The same as writing `counters` there, but no memory is taken for counters that are all zero.
  void set(std::size_t priority, const ClassCounters& counters);

  static constexpr std::size_t size() noexcept { return kPriorities; }
  // Whether the priority has counters of its own.
  bool has(std::size_t priority) const noexcept { return (used_ >> priority & 1) != 0; }

  // All of them, in order.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = ClassCounters;
    using difference_type = std::ptrdiff_t;
    using pointer = const ClassCounters*;
    using reference = const ClassCounters&;

    Iterator() = default;
    Iterator(const PortClasses& of, std::size_t at) noexcept : of_(&of), at_(at) {}
    reference operator*() const noexcept { return (*of_)[at_]; }
    pointer operator->() const noexcept { return &(*of_)[at_]; }
    Iterator& operator++() noexcept { return ++at_, *this; }
    Iterator operator++(int) noexcept { return {*of_, at_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const PortClasses* of_ = nullptr;
    std::size_t at_ = 0;
  };
  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, kPriorities}; }

 private:
  static const ClassCounters& nothing() noexcept;

  std::size_t place(std::size_t priority) const noexcept {
    return static_cast<std::size_t>(std::popcount(used_ & ((1u << priority) - 1)));
  }

  std::vector<ClassCounters> kept_;  // of the priorities in `used_`, in order
  PriorityMask used_ = 0;
};

}  // namespace railyard
