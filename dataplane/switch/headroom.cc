#include "dataplane/switch/headroom.h"

#include <algorithm>

#include "dataplane/packet/packet.h"

namespace railyard {

Bytes headroom_octets(const HeadroomTerms& t) noexcept {
  const Duration waiting = 2 * t.propagation + t.peer_response + t.rx_latency + t.retry;
  // One more octet: the waiting time is rounded down to whole octets.
  return Bytes{t.framing.slot(t.own_frame)} + Bytes{t.framing.slot(kLeastFrameOctets)} + t.rate * waiting + Bytes{1} +
         Bytes{t.framing.slot(t.peer_frame)};
}

std::uint32_t headroom_cells(const HeadroomTerms& t, Bytes cell) noexcept {
  const std::int64_t around = t.framing.around();
  const auto cells = [&](std::int64_t octets) { return (octets + cell.n - 1) / cell.n; };
  // The dearest frames per octet of wire time are those just above a multiple of the cell, or the shortest.
  const std::int64_t wire = headroom_octets(t).n;
  std::int64_t worst = 0;
  const auto consider = [&](std::int64_t s) {
    if (s < t.least_frame || s > t.peer_frame) return;
    worst = std::max(worst, (wire + s + around - 1) / (s + around) * cells(s));
  };
  consider(t.least_frame);
  consider(t.peer_frame);
  for (std::int64_t s = t.least_frame / cell.n * cell.n + 1; s <= t.peer_frame; s += cell.n) consider(s);
  return static_cast<std::uint32_t>(worst);
}

}  // namespace railyard
