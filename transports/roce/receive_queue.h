// Receive requests that wait for messages: of one QP, or shared by several (SRQ).
#pragma once

#include <cstddef>
#include <optional>

#include "dataplane/base/ring_queue.h"
#include "transports/base/memory_regions.h"
#include "transports/roce/work_request.h"

namespace railyard::roce {

class ReceiveQueue {
 public:
  // At most `capacity` requests wait; their memory is of `domain`.
  ReceiveQueue(std::size_t capacity, ProtectionDomain domain) noexcept : capacity_(capacity), domain_(domain) {}

  // Whether there was room.
  bool post(const RecvWr& wr) {
    if (ring_.size() == capacity_) return false;
    ring_.push(wr);
    return true;
  }
  // The oldest one; nullopt: there is none.
  std::optional<RecvWr> take() noexcept {
    if (ring_.empty()) return std::nullopt;
    const RecvWr wr = ring_.front();
    ring_.pop();
    if (ring_.size() < limit_) {
      limit_ = 0;
      limit_reached_ = true;
    }
    return wr;
  }

  // The oldest one, which stays; nullptr: there is none.
  const RecvWr* peek() const noexcept { return ring_.empty() ? nullptr : &ring_.front(); }

  // Whether it can be: what waits stays.
  bool resize(std::size_t capacity) noexcept {
    if (capacity < ring_.size() || capacity == 0) return false;
    capacity_ = capacity;
    return true;
  }

  bool empty() const noexcept { return ring_.empty(); }
  std::size_t size() const noexcept { return ring_.size(); }
  ProtectionDomain domain() const noexcept { return domain_; }

  // Asks for one event when fewer than `limit` requests are left; 0: for none.
  void set_limit(std::size_t limit) noexcept { limit_ = limit; }
  // Whether that has happened since the last call.
  bool take_limit_event() noexcept {
    const bool reached = limit_reached_;
    limit_reached_ = false;
    return reached;
  }

 private:
  RingQueue<RecvWr> ring_;
  std::size_t capacity_;
  std::size_t limit_ = 0;
  bool limit_reached_ = false;
  ProtectionDomain domain_;
};

}  // namespace railyard::roce
