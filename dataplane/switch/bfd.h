// Bidirectional Forwarding Detection (RFC 5880), asynchronous mode: a session for each link to another switch. It finds
// failures that leave the signal on: a link that loses all frames one way, a port that drops them silently.
//
// All sessions are up at the start. DEVIATION: when a link's signal comes back, its session is taken for up at once, and
// not by a handshake; it goes down if nothing is heard for the detection time.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/planted_bug.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/wire/bfd_control.h"

namespace railyard {

struct BfdConfig {
  Duration interval{};      // DesiredMinTxInterval and RequiredMinRxInterval, whole microseconds; > 0
  int multiplier = 3;       // DetectMult, 1..255
  bool operator==(const BfdConfig&) const = default;
};

class Bfd {
 public:
  // A session for each port of `ports`. Both ends of a link have the same `config`.
  Bfd(const BfdConfig& config, const std::vector<PortIndex>& ports, RngStream chance);

  enum class Change : std::uint8_t { kNone, kDown, kUp };

  bool has(PortIndex port) const noexcept {
    return port.index() < by_port_.size() && by_port_[port.index()] != kNobody;
  }
  // When on_time() has something to do.
  Instant due() const noexcept { return due_; }
  // Calls `changed(port)` for each session that has gone down because nothing was heard, and `send(port)` where a packet
  // is to be sent.
  template <class Changed, class Send>
  void on_time(Instant now, Changed changed, Send send) {
    if (now < due_) return;
    for (Session& s : sessions_) {
      if (!s.has_link) continue;
      if (expires(s) && now - s.heard >= detection_time()) {
        const bool was_up = s.state == wire::BfdState::kUp;
        go(now, s, wire::BfdState::kDown, wire::BfdDiagnostic::kDetectionTimeExpired);
        if (was_up) changed(s.port);
      }
      if (s.send_at > now) continue;
      s.wants = true;
      s.send_at = now + period(s);
      send(s.port);
    }
    look();
  }
  // Of a port that has one. The packet to send, if one is due; it is taken.
  bool wants(PortIndex port) const noexcept { return has(port) && session(port).wants; }
  wire::BfdControl take(PortIndex port) noexcept;
  // RFC 5880, section 6.8.6. What has changed for others; a packet may be due at once.
  Change hear(Instant now, PortIndex port, const wire::BfdControl& control) noexcept;
  void link(Instant now, PortIndex port, bool up) noexcept;

  wire::BfdState state(PortIndex port) const noexcept { return session(port).state; }
  // For how long nothing has been heard, of a session that is up and whose link is there; else 0.
  Duration silence(Instant now, PortIndex port) const noexcept {
    const Session& s = session(port);
    return s.has_link && s.state == wire::BfdState::kUp ? now - s.heard : Duration{};
  }
  Duration detection_time() const noexcept { return config_.interval * config_.multiplier; }

 private:
  static constexpr std::uint16_t kNobody = 0xFFFF;
  struct Session {
    PortIndex port;
    wire::BfdState state = wire::BfdState::kUp;
    wire::BfdDiagnostic diagnostic = wire::BfdDiagnostic::kNone;
    std::uint32_t peer = 0;  // its discriminator
    Instant heard{};
    Instant send_at{};
    bool has_link = true;
    bool wants = false;
  };
  Session& session(PortIndex port) noexcept { return sessions_[by_port_[port.index()]]; }
  const Session& session(PortIndex port) const noexcept { return sessions_[by_port_[port.index()]]; }
  void go(Instant now, Session& s, wire::BfdState state, wire::BfdDiagnostic why) noexcept;
  Duration period(const Session& s) noexcept;
  static bool expires(const Session& s) noexcept {
    return s.state != wire::BfdState::kDown && !planted(PlantedBug::kBfdNeverFires);
  }
  void look() noexcept;

  BfdConfig config_;
  RngStream chance_;
  std::vector<Session> sessions_;
  std::vector<std::uint16_t> by_port_;
  Instant due_ = Instant::never();
};

}  // namespace railyard
