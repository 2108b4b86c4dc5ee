// The frames that take effect in one slice of time at one device, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dataplane/device/event_key.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// One frame, and room for what the device decides about it before its turn comes.
struct Arrival {
  std::uint64_t key;  // EventKey
  Packet* packet;
  std::uint32_t octets;   // of the frame with FCS
  std::uint16_t cells;    // of the device's buffer
  std::uint16_t origin;   // ingress priority group
  std::uint16_t port;     // egress port
  std::uint8_t priority;  // egress queue
  std::uint8_t verdict;   // the device's own
};

// What is due in a window has been pushed before the window began, so it is collected at once and sorted, which costs
// less than a queue and shows which packets to fetch next. One batch per worker, used by each of its devices in turn.
class ArrivalBatch {
 public:
  void clear() noexcept { size_ = 0; }
  std::size_t size() const noexcept { return size_; }
  Arrival* begin() noexcept { return items_.get(); }
  Arrival* end() noexcept { return items_.get() + size_; }
  Arrival& operator[](std::size_t i) noexcept { return items_[i]; }

  void add(std::uint64_t key, Packet* packet) {
    if (size_ + 2 > capacity_) [[unlikely]]  // one for the sentinel
      grow();
    items_[size_].key = key;
    items_[size_].packet = packet;
    ++size_;
  }

  // Sorts by key, keeping the order of equal ones, and puts a sentinel that is later than everything behind the last.
  // Keys lie in [first, last].
  void sort(std::uint64_t first, std::uint64_t last);

  // Moves an arrival to where its new, later key belongs; what lies between moves up.
  void defer(Arrival* arrival, std::uint64_t key) noexcept;
  // Takes an arrival out, or puts one in where `key` belongs; after sort().
  void remove(Arrival* arrival) noexcept;
  void insert(const Arrival& arrival, std::uint64_t key);

 private:
  void grow();

  std::unique_ptr<Arrival[]> items_;
  std::unique_ptr<Arrival[]> sorted_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace railyard
