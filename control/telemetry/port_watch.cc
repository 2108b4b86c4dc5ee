#include "control/telemetry/port_watch.h"

#include <algorithm>

namespace railyard::telemetry {

PortWatch::PortWatch(const build::BuiltLab& lab) : lab_(lab) {
  for (const auto& device : lab.fabric().devices())
    for (std::size_t p = 0; p < device->ports(); ++p) {
      const PortRef ref{device->id(), PortIndex{static_cast<std::uint16_t>(p)}};
      ports_.push_back({.ref = ref, .rate_bps = lab.rate(ref).bps});
    }
}

void PortWatch::look(Instant at) {
  for (Port& p : ports_) look(p, at - before_);
  before_ = at;
  ++looks_;
}

void PortWatch::exchange(StateArchive& archive, const std::function<bool(DeviceId)>& which) {
  for (Port& p : ports_)
    if (which(p.ref.device)) archive(p.seen);
}

void PortWatch::look(Port& p, Duration since) const {
  constexpr double kSlow = 0.7;      // preambles and gaps take a part of the rate that depends on the frames
  constexpr double kLeastPart = 0.3;  // of the interval
  constexpr double kFrame = 9216;     // octets: the frame in transmission is in the depth, and counted as sent already
  const Device& device = lab_.fabric()[p.ref.device];
  if (device.is_elsewhere()) return;
  const bool up = device.has_signal(p.ref.port);
  const auto [depth, sent, paused, held] = device.look(p.ref.port);
  if (p.up && !up) ++p.seen.downs;
  const double could = static_cast<double>(p.rate_bps) * seconds(since) / 8;
  const double owed = std::min(static_cast<double>(p.depth) - kFrame, could);
  const bool free = p.up && up && !p.held && !held && paused == p.paused;
  if (free && could > 0 && owed >= kLeastPart * could) {
    ++p.seen.busy;
    if (static_cast<double>(sent - p.sent) < kSlow * owed) {
      ++p.seen.slow;
      p.seen.slow_octets += sent - p.sent;
      p.seen.slow_time += since;
    }
  }
  p.up = up;
  p.depth = depth;
  p.sent = sent;
  p.paused = paused;
  p.held = held;
}

}  // namespace railyard::telemetry
