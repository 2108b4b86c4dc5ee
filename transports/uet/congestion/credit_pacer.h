// Receiver credit (RCCC, UE-Spec 1.0 §3.6.14; uet §9.6) at a receiver: one pacer for its port grants credit to senders in turn,
// as fast as the link takes what they send for it. rccc.h is the other end.
//
//   waiting: senders that want more than they have -> each turn a grant
//   idle:    those that have what they wanted      -> the same, while nobody waits, up to max_ahead: their next data need
//                                                     not wait for a round trip
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/base/ring_queue.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/uet/congestion/core_rate.h"
#include "transports/uet/congestion/credit.h"

namespace railyard::uet {

struct CreditPacerConfig {
  BitRate rate{100'000'000'000};      // of the link
  double rate_share = 0.99;           // of it is granted
  std::uint32_t grant = 4 * 4096;     // octets of a turn: four MTU
  std::int64_t max_ahead = 225'000;   // octets for a sender beyond what it asked for, and asked for at most: 3/2 BDP
  double on_wire = 4234.0 / 4164.0;   // octets on the link for each octet of credit: of a full packet
  // Above 0: by how much the fabric in front of the link is oversubscribed. It grants less where that has no room
  // (core_rate.h).
  double oversubscription = 0;
  Duration base_rtt{12'000'000};  // of that fabric
};

// What one sender has been granted: part of its PDC.
struct CreditLine {
  Credit granted{};
  Credit target{};       // what it has asked for
  bool asks = false;     // its packets say what it wants
  bool waits = false;    // in one line or the other
  bool idles = false;

  std::int32_t owed() const noexcept { return target - granted; }
};

class CreditPacer {
 public:
  CreditPacer(const CreditPacerConfig& config, RngStream chance) noexcept;

  // A packet of sender `id` says that it wants all up to `target`. Who lies about that gains nothing but its turns. The
  // next turn is not before `now`.
  void on_demand(Instant now, std::uint32_t id, CreditLine& line, Credit target);
  // A data packet has come of a sender that asks for credit.
  void on_packet(Instant now, bool marked, bool trimmed, bool last_hop) noexcept {
    if (config_.oversubscription > 0) core_.on_packet(now, marked, trimmed, last_hop);
  }
  // When it is somebody's turn; Instant::never(): nobody's.
  Instant next() const noexcept { return waiting_.empty() && idle_.empty() ? Instant::never() : next_; }
  // Takes out whose turn it is; there is somebody. It may be gone since.
  std::uint32_t take() noexcept;
  // Its turn at `at`: whether it is granted anything.
  bool grant(Instant at, std::uint32_t id, CreditLine& line);

  const CreditPacerConfig& config() const noexcept { return config_; }

 private:
  Duration takes(std::uint32_t units) const noexcept {
    return {static_cast<std::int64_t>(unit_ps_ * units / core_.share())};
  }

  RingQueue<std::uint32_t> waiting_;
  RingQueue<std::uint32_t> idle_;
  bool of_idle_ = false;  // whom take() took was idle
  Instant next_{};
  double unit_ps_;
  CoreRate core_;
  CreditPacerConfig config_;
};

}  // namespace railyard::uet
