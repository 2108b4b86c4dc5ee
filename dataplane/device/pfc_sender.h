// What a port has to tell its peer about pausing: the sending half of PFC (IEEE 802.1Q clause 36).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

// The buffer says which priorities should be paused; the port turns that into frames. A frame's content is taken when
// it starts, so an XOFF followed by an XON before that says nothing at all.
class PfcSender {
 public:
  // `quanta`: the pause time that XOFF announces; it is repeated when half of that has passed. `quantum`: 512 bit times
  // of the link.
  void configure(std::uint16_t quanta, Duration quantum) noexcept {
    quanta_ = quanta;
    refresh_after_ = quantum * quanta / 2;
  }

  // The link has another rate. An XOFF that is on its way will be counted in the new quanta: if these are shorter, it
  // is repeated in their time, from now.
  void set_quantum(Instant now, Duration quantum) noexcept {
    refresh_after_ = quantum * quanta_ / 2;
    if (refresh_due_ != Instant::never() && now + refresh_after_ < refresh_due_) refresh_due_ = now + refresh_after_;
  }

  void want(Priority p, bool xoff) noexcept {
    wanted_ = static_cast<PriorityMask>(xoff ? wanted_ | bit(p) : wanted_ & ~bit(p));
  }
  bool wants_xoff(Priority p) const noexcept { return (wanted_ & bit(p)) != 0; }
  // XOFF is said of these, too, whatever is wanted: a PFC storm.
  void storm(PriorityMask priorities) noexcept { storm_ = priorities; }

  // Priorities that the peer must hear about now.
  PriorityMask pending() const noexcept {
    return static_cast<PriorityMask>((said() ^ announced_) | (said() & refresh_));
  }

  // The pending frame starts at `now`: fills `quanta` for the returned priorities.
  PriorityMask take(Instant now, std::array<std::uint16_t, kPriorities>& quanta) noexcept {
    const PriorityMask now_said = pending();
    for (unsigned m = now_said; m != 0; m &= m - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(m));
      const bool xoff = (unsigned{said()} >> p & 1u) != 0;
      quanta[p] = xoff ? quanta_ : std::uint16_t{0};
      (xoff ? xoff_ : xon_)[p].increment();
    }
    announced_ = static_cast<PriorityMask>((announced_ & ~now_said) | (said() & now_said));
    refresh_ = static_cast<PriorityMask>(refresh_ & ~now_said);
    // One deadline for all: a class announced earlier is repeated early rather than late.
    if (said() == 0)
      refresh_due_ = Instant::never();
    else if (refresh_due_ == Instant::never() || now >= refresh_due_)
      refresh_due_ = now + refresh_after_;
    return now_said;
  }

  // When the standing XOFFs must be repeated; Instant::never() if there are none.
  Instant refresh_due() const noexcept { return refresh_due_; }
  // The refresh is due: everything that is paused becomes pending. So does what the peer still holds paused while an
  // XON waits for the port: should XOFF be wanted again before that XON is said, the pause that was announced runs out.
  void refresh() noexcept {
    refresh_ = static_cast<PriorityMask>(said() | announced_);
    refresh_due_ = Instant::never();  // set again when the frame starts
  }

  // Link down: the peer has forgotten what it was told.
  void forget() noexcept {
    announced_ = 0;
    refresh_ = 0;
    refresh_due_ = Instant::never();
  }

  std::uint64_t xoff_sent(Priority p) const noexcept { return xoff_[p.index()].read(); }
  std::uint64_t xon_sent(Priority p) const noexcept { return xon_[p.index()].read(); }

 private:
  PriorityMask said() const noexcept { return static_cast<PriorityMask>(wanted_ | storm_); }

  PriorityMask wanted_ = 0;
  PriorityMask storm_ = 0;
  PriorityMask announced_ = 0;
  PriorityMask refresh_ = 0;
  std::uint16_t quanta_ = 0xFFFF;
  Duration refresh_after_{};
  Instant refresh_due_ = Instant::never();
  std::array<Counter, kPriorities> xoff_{};
  std::array<Counter, kPriorities> xon_{};
};

}  // namespace railyard
