// The PDCs of one engine: which slot is which, those that targets have opened by what initiators call them, and those
// that have gone not long ago (uet §5.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "transports/uet/pds/pdc.h"

namespace railyard::uet {

class PdcTable {
 public:
  // At most `most` at a time, 2..65535; a PDCID is not used again before `quiet` has passed. A quarter of them, and at
  // least one, is never an initiator's: two ends that had given all to PDCs of their own would wait for each other.
  PdcTable(std::uint16_t most, Duration quiet)
      : most_(most), initiators_most_(most - std::max(1u, most / 4u)), quiet_(quiet) {
    pdcs_.emplace_back();
  }

  // A PDC that is free, in whatever state the last one left it but for its id. nullptr: there is none. New PDCIDs come
  // first, then the one that is longest free.
  Pdc* take(Instant now, bool initiator) {
    while (!resting_.empty() && now - resting_.front() >= quiet_) resting_.pop_front();
    if (initiator && share_is_used()) return nullptr;
    std::uint16_t id = 0;
    if (pdcs_.size() <= most_) {
      id = static_cast<std::uint16_t>(pdcs_.size());
      pdcs_.push_back(std::make_unique<Pdc>());
      pdcs_[id]->id = PdcId{id};
    } else if (!free_.empty() && now - free_.front().since >= quiet_) {
      id = free_.front().id;
      free_.pop_front();
    } else {
      return nullptr;
    }
    ++live_;
    if (initiator) ++initiators_;
    return pdcs_[id].get();
  }
  void give_back(Instant now, const Pdc& pdc) {
    free_.push_back({pdc.id.value, now});
    --live_;
    if (!pdc.initiator) return;
    --initiators_;
    resting_.push_back(now);
  }
  // nullptr: there is no such PDC.
  Pdc* find(std::uint16_t id) const noexcept {
    return id < pdcs_.size() && pdcs_[id] != nullptr && pdcs_[id]->live() ? pdcs_[id].get() : nullptr;
  }
  std::size_t live() const noexcept { return live_; }
  // When an initiator's that is not to be had now may be: never(): when one goes.
  Instant next_free() const noexcept {
    if (share_is_used()) return resting_.empty() ? Instant::never() : resting_.front() + quiet_;
    return free_.empty() ? Instant::never() : free_.front().since + quiet_;
  }

  // ---- At targets: by the initiator's address and PDCID ----
  Pdc* find_opened(PeerId peer, std::uint16_t spdcid) const noexcept {
    const auto at = opened_.find(key(peer, spdcid));
    return at == opened_.end() ? nullptr : find(at->second);
  }
  void note_opened(const Pdc& pdc) { opened_[key(pdc.peer, pdc.remote)] = pdc.id.value; }
  // It is gone: packets of it that are still under way open no new one.
  void note_closed(const Pdc& pdc) {
    opened_.erase(key(pdc.peer, pdc.remote));
    closed_[next_closed_++ % kClosed] = {key(pdc.peer, pdc.remote), pdc.start, true};
  }
  bool was_closed(PeerId peer, std::uint16_t spdcid, Psn start) const noexcept {
    for (const Closed& c : closed_)
      if (c.used && c.key == key(peer, spdcid) && c.start == start) return true;
    return false;
  }

 private:
  static constexpr std::size_t kClosed = 256;  // are remembered
  struct Free {
    std::uint16_t id;
    Instant since;
  };
  struct Closed {
    std::uint64_t key = 0;
    Psn start{};
    bool used = false;
  };
  static std::uint64_t key(PeerId peer, std::uint16_t spdcid) noexcept {
    return std::uint64_t{peer.value} << 16 | spdcid;
  }

  // What an initiator has given back is its share's until it may be used again: else who opens one after the other
  // would have them all.
  bool share_is_used() const noexcept { return initiators_ + resting_.size() >= initiators_most_; }

  std::vector<std::unique_ptr<Pdc>> pdcs_;  // by PDCID; 0 is nobody's
  std::deque<Free> free_;
  std::deque<Instant> resting_;  // since when; those that initiators have given back
  std::uint16_t most_;
  std::size_t initiators_most_;
  Duration quiet_;
  std::size_t live_ = 0;
  std::size_t initiators_ = 0;  // of those that are live
  std::unordered_map<std::uint64_t, std::uint16_t> opened_;
  std::vector<Closed> closed_ = std::vector<Closed>(kClosed);
  std::size_t next_closed_ = 0;
};

}  // namespace railyard::uet
