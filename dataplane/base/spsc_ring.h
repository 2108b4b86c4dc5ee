// A queue from one thread to one other that starts small and grows: never full, contiguous, no locked instruction.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace railyard {

// Items live in segments of a power of two slots; a full segment is followed by one twice as large, and the old one is
// freed by the consumer when it has drained it. Most rings hold a handful of items for their whole life: small rings
// keep a large fabric's channels in cache, where rings sized for the worst case do not (a third of the time at 1024
// hosts). One producer thread calls push(); one consumer thread calls the rest. `Side` is data of the producer's that
// is wanted with every push: it shares the producer's cache line.
struct NoSide {};
template <class T, class Side = NoSide>
class SpscRing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit SpscRing(std::size_t capacity = 8) {
    Segment* first = Segment::make(std::bit_ceil(capacity), 0);
    producer_.segment = consumer_.segment = first;
    producer_.mask = consumer_.mask = first->mask;
  }
  ~SpscRing() {
    for (Segment* s = consumer_.segment; s != nullptr;) {
      Segment* next = s->next;
      Segment::free(s);
      s = next;
    }
  }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Appends `item`. Producer only. Allocates only when the ring grows.
  void push(const T& item) {
    const std::uint64_t tail = producer_.tail.load(std::memory_order_relaxed);
    if (tail - producer_.free_from > producer_.mask) [[unlikely]]
      make_room(tail);
    producer_.segment->slots()[tail & producer_.mask] = item;
    producer_.tail.store(tail + 1, std::memory_order_release);
  }
  // Producer only.
  Side& side() noexcept { return producer_.side; }

  // The oldest item, or nullptr. Valid until pop(). Consumer only.
  const T* front() noexcept {
    const std::uint64_t head = consumer_.head.load(std::memory_order_relaxed);
    if (head == consumer_.limit && !look_again(head)) return nullptr;
    return &consumer_.segment->slots()[head & consumer_.mask];
  }

  // Removes the item that front() returned. Consumer only.
  void pop() noexcept {
    consumer_.head.store(consumer_.head.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Calls f(item) for each that front() would give. Consumer only, and the producer rests.
  template <class F>
  void for_each(F&& f) const {
    const std::uint64_t tail = producer_.tail.load(std::memory_order_acquire);
    const Segment* s = consumer_.segment;
    for (std::uint64_t i = consumer_.head.load(std::memory_order_relaxed); i != tail; ++i) {
      while (i == s->end.load(std::memory_order_relaxed)) s = s->next;
      f(s->slots()[i & s->mask]);
    }
  }

  // Items pushed and not yet popped; exact on either side when the other one rests.
  std::size_t size() const noexcept {
    return producer_.tail.load(std::memory_order_acquire) - consumer_.head.load(std::memory_order_acquire);
  }

 private:
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};

  // A header, and behind it its slots.
  struct alignas(T) alignas(std::uint64_t) Segment {
    Segment(std::size_t capacity, std::uint64_t first) : mask(capacity - 1), begin(first) {}
    std::size_t mask;
    std::uint64_t begin;                     // number of the first item in it
    std::atomic<std::uint64_t> end = kOpen;  // number of the first item not in it, once it is closed
    Segment* next = nullptr;                 // written before `end`

    T* slots() noexcept { return reinterpret_cast<T*>(this + 1); }
    const T* slots() const noexcept { return reinterpret_cast<const T*>(this + 1); }
    static Segment* make(std::size_t capacity, std::uint64_t first) {
      return new (::operator new(sizeof(Segment) + capacity * sizeof(T), kAlignment)) Segment(capacity, first);
    }
    static void free(Segment* segment) noexcept { ::operator delete(segment, kAlignment); }
    static constexpr std::align_val_t kAlignment{alignof(Segment)};
  };

  void make_room(std::uint64_t tail) {
    Segment* s = producer_.segment;
    const std::uint64_t head = consumer_.head.load(std::memory_order_acquire);
    producer_.free_from = head > s->begin ? head : s->begin;
    if (tail - producer_.free_from <= producer_.mask) return;
    Segment* grown = Segment::make((s->mask + 1) * 2, tail);
    s->next = grown;
    s->end.store(tail, std::memory_order_relaxed);  // published by the store of `tail` that follows
    producer_.segment = grown;
    producer_.mask = grown->mask;
    producer_.free_from = tail;
  }

  // The consumer has read all it knew of: whether there is more at `head`. What was pushed before the tail that is seen
  // now lies in this segment up to its end.
  bool look_again(std::uint64_t head) noexcept {
    const std::uint64_t tail = producer_.tail.load(std::memory_order_acquire);
    if (head == tail) return false;
    if (head == consumer_.segment->end.load(std::memory_order_relaxed)) next_segment();
    const std::uint64_t end = consumer_.segment->end.load(std::memory_order_relaxed);
    consumer_.limit = tail < end ? tail : end;
    return true;
  }

  void next_segment() noexcept {
    Segment* drained = consumer_.segment;
    consumer_.segment = drained->next;
    consumer_.mask = consumer_.segment->mask;
    Segment::free(drained);
  }

  struct alignas(64) {
    std::atomic<std::uint64_t> tail = 0;
    std::uint64_t free_from = 0;  // items from here on may still be in use, as far as the producer knows
    std::size_t mask = 0;
    Segment* segment = nullptr;
    [[no_unique_address]] Side side;
  } producer_;
  struct alignas(64) {
    std::atomic<std::uint64_t> head = 0;
    std::uint64_t limit = 0;  // items before this one are there, in this segment
    std::size_t mask = 0;
    Segment* segment = nullptr;
  } consumer_;
};

}  // namespace railyard
