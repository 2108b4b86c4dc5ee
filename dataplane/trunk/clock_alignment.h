// How the clock of a trunk's far end stands to ours: four instants per exchange of pings (NTP, RFC 5905 §8).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard {

// One way there and one back. Instants of the far end are of its own modelled time.
struct PingExchange {
  Instant sent;           // ours: t1
  Instant peer_received;  // t2
  Instant peer_sent;      // t3
  Instant received;       // ours: t4
};

// An exchange tells the offset to within half its round trip, whatever the delays each way. The exchange with the
// shortest round trip of the last ones is believed. One that contradicts it says that a clock has jumped (modelled time
// slips, a lab is paused): then all before it is forgotten.
class ClockAlignment {
 public:
  void add(const PingExchange& exchange) noexcept;
  void forget() noexcept { count_ = 0; }

  bool known() const noexcept { return count_ > 0; }
  // What to add to an instant of ours to get the far end's; known().
  Duration offset() const noexcept { return best().offset; }
  // Without the time that the far end took to answer.
  Duration round_trip() const noexcept { return best().round_trip; }
  Instant ours(Instant of_peer) const noexcept { return of_peer - offset(); }
  std::uint64_t jumps() const noexcept { return jumps_; }

 private:
  // What two ordinary clocks may drift apart, and what an instant is rounded by.
  static constexpr std::int64_t kDriftPpm = 200;
  static constexpr Duration kRounding{1'000'000};
  static constexpr std::size_t kSamples = 32;

  struct Sample {
    Duration offset;
    Duration round_trip;
    Instant at;
  };
  const Sample& best() const noexcept;

  std::array<Sample, kSamples> samples_{};
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::uint64_t jumps_ = 0;
};

}  // namespace railyard
