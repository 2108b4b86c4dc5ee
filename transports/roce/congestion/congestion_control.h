// The congestion control of one QP's data: a plug. Each kind is told what happens in the words of its paper, and says
// at which rate to send, or how much may be in flight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <variant>

#include "dataplane/base/time.h"
#include "transports/roce/congestion/dcqcn.h"
#include "transports/roce/congestion/swift.h"

namespace railyard::roce {

// Sends as fast as the link takes it.
struct NoCongestionControl {};

// What the QPs of an engine are controlled by.
using CongestionConfig = std::variant<NoCongestionControl, DcqcnConfig, SwiftConfig>;

// What acknowledgements, and their absence, have said since it was asked last.
struct Heard {
  std::uint32_t packets = 0;  // newly acknowledged
  Duration delay{};           // of one of them, from its sending; 0: not known
  bool lost = false;          // something is, as what came behind it shows
  bool timed_out = false;
};

class CongestionControl {
 public:
  CongestionControl() = default;
  explicit CongestionControl(const CongestionConfig& config) noexcept {
    if (const auto* dcqcn = std::get_if<DcqcnConfig>(&config)) {
      kind_ = Kind::kDcqcn;
      std::construct_at(&state_.dcqcn, *dcqcn);
    }
    if (const auto* swift = std::get_if<SwiftConfig>(&config)) {
      kind_ = Kind::kSwift;
      std::construct_at(&state_.swift, *swift);
    }
  }

  // A CNP came for the QP. Whether it does something.
  bool on_cnp(Instant now) noexcept {
    if (kind_ != Kind::kDcqcn) return false;
    state_.dcqcn.on_cnp(now);
    return true;
  }

  // A packet of `octets` octets on the wire, preamble and gap included, is sent at `now`, not before `allowed`: when
  // the next one may go (roce-and-lossless §8.6).
  Instant on_sent(Instant now, Instant allowed, std::uint32_t octets) noexcept {
    if (kind_ == Kind::kSwift) {
      const Duration delay = state_.swift.pacing_delay();
      return delay == Duration{} ? now : std::max(now, allowed) + delay;
    }
    if (kind_ == Kind::kNone) return now;
    Dcqcn& dcqcn = state_.dcqcn;
    dcqcn.on_sent(now, octets);
    if (!dcqcn.limits()) return now;
    const double ps = static_cast<double>(octets) * 8e12 / dcqcn.rate(now);
    return std::max(now, allowed) + Duration{static_cast<std::int64_t>(ps + 0.5)};
  }

  // Whether on_heard() wants to be called; it says how many packets may be in flight then, at least 1.
  bool wants_to_hear() const noexcept { return kind_ == Kind::kSwift; }
  std::uint32_t on_heard(Instant now, const Heard& heard) noexcept {
    Swift& swift = state_.swift;
    if (heard.timed_out) {
      swift.on_retransmit_timeout(now);
    } else if (heard.lost) {
      swift.on_fast_recovery(now);
    } else if (heard.delay > Duration{}) {
      swift.on_ack(now, heard.delay, heard.packets);
    }
    return static_cast<std::uint32_t>(std::max(1.0, swift.cwnd()));
  }
  // nullptr: it is another kind.
  const Swift* swift() const noexcept { return kind_ == Kind::kSwift ? &state_.swift : nullptr; }
  const Dcqcn* dcqcn() const noexcept { return kind_ == Kind::kDcqcn ? &state_.dcqcn : nullptr; }

 private:
  // A variant has its index at its end, in a cache line that nothing else is wanted of.
  enum class Kind : std::uint8_t { kNone, kDcqcn, kSwift };
  union State {
    State() noexcept : none{} {}
    NoCongestionControl none;
    Dcqcn dcqcn;
    Swift swift;
  };
  static_assert(std::is_trivially_copyable_v<Dcqcn> && std::is_trivially_copyable_v<Swift>);

  Kind kind_ = Kind::kNone;
  State state_;
};

}  // namespace railyard::roce
