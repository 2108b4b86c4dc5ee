// How a sender tells a receiving device which of its FIFOs has something new.
#pragma once

#include <atomic>
#include <cstdint>

namespace railyard {

// One bit for each of 64 FIFOs that end in one device. Senders set bits and the receiver takes them all, so that it
// passes over the ports where nothing has come in without looking at them. A sender that is advanced by the receiver's
// own worker writes without a locked instruction.
struct alignas(128) DoorbellWord {
  std::uint64_t near = 0;
  alignas(64) std::atomic<std::uint64_t> far{0};

  // The bits set since the last call. Receiver only.
  std::uint64_t take() noexcept {
    std::uint64_t rung = near;
    near = 0;
    // What is pushed now can only matter in a later window: a bit that is missed here is seen then.
    if (far.load(std::memory_order_relaxed) != 0) rung |= far.exchange(0, std::memory_order_acq_rel);
    return rung;
  }
};

// A sender's handle on its bit.
struct Doorbell {
  DoorbellWord* word = nullptr;
  std::uint8_t bit = 0;
  bool across_workers = true;  // false: who rings and who takes are never in two threads at a time

  // After the push: whoever takes the bit finds what was pushed.
  void ring() const noexcept {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    if (across_workers) [[unlikely]]
      word->far.fetch_or(mask, std::memory_order_release);
    else
      word->near |= mask;
  }
};

}  // namespace railyard
