// Order, loss and duplicates of one flow, from its packet sequence numbers.
#pragma once

#include <array>
#include <cstdint>

namespace railyard {

// Sequence numbers have 24 bits on the wire (BTH PSN) and 64 here: each is taken to be the one nearest to the next
// expected. Duplicates are found among the last kWindow numbers; an older number is taken as reordered, not as new.
class SequenceCheck {
 public:
  static constexpr std::uint64_t kWindow = 4096;

  enum class Seen : std::uint8_t { kInOrder, kReordered, kDuplicate };
  struct Result {
    Seen seen;
    std::uint64_t sequence;
  };

  // A frame with PSN `psn` (24 bits) arrives.
  Result see(std::uint32_t psn) noexcept {
    if (psn == (next_ & 0xFFFFFF)) [[likely]] {
      const std::uint64_t sequence = next_;
      note(sequence);
      ++next_;
      return {Seen::kInOrder, sequence};
    }
    return see_out_of_order(psn);
  }

 private:
  Result see_out_of_order(std::uint32_t psn) noexcept {
    // The distance to next_, as a signed 24-bit number.
    const auto ahead = static_cast<std::int32_t>((psn - static_cast<std::uint32_t>(next_)) << 8) >> 8;
    if (ahead < 0 && next_ < static_cast<std::uint64_t>(-static_cast<std::int64_t>(ahead)))
      return {Seen::kDuplicate, 0};  // before the first: cannot be
    const std::uint64_t sequence = next_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
    if (ahead >= 0) {
      // A gap: what lies between has not been seen.
      for (std::uint64_t s = next_; s < sequence && s < next_ + kWindow; ++s) forget(s);
      note(sequence);
      next_ = sequence + 1;
      return {Seen::kInOrder, sequence};
    }
    if (next_ - sequence > kWindow) return {Seen::kReordered, sequence};
    if (noted(sequence)) return {Seen::kDuplicate, sequence};
    note(sequence);
    return {Seen::kReordered, sequence};
  }
  static constexpr std::size_t word(std::uint64_t s) noexcept { return s / 64 % (kWindow / 64); }
  void note(std::uint64_t s) noexcept { seen_[word(s)] |= std::uint64_t{1} << (s % 64); }
  void forget(std::uint64_t s) noexcept { seen_[word(s)] &= ~(std::uint64_t{1} << (s % 64)); }
  bool noted(std::uint64_t s) const noexcept { return (seen_[word(s)] >> (s % 64) & 1) != 0; }

  std::uint64_t next_ = 0;
  std::array<std::uint64_t, kWindow / 64> seen_{};
};

}  // namespace railyard
