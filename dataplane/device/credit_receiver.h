// The receiving end of credit-based flow control (CBFC, UE 1.0 section 5.2): what has been freed, and when that is
// told.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/device/credit_config.h"
#include "dataplane/packet/credit_stamp.h"
#include "dataplane/wire/credit_message.h"

namespace railyard {

// For each class: cells of frames that have come in, less those that are still held, are free again. The device says
// what it holds whenever that has changed. An update is due when enough has been freed since the last one, or when the
// sender asks; what it says is taken when it starts.
//
// A frame that the link has lost, or that came in wrong, has used credits and frees none: its class is not known. The
// sender's CC_Update tells of it.
// DEVIATION UE 1.0 section 5.2: the receiver takes what is missing from its own knowledge of the link's faults when a
// CC_Update comes, and not from the count in it: frames that a fault delays are not mistaken for lost ones.
class CreditReceiver {
 public:
  explicit CreditReceiver(const CreditConfig& config) noexcept : config_(config), mask_(config.with_credits()) {}

  const CreditConfig& config() const noexcept { return config_; }
  PriorityMask classes() const noexcept { return mask_; }

  // A frame has come in, whatever becomes of it.
  void arrive(CreditStamp stamp) noexcept {
    if (stamp.cells > 0 && stamp.epoch == epoch_) accounts_[stamp.priority].received += stamp.cells;
  }
  // One that should have come in at `at` has not, or is not known to have. It may be said before it is time. Allocates
  // only while more are not made good than ever before.
  void lose(Instant at, CreditStamp stamp) {
    if (stamp.cells > 0) lost_.push_back({at, stamp});
  }
  // What is held of what came in by a class, in cells. Returns whether there is something to say about it now.
  bool hold(Priority p, std::uint32_t cells) noexcept {
    Account& a = accounts_[p.index()];
    a.held = cells;
    const ClassCredits& c = config_.classes[p.index()];
    if (c.cells == 0 || static_cast<std::int32_t>(freed(a) - a.said) < static_cast<std::int32_t>(c.update))
      return false;
    pending_ = static_cast<PriorityMask>(pending_ | bit(p));
    return true;
  }

  // A CC_Update takes effect: what was lost until now is free, and everything is said again.
  void hear(Instant now, const wire::CreditMessage& consumed) noexcept {
    if (consumed.epoch != epoch_) return;
    std::erase_if(lost_, [&](const Lost& lost) {
      if (lost.at > now) return false;
      arrive(lost.credits);
      return true;
    });
    pending_ = mask_;
  }

  PriorityMask pending() const noexcept { return pending_; }
  wire::CreditMessage take() noexcept {
    wire::CreditMessage m{wire::CreditMessageType::kFreed, epoch_, pending_, {}};
    for (unsigned rest = pending_; rest != 0; rest &= rest - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(rest));
      m.count[p] = accounts_[p].said = freed(accounts_[p]);
    }
    pending_ = 0;
    return m;
  }

  // Both ends begin anew: what is still held counts as not freed of what will come.
  void link_down() noexcept {
    for (Account& a : accounts_) {
      a.received = 0;
      a.said = freed(a);
    }
    epoch_ = static_cast<std::uint8_t>((epoch_ + 1) % wire::kCreditEpochs);
    pending_ = 0;
  }
  void link_up() noexcept { pending_ = mask_; }

 private:
  struct Account {
    std::uint32_t received = 0;  // all modulo 2^32
    std::uint32_t held = 0;
    std::uint32_t said = 0;  // to be free
  };
  struct Lost {
    Instant at;
    CreditStamp credits;
  };
  static std::uint32_t freed(const Account& a) noexcept { return a.received - a.held; }

  CreditConfig config_;
  PriorityMask mask_;
  PriorityMask pending_ = 0;
  std::uint8_t epoch_ = 0;
  std::array<Account, kPriorities> accounts_{};
  std::vector<Lost> lost_;  // and not made good; those of an earlier epoch are nobody's
};

}  // namespace railyard
