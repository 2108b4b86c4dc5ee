// The receive side of a NIC whose host does not take frames as they come: a buffer that pauses the sender when it
// fills.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/base/ids.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// How a host takes what arrives.
struct ReceiveConfig {
  BitRate rate{};                // at which the host empties the buffer; 0: as fast as it comes
  Bytes capacity{1 << 20};       // of the buffer, all classes together
  Bytes xoff{256 << 10};         // per class: pause the sender at or above this ...
  Bytes xon{192 << 10};          // ... and let it go at or below this
  PriorityMask lossless = 0xFF;  // classes that pause, if PFC is sent for them; the others lose what would come above
                                 // xoff, so that they do not take the memory of those that pause, ...
  PriorityMask credited = 0;     // ... but for those whose sender has credits (CBFC), and never pauses
  std::uint32_t cell = 256;      // octets; what credits count, > 0
  PriorityMask pfc = 0xFF;       // classes for which PFC is sent
};

// Frames leave in order of arrival: at a limited rate, each when the host has taken its last octet; without one, when
// the owner pops them (an attached host).
class ReceiveBuffer {
 public:
  struct Held {
    Packet* packet;
    Instant ready;  // when the host has it
    std::uint32_t octets;
    Priority priority;
  };

  ReceiveBuffer() = default;
  explicit ReceiveBuffer(const ReceiveConfig& config)
      : limits_(config.rate.bps > 0),
        limited_(limits_),
        config_(config),
        time_(config.rate.bps > 0 ? OctetTime(config.rate) : OctetTime()) {}

  // Whether frames must wait here: for the rate, or behind others that do.
  bool limited() const noexcept { return limited_; }
  // The host empties it at another rate from now on (0: as fast as it comes), or not at all. What waits begins anew.
  void set_rate(Instant now, BitRate rate, bool stopped) noexcept {
    stopped_ = stopped;
    limits_ = stopped || rate.bps > 0;
    limited_ = limits_ || !frames_.empty();
    time_ = rate.bps > 0 ? OctetTime(rate) : OctetTime();
    busy_until_ = stopped ? Instant::never() : now;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      busy_until_ = busy_until_ + time_.of(frames_[i].octets);
      frames_[i].ready = shares_bus_ ? Instant::never() : busy_until_;
    }
  }
  // Frames reach the host over a bus that others use as well: each waits until begin() is called for it. Before any comes.
  void share_bus() noexcept { shares_bus_ = true; }
  // With a shared bus, whether the oldest frame waits for it.
  bool wants_bus() const noexcept { return !stopped_ && !frames_.empty() && frames_.front().ready == Instant::never(); }
  std::uint32_t front_octets() const noexcept { return frames_.front().octets; }
  // It does now, which takes the bus so long.
  void begin(Instant now, Duration by_bus) noexcept {
    Held& front = frames_[0];
    front.ready = now + std::max(by_bus, time_.of(front.octets));
  }
  bool stopped() const noexcept { return stopped_; }
  // Classes for which PFC is sent from now on.
  void set_pfc(PriorityMask classes) noexcept { config_.pfc = classes; }
  BitRate configured_rate() const noexcept { return config_.rate; }
  bool fits(Priority p, std::uint32_t octets) const noexcept {
    return held_ + octets <= config_.capacity.n &&
           (pauses(p) || (config_.credited & bit(p)) != 0 || by_class_[p.index()] + octets <= config_.xoff.n);
  }
  bool empty() const noexcept { return frames_.empty(); }
  std::size_t size() const noexcept { return frames_.size(); }

  void push(Instant now, Packet* packet, std::uint32_t octets, Priority priority) {
    busy_until_ = std::max(busy_until_, now) + time_.of(octets);
    frames_.push({packet, shares_bus_ ? Instant::never() : busy_until_, octets, priority});
    held_ += octets;
    by_class_[priority.index()] += octets;
    cells_[priority.index()] += cells(octets);
  }
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < frames_.size(); ++i) f(*frames_[i].packet);
  }
  // The oldest frame; undefined when empty.
  Packet* front() const noexcept { return frames_.front().packet; }
  // When the oldest frame is ready; Instant::never() when empty.
  Instant next() const noexcept { return frames_.empty() ? Instant::never() : frames_.front().ready; }
  Held pop() noexcept {
    const Held h = frames_.front();
    frames_.pop();
    held_ -= h.octets;
    by_class_[h.priority.index()] -= h.octets;
    cells_[h.priority.index()] -= cells(h.octets);
    if (frames_.empty()) limited_ = limits_;
    return h;
  }

  // What is held of a class, in cells.
  std::uint32_t cells(Priority p) const noexcept { return cells_[p.index()]; }
  // Whether the sender of class `p` should be paused, given whether it is.
  bool wants_xoff(Priority p, bool is_paused) const noexcept {
    if (!pauses(p)) return false;
    const std::int64_t held = by_class_[p.index()];
    return is_paused ? held > config_.xon.n : held >= config_.xoff.n;
  }

 private:
  bool pauses(Priority p) const noexcept {
    return (config_.lossless & config_.pfc & ~unsigned{config_.credited} & bit(p)) != 0;
  }
  std::uint32_t cells(std::uint32_t octets) const noexcept { return (octets + config_.cell - 1) / config_.cell; }

  bool limits_ = false;
  bool limited_ = false;  // what every frame looks at, in the first line
  bool stopped_ = false;
  bool shares_bus_ = false;
  ReceiveConfig config_;
  OctetTime time_;
  RingQueue<Held> frames_;
  Instant busy_until_{};
  std::int64_t held_ = 0;
  std::array<std::int64_t, kPriorities> by_class_{};
  std::array<std::uint32_t, kPriorities> cells_{};
};

}  // namespace railyard
