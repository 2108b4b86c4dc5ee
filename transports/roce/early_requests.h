// Selective repeat: requests that have come while others before them are missing. Their payload is where it goes; the
// rest is kept until it is their turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/payload_ref.h"
#include "transports/roce/psn.h"
#include "transports/roce/wire/packet.h"

namespace railyard::roce {

class EarlyRequests {
 public:
  struct Kept {
    Packet packet{};
    // Its name; octets it has no more.
    PayloadRef payload{};
  };

  // `window`: how many PSNs from the expected one on there are places for, a power of two.
  explicit EarlyRequests(std::uint32_t window) : places_(window, kNone), mask_(window - 1) {}

  std::uint32_t window() const noexcept { return mask_ + 1; }
  // Of PSNs in the window.
  bool has(Psn psn) const noexcept {
    const std::uint16_t place = places_[psn.value() & mask_];
    // Else it is of a PSN that a READ has taken: no requester sends that.
    return place != kNone && kept_[place].packet.bth.psn == psn.value();
  }
  const Kept& at(Psn psn) const noexcept { return kept_[places_[psn.value() & mask_]]; }
  // There is none yet. Allocates only while more are kept than ever before.
  void keep(const Packet& packet, const PayloadRef& payload) {
    forget(Psn(packet.bth.psn));
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint16_t>(kept_.size()));
      kept_.emplace_back();
      free_.reserve(kept_.capacity());
    }
    const std::uint16_t place = free_.back();
    free_.pop_back();
    kept_[place] = {packet, payload};
    // Real octets are told from promises by it.
    if (payload.bytes != nullptr) kept_[place].payload.bytes = &kReal;
    places_[packet.bth.psn & mask_] = place;
  }
  void forget(Psn psn) noexcept {
    std::uint16_t& place = places_[psn.value() & mask_];
    if (place == kNone) return;
    free_.push_back(place);
    place = kNone;
  }
  void reset() noexcept {
    places_.assign(places_.size(), kNone);
    kept_.clear();
    free_.clear();
  }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;
  static constexpr std::byte kReal{};

  std::vector<std::uint16_t> places_;  // by PSN, into kept_
  std::uint32_t mask_;
  std::vector<Kept> kept_;
  std::vector<std::uint16_t> free_;
};

}  // namespace railyard::roce
