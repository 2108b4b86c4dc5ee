// Receiver credit (RCCC, UE-Spec 1.0 §3.6.14; uet §9.6) at a sender: it sends while it has credit, and says in each packet
// how much it wants. credit_pacer.h is the other end.
//
//   speculates ---- the first ACK, NACK or CREDIT: what is left of the first credit is gone ----> sends what is granted
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/base/time.h"
#include "transports/uet/congestion/credit.h"

namespace railyard::uet {

struct RcccConfig {
  std::int64_t max_credit = 225'000;  // octets in hand at most, and at first without being asked: 3/2 BDP
  std::uint32_t packet = 4164;        // octets of a full packet
  Duration base_rtt{12'000'000};      // unloaded, of the longest path

  bool operator==(const RcccConfig&) const = default;
};

class Rccc {
 public:
  explicit Rccc(const RcccConfig& config) noexcept : credit_(config.max_credit), config_(config) {}

  // A packet of any length may go while there is any credit.
  bool allows() const noexcept { return credit_ > 0; }
  // Nothing was heard of the receiver yet.
  bool speculates() const noexcept { return speculates_; }
  std::int64_t credit() const noexcept { return credit_; }  // octets; below 0 by less than a packet
  const RcccConfig& config() const noexcept { return config_; }

  void on_sent(std::uint32_t octets) noexcept { credit_ -= octets; }
  // An ACK, a NACK or a CREDIT has come.
  void on_heard() noexcept {
    if (!speculates_) return;
    speculates_ = false;
    credit_ = std::min<std::int64_t>(credit_, 0);
  }
  // All that the receiver has granted since the PDC began. Returns whether that is more than before. DEVIATION: what would be
  // more than max_credit in hand is lost, as in the simulator; a receiver that grants without end gains nothing.
  bool on_grant(Credit granted) noexcept {
    const std::int32_t more = granted - granted_;
    if (more <= 0) return false;
    granted_ = granted;
    credit_ = std::min(credit_ + more * kCreditOctets, config_.max_credit);
    return true;
  }

  // What is asked for, with `wanted` octets to be sent now or again to a receiver that is one of `receivers`.
  Credit ask(std::int64_t wanted, std::uint32_t receivers) noexcept {
    std::int64_t more = std::min(wanted, config_.max_credit) - credit_;
    // A short message needs something after its first packets, whatever is in hand.
    if (speculates_ && wanted > 0) more = std::max<std::int64_t>(more, config_.packet);
    more = std::max<std::int64_t>(more, 0) / std::max(receivers, 1u);
    asked_ = granted_ + credit_units(more);
    return asked_;
  }
  // The receiver still owes some of what was asked for, if it has heard of it.
  bool waits() const noexcept { return asked_ - granted_ > 0; }

 private:
  std::int64_t credit_;
  Credit granted_{};
  Credit asked_{};
  bool speculates_ = true;
  RcccConfig config_;
};

}  // namespace railyard::uet
