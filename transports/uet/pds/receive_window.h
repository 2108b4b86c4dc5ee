// Which packets of one direction of a PDC have arrived (uet §5.4..§5.6, §5.8).
//
//   acknowledged | received, responses not cleared | missing | some of these | nobody may send these
//            CACK                            expected                   CACK + MP_RANGE
//
// CACK does not pass a packet whose response is guaranteed and not yet cleared: the sender would take it for a success.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/uet/pds/psn.h"

namespace railyard::uet {

class ReceiveWindow {
 public:
  static constexpr std::uint32_t kUnit = 128;  // of the mpr field
  static constexpr std::uint32_t kMost = 128 * 128;

  ReceiveWindow() : ReceiveWindow(kUnit) {}
  // `range`: MP_RANGE, a power of two, kUnit..kMost.
  explicit ReceiveWindow(std::uint32_t range);

  // The first packet has `start`; nothing has come.
  void start(Psn start) noexcept;
  std::uint32_t range() const noexcept { return static_cast<std::uint32_t>(received_.size() * 64); }

  enum class Place : std::uint8_t { kNew, kDuplicate, kBeyond };
  Place place(Psn psn) const noexcept {
    const std::int32_t ahead = psn - cack_;
    const auto most = static_cast<std::int32_t>(range());
    if (ahead > most || ahead <= -most) return Place::kBeyond;
    return has(psn) ? Place::kDuplicate : Place::kNew;
  }
  // Of one that is kNew or kDuplicate.
  bool has(Psn psn) const noexcept { return psn - expected_ < 0 || bit(received_, psn); }

  // One that is kNew has come. `held`: its response is guaranteed.
  void accept(Psn psn, bool held) noexcept;
  // Its response need not be guaranteed any more.
  void release(Psn psn) noexcept;
  // A response of one that has come, and is not acknowledged, is guaranteed from now on. False: it is too late.
  bool hold(Psn psn) noexcept;
  // Of a packet that is not acknowledged.
  bool is_held(Psn psn) const noexcept { return bit(held_, psn); }
  // The sender has the responses up to `psn`. False: it cannot have them, or has said so before.
  bool clear(Psn psn) noexcept;

  Psn cack() const noexcept { return cack_; }
  Psn cleared() const noexcept { return clear_; }
  Psn expected() const noexcept { return expected_; }
  Psn highest() const noexcept { return highest_; }
  // Packets that are there beyond the first that is missing.
  std::uint32_t ooo_count() const noexcept { return beyond_; }
  bool gap() const noexcept { return beyond_ > 0; }

  // Bit i: base + i is there.
  std::uint64_t sack(Psn base) const noexcept;

 private:
  using Bits = std::vector<std::uint64_t>;
  std::size_t word(Psn psn) const noexcept { return psn.value() / 64 & (received_.size() - 1); }
  bool bit(const Bits& bits, Psn psn) const noexcept { return (bits[word(psn)] >> (psn.value() & 63) & 1) != 0; }
  void set(Bits& bits, Psn psn) noexcept { bits[word(psn)] |= std::uint64_t{1} << (psn.value() & 63); }
  void unset(Bits& bits, Psn psn) noexcept { bits[word(psn)] &= ~(std::uint64_t{1} << (psn.value() & 63)); }
  void advance() noexcept;

  Bits received_;  // of [expected, CACK + range]
  Bits held_;      // of (CACK, CACK + range]
  Psn cack_{}, clear_{}, expected_{}, highest_{};
  std::uint32_t beyond_ = 0;
};

}  // namespace railyard::uet
