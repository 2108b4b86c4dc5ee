// A completion queue: where QPs say what became of their work requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/roce/completion.h"

namespace railyard::roce {

// What an armed queue waits for.
enum class Arm : std::uint8_t { kNothing, kSolicited, kAny };

// A ring of fixed size. One that overruns loses completions, says so, and does not recover: its QPs are in error.
class alignas(64) CompletionQueue {
 public:
  // `pushed`, if given, is set with each completion; it outlives the queue.
  explicit CompletionQueue(std::size_t capacity, bool* pushed = nullptr)
      : ring_(capacity == 0 ? 1 : capacity), pushed_(pushed) {}

  // Whether there was room. Allocates nothing.
  bool push(const Completion& completion) noexcept;
  // Takes up to `out.size()` completions, the oldest first; returns how many.
  std::size_t poll(std::span<Completion> out) noexcept;

  // Takes out what is of this QP; returns how many.
  std::size_t forget(QpNumber qp) noexcept;
  // Whether it can be: what is in it stays. Allocates.
  bool resize(std::size_t capacity);

  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return ring_.size(); }
  bool overrun() const noexcept { return overrun_; }
  // Whether it has overrun and this was not said before.
  bool take_overrun_event() noexcept {
    const bool event = overrun_ && !overrun_told_;
    overrun_told_ = overrun_;
    return event;
  }

  // Asks for one event with the next completion that is solicited (errors always are), or with any. What is armed stays
  // armed for the more.
  void arm(Arm arm) noexcept { armed_ = arm > armed_ ? arm : armed_; }
  // Whether an event has happened since the last call.
  bool take_event() noexcept {
    const bool event = event_;
    event_ = false;
    return event;
  }

 private:
  std::vector<Completion> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  bool* pushed_ = nullptr;
  Arm armed_ = Arm::kNothing;
  bool event_ = false;
  bool overrun_ = false;
  bool overrun_told_ = false;
};

}  // namespace railyard::roce
