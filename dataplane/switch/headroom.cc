#include "dataplane/switch/headroom.h"

#include "dataplane/packet/packet.h"
#include "dataplane/switch/headroom_mix.h"

namespace railyard {

Bytes headroom_octets(const HeadroomTerms& t) noexcept {
  const Duration waiting = 2 * t.propagation + t.peer_response + t.rx_latency + t.retry;
  // One more octet: the waiting time is rounded down to whole octets.
  return Bytes{t.framing.slot(t.own_frame)} + Bytes{t.framing.slot(kLeastFrameOctets)} + t.rate * waiting + Bytes{1} +
         Bytes{t.framing.slot(t.peer_frame)};
}

HeadroomMix worst_headroom_mix(const HeadroomTerms& t, Bytes cell) noexcept {
  const std::int64_t around = t.framing.around();
  // The dearest frames per octet of wire time are those just above a multiple of the cell, or the shortest.
  const std::int64_t wire = headroom_octets(t).n;
  HeadroomMix worst;
  const auto consider = [&](std::int64_t s) {
    if (s < t.least_frame || s > t.peer_frame) return;
    const HeadroomMix mix{s, (wire + s + around - 1) / (s + around), (s + cell.n - 1) / cell.n};
    if (mix.cells() > worst.cells()) worst = mix;
  };
  consider(t.least_frame);
  for (std::int64_t s = t.least_frame / cell.n * cell.n + 1; s <= t.peer_frame; s += cell.n) consider(s);
  consider(t.peer_frame);
  return worst;
}

std::uint32_t headroom_cells(const HeadroomTerms& t, Bytes cell) noexcept {
  return static_cast<std::uint32_t>(worst_headroom_mix(t, cell).cells());
}

}  // namespace railyard
