// One direction of a bus that several NICs of a host share, such as the uplink of a PCI Express switch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// It carries one frame at a time. Octets are shared out fairly by start-time fair queueing (Goyal, Vin and Cheng, "Start-time
// Fair Queuing", SIGCOMM '96) with equal weights: NICs take turns if their frames have one size. A switch of PCI Express
// takes turns by transaction, all but the last of which have the same payload, so it shares out octets as well.
class SharedBus {
 public:
  SharedBus(BitRate rate, std::vector<PortIndex> nics) : rate_(rate), nics_(std::move(nics)), end_(nics_.size(), 0) {}

  bool free(Instant now) const noexcept { return free_ <= now; }
  // When it is free.
  Instant next() const noexcept { return free_; }
  Duration time_of(std::uint32_t octets) const noexcept { return Bytes{octets} / rate_; }

  static constexpr std::size_t kNobody = ~std::size_t{0};
  // Who is next of the NICs for which wants(port), as a place in nics(); kNobody: there is none.
  template <class Wants>
  std::size_t first(Wants&& wants) const {
    std::size_t best = kNobody;
    for (std::size_t i = 1; i <= nics_.size(); ++i) {
      const std::size_t place = (last_ + i) % nics_.size();
      if (wants(nics_[place]) && (best == kNobody || start(place) < start(best))) best = place;
    }
    return best;
  }
  // A frame of the NIC at a place, beginning now.
  void carry(Instant now, std::size_t place, std::uint32_t octets) noexcept {
    now_ = start(place);
    end_[place] = now_ + octets;
    last_ = place;
    free_ = now + time_of(octets);
  }

  const std::vector<PortIndex>& nics() const noexcept { return nics_; }
  std::size_t place_of(PortIndex nic) const noexcept {
    return static_cast<std::size_t>(std::ranges::find(nics_, nic) - nics_.begin());
  }

 private:
  // Tags, in octets.
  std::uint64_t start(std::size_t place) const noexcept { return std::max(now_, end_[place]); }

  BitRate rate_;
  std::vector<PortIndex> nics_;
  std::vector<std::uint64_t> end_;  // of each NIC's last frame
  std::uint64_t now_ = 0;           // start of the frame that was carried last
  std::size_t last_ = 0;
  Instant free_{};
};

}  // namespace railyard
