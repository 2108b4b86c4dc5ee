// The sending end of credit-based flow control (CBFC, UE 1.0 section 5.2): what may still be sent.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/device/credit_config.h"
#include "dataplane/packet/credit_stamp.h"
#include "dataplane/wire/credit_message.h"

namespace railyard {

// For each class two counts of cells, both of which only grow: what has been sent (consumed), and what the receiver
// says that it has freed. A frame may start when the receiver has room for all of it. Counts are sums, so an update
// that is lost is made good by the next; what frames that were lost had used the receiver learns from a CC_Update,
// which is sent from time to time while not everything is free, and which it answers.
class CreditSender {
 public:
  explicit CreditSender(const CreditConfig& config) noexcept : config_(config), mask_(config.with_credits()) {}

  const CreditConfig& config() const noexcept { return config_; }
  PriorityMask classes() const noexcept { return mask_; }

  // Cells that may be used now. Less than 0 while the receiver still holds frames from before the link went down.
  std::int64_t available(Priority p) const noexcept {
    const Account& a = accounts_[p.index()];
    return std::int64_t{config_.classes[p.index()].cells} - outstanding(a);
  }
  // Of `waiting`, whose first frames have `octets_of(Priority)` octets, those that have credits for it. The time that
  // the others wait is counted from here on.
  template <class OctetsOf>
  PriorityMask affordable(Instant now, PriorityMask waiting, OctetsOf&& octets_of) noexcept {
    unsigned without = 0;
    for (unsigned m = stalled_ & ~(unsigned{waiting} | withheld_); m != 0; m &= m - 1)
      end_stall(static_cast<std::size_t>(std::countr_zero(m)), now);
    for (unsigned m = waiting & mask_; m != 0; m &= m - 1) {
      const Priority p{static_cast<std::uint8_t>(std::countr_zero(m))};
      if (std::int64_t{config_.cells(octets_of(p))} <= available(p)) {
        end_stall(p.index(), now);
      } else {
        without |= bit(p);
        if ((stalled_ & bit(p)) == 0) accounts_[p.index()].stalled_since = now;
      }
    }
    stalled_ = static_cast<PriorityMask>(without | (stalled_ & ~unsigned{waiting}));
    return static_cast<PriorityMask>(waiting & ~without);
  }
  // Of `wanted`, of which somebody has frames that are not made yet, those with credits for less than `octets`. They
  // wait as well, until it is asked anew.
  PriorityMask withhold(Instant now, PriorityMask wanted, std::uint32_t octets) noexcept {
    unsigned below = 0;
    for (unsigned m = wanted & mask_; m != 0; m &= m - 1) {
      const Priority p{static_cast<std::uint8_t>(std::countr_zero(m))};
      if (available(p) >= std::int64_t{config_.cells(octets)}) continue;
      below |= bit(p);
      if ((stalled_ & bit(p)) == 0) accounts_[p.index()].stalled_since = now;
    }
    stalled_ = static_cast<PriorityMask>(stalled_ | below);
    return withheld_ = static_cast<PriorityMask>(below);
  }

  // A frame starts.
  CreditStamp consume(Instant now, Priority p, std::uint32_t octets) noexcept {
    if ((mask_ & bit(p)) == 0) return {};
    const std::uint32_t cells = config_.cells(octets);
    accounts_[p.index()].consumed += cells;
    if (sync_due_ == Instant::never()) sync_due_ = now + config_.sync;
    return {static_cast<std::uint16_t>(cells), static_cast<std::uint8_t>(p.value & 7),
            static_cast<std::uint8_t>(epoch_ & 31)};
  }

  // A CF_Update takes effect. One of an earlier epoch says nothing any more.
  void hear(const wire::CreditMessage& update) noexcept {
    if (update.epoch != epoch_) return;
    for (unsigned m = update.classes & mask_; m != 0; m &= m - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(m));
      accounts_[p].freed = update.count[p];
    }
    unknown_ = static_cast<PriorityMask>(unknown_ & ~update.classes);
  }

