// One end of an exchange of atomics, whose protocol is our own: stock tools that do atomics agree on their memory by
// TCP. Each end offers a word of 8 octets that is 0, and does FetchAdd and CmpSwap on the other's, one after the other,
// both ends at once. What an atomic brings back, and what the word is in the end, shows one that was lost, done twice
// or done wrong.
//
//   client                                                     server
//   SEND: where its word is, how many   --------------------->
//                                       <---------------------  SEND: where its word is, how many
//   FetchAdd, CmpSwap, ...              <-------------------->  FetchAdd, CmpSwap, ...
//   SEND: what the word is now          <-------------------->  SEND: what the word is now
//
// Messages are laid out as RpingMessage: address, R_Key and number; of the last one the value, and zeros.
#pragma once

#include <cstdint>

#include "transports/roce/services/rping_message.h"
#include "transports/roce/services/service_context.h"

namespace railyard::roce {

inline constexpr std::uint16_t kAtomicsPort = 7176;
inline constexpr std::uint32_t kMostAtomics = 1'000'000;  // of one end

// Atomic `i` (0, 1, ...) of an exchange on a word that is `value`: one that adds, one that swaps, one that compares
// with something else and changes nothing.
struct AtomicStep {
  SendOpcode opcode = SendOpcode::kFetchAdd;
  std::uint64_t compare = 0;  // CmpSwap
  std::uint64_t swap_add = 0;
  std::uint64_t after = 0;  // the word then

  static constexpr AtomicStep of(std::uint32_t i, std::uint64_t value) noexcept {
    const std::uint64_t add = (std::uint64_t{i} + 1) * 0x1'0000'0001;
    switch (i % 3) {
      case 0:
        return {SendOpcode::kFetchAdd, 0, add, value + add};
      case 1:
        return {SendOpcode::kCompareSwap, value, ~value, ~value};
      default:
        return {SendOpcode::kCompareSwap, value + 1, 0, value};
    }
  }
};
constexpr std::uint64_t word_after(std::uint32_t atomics) noexcept {
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < atomics; ++i) value = AtomicStep::of(i, value).after;
  return value;
}

class AtomicsExchange {
 public:
  enum class State : std::uint8_t {
    kAwaitsOffer,
    kUnderWay,
    kRight,     // both ends are done, and all was as it should be
    kWrong,     // both ends are done: an answer, or the word, was not what it should be
    kViolated,  // the peer did not keep to the protocol
  };
  // What a QP must permit the peer.
  static constexpr AccessSet access() noexcept { return Access::kRemoteAtomic; }

  AtomicsExchange(Engine& engine, ProtectionDomain domain);

  // Posts the receives of `qp`, which is connected or about to be.
  void start(Instant now, QpNumber qp);
  // The client's beginning: says where the word is. `atomics`: of each end, 1..kMostAtomics.
  void offer(Instant now, std::uint32_t atomics);
  // A completion of `qp` without error.
  void on_completion(Instant now, const Completion& completion);

  State state() const noexcept { return state_; }
  // Of both ends.
  std::uint64_t atomics() const noexcept { return 2 * std::uint64_t{atomics_}; }

 private:
  void on_message(Instant now, const RpingOffer& message);
  void next(Instant now);
  void say(Instant now, const RpingOffer& message);
  void post(Instant now, const SendWr& wr);
  void post_receive(Instant now, std::uint64_t place);
  std::uint64_t word(std::size_t offset) noexcept;

  Engine& engine_;
  ServiceMemory memory_;
  QpNumber qp_{};
  State state_ = State::kAwaitsOffer;
  RpingOffer peer_{};
  std::uint32_t atomics_ = 0;  // of each end
  std::uint32_t done_ = 0;     // of this one
  std::uint64_t value_ = 0;    // of the peer's word
  bool offered_ = false;
  bool right_ = true;
  bool heard_ = false;  // the peer is done
};

}  // namespace railyard::roce
