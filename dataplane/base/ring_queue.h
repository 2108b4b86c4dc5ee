// A first-in first-out queue inside one device: a ring of a power of two slots that doubles when full.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace railyard {

template <class T>
class RingQueue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  RingQueue() = default;

  bool empty() const noexcept { return head_ == tail_; }
  std::size_t size() const noexcept { return tail_ - head_; }

  // The oldest item; undefined when empty.
  T& front() noexcept { return slots_[head_ & mask_]; }
  const T& front() const noexcept { return slots_[head_ & mask_]; }
  // The i-th oldest, i < size().
  const T& operator[](std::size_t i) const noexcept { return slots_[(head_ + static_cast<std::uint32_t>(i)) & mask_]; }

  T& operator[](std::size_t i) noexcept { return slots_[(head_ + static_cast<std::uint32_t>(i)) & mask_]; }

  // Of one that may be empty, too.
  void prefetch_front() const noexcept { __builtin_prefetch(slots_.get() + (head_ & mask_)); }

  // Allocates only when the ring doubles.
  void push(const T& item) {
    if (tail_ - head_ == capacity_) [[unlikely]]
      grow();
    slots_[tail_++ & mask_] = item;
  }
  void pop() noexcept { ++head_; }
  // The newest item, taken out again; undefined when empty.
  T pop_back() noexcept { return slots_[--tail_ & mask_]; }
  // Takes the i-th oldest item out, i < size().
  void remove(std::size_t i) noexcept {
    for (; i > 0; --i) (*this)[i] = (*this)[i - 1];
    pop();
  }
  // What pop() took last is the oldest again; nothing was pushed since.
  void unpop() noexcept { --head_; }

 private:
  void grow() {
    const std::uint32_t capacity = capacity_ == 0 ? 4 : capacity_ * 2;
    auto slots = std::make_unique<T[]>(capacity);
    const std::uint32_t n = tail_ - head_;
    for (std::uint32_t i = 0; i < n; ++i) slots[i] = slots_[(head_ + i) & mask_];
    slots_ = std::move(slots);
    capacity_ = capacity;
    mask_ = capacity - 1;
    head_ = 0;
    tail_ = n;
  }

  std::unique_ptr<T[]> slots_;
  std::uint32_t head_ = 0;  // free running; the slot is head_ & mask_
  std::uint32_t tail_ = 0;
  std::uint32_t mask_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace railyard
