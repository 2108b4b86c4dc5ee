// The PDCs of one engine: which slot is which, those that targets have opened by what initiators call them, and those
// that have gone not long ago (uet §5.2).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "transports/uet/pds/closed_pdcs.h"
#include "transports/uet/pds/pdc.h"

namespace railyard::uet {

class PdcTable {
 public:
  // Why a PDCID is not used again at once.
  enum class Rest : std::uint8_t {
    kPackets,  // packets of it may still be under way
    kTarget    // an initiator's that has failed: its target may still have it, and takes what begins anew for an error
  };

  // At most `most` at a time, 2..65535; a PDCID is not used again before it has rested for `packets` or `target`. A
  // quarter of them, and at least one, is never an initiator's: two ends that had given all to PDCs of their own would
  // wait for each other. As many are never a target's: who opens PDCs without end would leave none for what begins
  // here. PDCIDs are `first` and those that follow it.
  PdcTable(std::uint16_t most, Duration packets, Duration target, std::uint16_t first = 1)
      : before_first_(static_cast<std::uint16_t>(first - 1)), most_(most), most_of_a_kind_(most - std::max(1u, most / 4u)), resting_{Resting{packets}, Resting{target}} {
    pdcs_.emplace_back();
  }

  // A PDC that is free, in whatever state the last one left it but for its id. nullptr: there is none. New PDCIDs come
  // first, then the one that is longest free.
  Pdc* take(Instant now, bool initiator) {
    for (Resting& r : resting_)
      while (!r.initiators.empty() && now - r.initiators.front() >= r.quiet) r.initiators.pop_front();
    if (initiator ? share_is_used() : live_ - initiators_ >= most_of_a_kind_) return nullptr;
    std::uint16_t id = 0;
    if (pdcs_.size() <= most_) {
      id = static_cast<std::uint16_t>(before_first_ + pdcs_.size());
      pdcs_.push_back(std::make_unique<Pdc>());
      pdcs_.back()->id = PdcId{id};
    } else {
      const auto rested =
          std::ranges::find_if(resting_, [&](const Resting& r) { return !r.free.empty() && r.first_free() <= now; });
      if (rested == resting_.end()) return nullptr;
      id = rested->free.front().id;
      rested->free.pop_front();
    }
    ++live_;
    if (initiator) ++initiators_;
    return pdcs_[slot(id)].get();
  }
  void give_back(Instant now, const Pdc& pdc, Rest why) {
    Resting& r = resting_[static_cast<std::size_t>(why)];
    r.free.push_back({pdc.id.value, now});
    --live_;
    if (!pdc.initiator) return;
    --initiators_;
    r.initiators.push_back(now);
  }
  // nullptr: there is no such PDC.
  Pdc* find(std::uint16_t id) const noexcept {
    const std::size_t i = slot(id);
    return i < pdcs_.size() && pdcs_[i] != nullptr && pdcs_[i]->live() ? pdcs_[i].get() : nullptr;
  }
  // Those that there are, by PDCID. `visit` closes none.
  template <class Visit>
  void each(Visit visit) {
    for (const std::unique_ptr<Pdc>& pdc : pdcs_)
      if (pdc != nullptr && pdc->live()) visit(*pdc);
  }
  template <class Visit>
  void each(Visit visit) const {
    for (const std::unique_ptr<Pdc>& pdc : pdcs_)
      if (pdc != nullptr && pdc->live()) visit(std::as_const(*pdc));
  }
  std::size_t live() const noexcept { return live_; }
  // When an initiator's that is not to be had now may be: never(): when one goes.
  Instant next_free() const noexcept {
    Instant next = Instant::never();
    for (const Resting& r : resting_) next = std::min(next, share_is_used() ? r.first_of_initiators() : r.first_free());
    return next;
  }

  // ---- At targets: by the initiator's address and PDCID ----
  Pdc* find_opened(PeerId peer, std::uint16_t spdcid) const noexcept {
    const auto at = opened_.find(key(peer, spdcid));
    return at == opened_.end() ? nullptr : find(at->second);
  }
  void note_opened(const Pdc& pdc) { opened_[key(pdc.peer, pdc.remote)] = pdc.id.value; }
  // It is gone: packets of it that are still under way open no new one.
  void note_closed(Instant now, const Pdc& pdc) {
    opened_.erase(key(pdc.peer, pdc.remote));
    closed_.add(now, key(pdc.peer, pdc.remote), pdc.start);
  }
  bool was_closed(PeerId peer, std::uint16_t spdcid, Psn start) const noexcept {
    return closed_.contains(key(peer, spdcid), start);
  }

  // ---- At initiators: by the target's address and PDCID, from when it is known ----
  Pdc* find_learnt(PeerId peer, std::uint16_t id) const noexcept {
    const auto at = learnt_.find(key(peer, id));
    return at == learnt_.end() ? nullptr : find(at->second);
  }
  void note_learnt(const Pdc& pdc) { learnt_[key(pdc.peer, pdc.remote)] = pdc.id.value; }
  void forget_learnt(const Pdc& pdc) {
    const auto at = learnt_.find(key(pdc.peer, pdc.remote));
    if (at != learnt_.end() && at->second == pdc.id.value) learnt_.erase(at);
  }

 private:
  struct Free {
    std::uint16_t id;
    Instant since;
  };
  // Those that have gone, since when.
  struct Resting {
    Duration quiet;
    std::deque<Free> free{};
    std::deque<Instant> initiators{};  // of them, those that initiators have given back

    Instant first_free() const noexcept { return free.empty() ? Instant::never() : free.front().since + quiet; }
    Instant first_of_initiators() const noexcept {
      return initiators.empty() ? Instant::never() : initiators.front() + quiet;
    }
  };
  static std::uint64_t key(PeerId peer, std::uint16_t spdcid) noexcept {
    return std::uint64_t{peer.value} << 16 | spdcid;
  }

  // What an initiator has given back is its share's until it may be used again: else who opens one after the other
  // would have them all.
  bool share_is_used() const noexcept {
    return initiators_ + resting_[0].initiators.size() + resting_[1].initiators.size() >= most_of_a_kind_;
  }

  // A number before the first one is far behind the last one.
  std::size_t slot(std::uint16_t id) const noexcept { return static_cast<std::uint16_t>(id - before_first_); }

  std::vector<std::unique_ptr<Pdc>> pdcs_;  // by PDCID - before_first_; 0 is nobody's
  std::uint16_t before_first_;
  std::uint16_t most_;
  std::size_t most_of_a_kind_;
  std::array<Resting, 2> resting_;  // by Rest
  std::size_t live_ = 0;
  std::size_t initiators_ = 0;  // of those that are live
  std::unordered_map<std::uint64_t, std::uint16_t> opened_;
  std::unordered_map<std::uint64_t, std::uint16_t> learnt_;
  ClosedPdcs closed_;
};

}  // namespace railyard::uet
