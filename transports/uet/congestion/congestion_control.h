// The congestion control of one direction of a PDC: a plug, as that of a QP (roce/congestion/congestion_control.h). It
// is told what happens, and says how much may be in flight, and when the next packet may go.
//
// Receiver credit (RCCC, uet §9.6) is beside it, not an alternative: a PDC may have either or both (rccc.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "dataplane/base/time.h"
#include "transports/uet/congestion/nscc.h"

namespace railyard::uet {

// Sends as fast as the link takes it.
struct NoCongestionControl {};

// What the PDCs of an engine are controlled by.
using CongestionConfig = std::variant<NoCongestionControl, NsccConfig>;

class CongestionControl {
 public:
  CongestionControl() = default;
  explicit CongestionControl(const CongestionConfig& config) noexcept {
    if (const auto* nscc = std::get_if<NsccConfig>(&config)) kind_.emplace<Nscc>(*nscc);
  }

  // A packet, counted as `octets`, is sent at `now`, not before `allowed`: when the next one may go.
  Instant on_sent(Instant now, Instant, std::uint32_t octets) noexcept {
    if (Nscc* const n = kind()) n->on_sent(now, octets);
    return now;
  }
  // Whether a packet of `octets` may go as far as the window is concerned.
  bool allows(std::uint32_t octets) const noexcept {
    const Nscc* const n = nscc();
    return n == nullptr || n->allows(octets);
  }
  // When the next packet may go, if none is in flight.
  Instant next_at() const noexcept {
    const Nscc* const n = nscc();
    return n == nullptr ? Instant{} : n->next_at();
  }
  void on_ack(Instant now, const AckSignals& ack) noexcept {
    if (Nscc* const n = kind()) n->on_ack(now, ack);
  }
  void on_trimmed(Instant now, std::uint32_t octets, bool reduces) noexcept {
    if (Nscc* const n = kind()) n->on_trimmed(now, octets, reduces);
  }
  void on_loss(std::uint32_t octets) noexcept {
    if (Nscc* const n = kind()) n->on_loss(octets);
  }
  void on_returned(std::uint32_t octets) noexcept {
    if (Nscc* const n = kind()) n->on_returned(octets);
  }
  void on_found(std::uint32_t octets) noexcept {
    if (Nscc* const n = kind()) n->on_found(octets);
  }
  void on_nothing_in_flight() noexcept {
    if (Nscc* const n = kind()) n->on_nothing_in_flight();
  }

  // nullptr: it is another kind.
  const Nscc* nscc() const noexcept { return std::get_if<Nscc>(&kind_); }

 private:
  Nscc* kind() noexcept { return std::get_if<Nscc>(&kind_); }

  std::variant<NoCongestionControl, Nscc> kind_;
};

}  // namespace railyard::uet
