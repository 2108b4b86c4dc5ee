// PDCs that a target has closed, remembered for at least as long as packets of them may still be under way: a late copy
// of the first one would open another and be carried out again (uet §5.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "dataplane/base/time.h"
#include "transports/uet/ids.h"
#include "transports/uet/pds/psn.h"

namespace railyard::uet {

class ClosedPdcs {
 public:
  // The life of a packet is not known. (No source has a value: the limit of a TCP segment's, RFC 9293 section 3.4.2, is
  // 2 minutes, of a network of many kilometres and seconds of buffer.)
  static constexpr Duration kRemembered{1'000'000'000'000};
  // Of more the oldest are forgotten: as many as there are PDCIDs of one peer.
  static constexpr std::size_t kMost = 65'536;

  // `key`: the initiator's address and PDCID. `start`: its Start_PSN.
  void add(Instant now, std::uint64_t key, Psn start) {
    forget(now);
    if (order_.size() == kMost) forget_first();
    known_.emplace(key, start);
    order_.push_back({now, key, start});
  }
  bool contains(std::uint64_t key, Psn start) const noexcept {
    const auto [first, last] = known_.equal_range(key);
    for (auto at = first; at != last; ++at)
      if (at->second == start) return true;
    return false;
  }
  std::size_t size() const noexcept { return order_.size(); }

 private:
  struct Closed {
    Instant at;
    std::uint64_t key;
    Psn start;
  };

  void forget(Instant now) {
    while (!order_.empty() && order_.front().at + kRemembered <= now) forget_first();
  }
  void forget_first() {
    const Closed c = order_.front();
    order_.pop_front();
    const auto [first, last] = known_.equal_range(c.key);
    for (auto at = first; at != last; ++at)
      if (at->second == c.start) {
        known_.erase(at);
        return;
      }
  }

  std::deque<Closed> order_;
  std::unordered_multimap<std::uint64_t, Psn> known_;
};

}  // namespace railyard::uet
