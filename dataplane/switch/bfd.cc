#include "dataplane/switch/bfd.h"

#include <algorithm>

namespace railyard {

using wire::BfdDiagnostic;
using wire::BfdState;

Bfd::Bfd(const BfdConfig& config, const std::vector<PortIndex>& ports, RngStream chance)
    : config_(config), chance_(std::move(chance)) {
  for (const PortIndex port : ports) {
    if (by_port_.size() <= port.index()) by_port_.resize(port.index() + std::size_t{1}, kNobody);
    by_port_[port.index()] = static_cast<std::uint16_t>(sessions_.size());
    // Not all at once, and soon enough for a neighbour that misses one packet (period()).
    const auto phase = chance_.below(static_cast<std::uint64_t>(config_.interval.ps * 3 / 4));
    sessions_.push_back(
        {.port = port, .peer = 1, .send_at = Instant{} + Duration{static_cast<std::int64_t>(phase)}});
  }
  look();
}

// RFC 5880, section 6.8.7: between 75 and 100 % of the interval, or 90 % where one lost packet is a failure. A session
// that is not up sends once a second at most (section 6.8.3).
Duration Bfd::period(const Session& s) noexcept {
  const Duration interval =
      s.state == BfdState::kUp ? config_.interval : std::max(config_.interval, Duration{kPicosecondsPerSecond});
  const std::int64_t least = interval.ps * 3 / 4;
  const std::int64_t most = config_.multiplier == 1 ? interval.ps * 9 / 10 : interval.ps;
  return Duration{least + static_cast<std::int64_t>(chance_.below(static_cast<std::uint64_t>(most - least + 1)))};
}

void Bfd::look() noexcept {
  due_ = Instant::never();
  for (const Session& s : sessions_) {
    if (!s.has_link) continue;
    due_ = std::min(due_, s.send_at);
    if (expires(s)) due_ = std::min(due_, s.heard + detection_time());
  }
}

void Bfd::go(Instant now, Session& s, BfdState state, BfdDiagnostic why) noexcept {
  s.state = state;
  s.diagnostic = why;
  s.send_at = now;  // the other end learns of it at once
}

wire::BfdControl Bfd::take(PortIndex port) noexcept {
  Session& s = session(port);
  s.wants = false;
  const Duration interval =
      s.state == BfdState::kUp ? config_.interval : std::max(config_.interval, Duration{kPicosecondsPerSecond});
  return {.state = s.state,
          .diagnostic = s.diagnostic,
          .multiplier = static_cast<std::uint8_t>(config_.multiplier),
          .my_discriminator = port.value + std::uint32_t{1},
          .your_discriminator = s.peer,
          .min_tx_us = static_cast<std::uint32_t>(interval.ps / 1'000'000),
          .min_rx_us = static_cast<std::uint32_t>(config_.interval.ps / 1'000'000)};
}

Bfd::Change Bfd::hear(Instant now, PortIndex port, const wire::BfdControl& control) noexcept {
  Session& s = session(port);
  if (!s.has_link) return Change::kNone;
  s.heard = now;
  s.peer = control.my_discriminator;
  const BfdState before = s.state;
  if (control.state == BfdState::kAdminDown) {
    if (before != BfdState::kDown) go(now, s, BfdState::kDown, BfdDiagnostic::kNeighborSignaledDown);
  } else if (before == BfdState::kDown) {
    if (control.state == BfdState::kDown) go(now, s, BfdState::kInit, BfdDiagnostic::kNone);
    if (control.state == BfdState::kInit) go(now, s, BfdState::kUp, BfdDiagnostic::kNone);
  } else if (before == BfdState::kInit) {
    if (control.state != BfdState::kDown) go(now, s, BfdState::kUp, BfdDiagnostic::kNone);
  } else if (control.state == BfdState::kDown) {
    go(now, s, BfdState::kDown, BfdDiagnostic::kNeighborSignaledDown);
  }
  look();
  if (s.state == before) return Change::kNone;
  if (s.state == BfdState::kUp) return Change::kUp;
  return before == BfdState::kUp ? Change::kDown : Change::kNone;
}

void Bfd::link(Instant now, PortIndex port, bool up) noexcept {
  Session& s = session(port);
  s.has_link = up;
  s.wants = false;
  if (up) {
    s.heard = now;
    go(now, s, BfdState::kUp, BfdDiagnostic::kNone);
  }
  look();
}

}  // namespace railyard
