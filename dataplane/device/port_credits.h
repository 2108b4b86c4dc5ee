// Credit-based flow control at a port: both directions of its link, and what is sent for it.
#pragma once

#include <bit>
#include <cstdint>

#include "dataplane/base/counter.h"
#include "dataplane/device/credit_receiver.h"
#include "dataplane/device/credit_sender.h"

namespace railyard {

struct PortCredits {
  PortCredits(const CreditConfig& sends, const CreditConfig& receives) noexcept : sender(sends), receiver(receives) {}

  bool pending() const noexcept { return sender.pending() || receiver.pending() != 0; }
  // Octets of wire time of a CF_Update for so many classes: an ordered set, which has neither preamble nor gap, for
  // each two of them.
  static std::uint32_t update_octets(PriorityMask classes) noexcept {
    constexpr std::uint32_t kOrderedSetOctets = 8;
    return kOrderedSetOctets * ((static_cast<std::uint32_t>(std::popcount(classes)) + 1) / 2);
  }

  CreditSender sender;      // of what this port sends
  CreditReceiver receiver;  // of what comes in here
  Counter sent;             // messages, and their
  Counter sent_octets;      // ... wire time
  Counter heard;
};

}  // namespace railyard
