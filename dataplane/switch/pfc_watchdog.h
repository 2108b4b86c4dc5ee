// The PFC watchdog: whether a lossless queue is held back by a storm of pause frames, and when that is over. As in
// SONiC (orchagent/pfcwdorch), with the rule of NVIDIA's ASICs for "stuck".
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/base/time.h"

namespace railyard {

struct PfcWatchdogConfig {
  enum class Action : std::uint8_t {
    kDrop,     // what waits in the queue is dropped, and so is what is to enter it or comes in by the port in its class
    kForward,  // the queue sends as if it were not paused
    kAlert,    // counted only
  };
  Duration detect{200'000'000'000};   // stuck for so long: a storm
  Duration restore{200'000'000'000};  // so long without being paused: over
  Duration poll{200'000'000'000};     // between two looks at the queue; detection and restoration are late by up to one
  Action action = Action::kDrop;
};

// All above 0, and poll no longer than the other two.
std::expected<void, std::string> validate(const PfcWatchdogConfig& config, const std::string& where);

// One lossless queue of one port.
class PfcWatchdog {
 public:
  // The queue as it is at a poll: totals since the beginning.
  struct Observation {
    bool waiting = false;          // it holds a frame
    std::uint64_t tx_packets = 0;  // frames sent
    std::uint64_t xoffs = 0;       // pause frames received for it
    Duration paused{};             // for how long its peer has had it paused
  };
  enum class Event : std::uint8_t { kNothing, kDetected, kRestored };

  // To be called in order of time. How long a poll stands for is the time since the last one.
  Event poll(Instant now, const Observation& seen, const PfcWatchdogConfig& config) noexcept {
    const Duration passed = now - at_;
    const Duration paused = seen.paused - last_.paused;
    const bool sent = seen.tx_packets != last_.tx_packets;
    const bool xoff = seen.xoffs != last_.xoffs;
    at_ = now;
    last_ = seen;
    if (!storm_) {
      // More than 99 % of the time.
      const bool stuck = seen.waiting && !sent && paused.ps > passed.ps - passed.ps / 100;
      for_ = stuck ? for_ + passed : Duration{};
      if (for_ < config.detect) return Event::kNothing;
      storm_ = true;
      for_ = {};
      return Event::kDetected;
    }
    // A pause that still stands is as good as a pause frame: those of a steady storm may be rarer than polls.
    for_ = xoff || paused > Duration{} ? Duration{} : for_ + passed;
    if (for_ < config.restore) return Event::kNothing;
    storm_ = false;
    for_ = {};
    return Event::kRestored;
  }

  bool storm() const noexcept { return storm_; }

 private:
  Instant at_{};
  Observation last_;
  Duration for_{};  // stuck, or in a storm quiet, without a break
  bool storm_ = false;
};

}  // namespace railyard