  // When a CC_Update is due, and that this is the time; what it says, when it starts.
  Instant sync_due() const noexcept { return sync_due_; }
  void sync(Instant now) noexcept {
    if (sync_due_ > now) return;
    sync_due_ = Instant::never();
    sync_pending_ = owed() != 0;
  }
  bool pending() const noexcept { return sync_pending_; }
  wire::CreditMessage take(Instant now) noexcept {
    sync_pending_ = false;
    sync_due_ = now + config_.sync;
    wire::CreditMessage m{wire::CreditMessageType::kConsumed, epoch_, mask_, {}};
    for (std::size_t p = 0; p < kPriorities; ++p) m.count[p] = (mask_ >> p & 1) != 0 ? accounts_[p].consumed : 0;
    return m;
  }

  // Both ends begin anew. Until the receiver has said what it still holds, nothing may be sent.
  void link_down(Instant now) noexcept {
    for (std::size_t p = 0; p < kPriorities; ++p) {
      Account& a = accounts_[p];
      end_stall(p, now);
      a.consumed = 0;
      a.freed = std::uint32_t{0} - config_.classes[p].cells;
    }
    epoch_ = static_cast<std::uint8_t>((epoch_ + 1) % wire::kCreditEpochs);
    unknown_ = mask_;
    sync_pending_ = false;
    sync_due_ = Instant::never();
  }
  // If that is lost, it is asked for.
  void link_up(Instant now) noexcept { sync_due_ = now + config_.sync; }

  // Since when the first frame of a class waits for credits; Instant::never() if it does not. Then how long in all.
  Instant stalled_since(Priority p) const noexcept { return accounts_[p.index()].stalled_since; }
  Duration stalled_time(Priority p, Instant now) const noexcept {
    const Account& a = accounts_[p.index()];
    return a.stalled_since < now ? settled_stalls(p) + (now - a.stalled_since) : settled_stalls(p);
  }
  // The same of those that have ended. Any thread may ask.
  Duration settled_stalls(Priority p) const noexcept {
    return {static_cast<std::int64_t>(accounts_[p.index()].stalled_ps.read())};
  }

 private:
  struct Account {
    std::uint32_t consumed = 0;  // modulo 2^32
    std::uint32_t freed = 0;
    Instant stalled_since = Instant::never();
    Counter stalled_ps;
  };

  static std::int64_t outstanding(const Account& a) noexcept { return static_cast<std::int32_t>(a.consumed - a.freed); }
  // Classes of which the receiver has not said that everything is free.
  PriorityMask owed() const noexcept {
    PriorityMask mask = unknown_;
    for (unsigned m = mask_; m != 0; m &= m - 1) {
      const Priority p{static_cast<std::uint8_t>(std::countr_zero(m))};
      if (outstanding(accounts_[p.index()]) > 0) mask = static_cast<PriorityMask>(mask | bit(p));
    }
    return mask;
  }
  void end_stall(std::size_t p, Instant now) noexcept {
    if ((stalled_ >> p & 1) == 0) return;
    Account& a = accounts_[p];
    a.stalled_ps.add(static_cast<std::uint64_t>((now - a.stalled_since).ps));
    a.stalled_since = Instant::never();
    stalled_ = static_cast<PriorityMask>(stalled_ & ~(1u << p));
  }

  CreditConfig config_;
  PriorityMask mask_;
  PriorityMask stalled_ = 0;
  PriorityMask withheld_ = 0;  // withhold()
  PriorityMask unknown_ = 0;   // nothing was heard of them since the link came up
  std::uint8_t epoch_ = 0;
  bool sync_pending_ = false;
  Instant sync_due_ = Instant::never();
  std::array<Account, kPriorities> accounts_{};
};

}  // namespace railyard
