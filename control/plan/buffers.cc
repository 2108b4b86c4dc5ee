#include "control/plan/buffers.h"

#include "control/spec/spec.h"
#include "dataplane/device/pause_response.h"

namespace railyard::plan {
namespace {

HeadroomOfLink headroom_of(Length cable, BitRate rate, const SwitchChoice& chosen) {
  HeadroomOfLink out{.cable = cable, .terms = {}};
  out.terms.rate = rate;
  out.terms.propagation = spec::propagation(cable);
  out.terms.peer_response = standard_pause_response(rate);
  out.terms.rx_latency = chosen.profile.latency;
  out.octets = headroom_octets(out.terms);
  out.mix = worst_headroom_mix(out.terms, chosen.profile.cell);
  out.buffer = chosen.profile.cell * out.mix.cells();
  return out;
}

}  // namespace

Buffers buffers(const Request& r, const Shape& s, const SwitchChoice& chosen) {
  Buffers out;
  out.node = headroom_of(r.used_node_cable(), s.nic_rate, chosen);
  if (s.up > 0) out.fabric = headroom_of(r.fabric_cable, s.port_rate, chosen);
  if (s.spine_up > 0) out.core = headroom_of(r.core_cable, s.port_rate, chosen);
  const int nics = s.nodes_per_group * s.rails_per_leaf;
  out.leaf = Bytes{r.lossless_classes * (nics * out.node.buffer.n + s.up * out.fabric.buffer.n)};
  out.left_leaf = chosen.profile.buffer - out.leaf;
  if (s.tiers == 1) return out;
  out.spine_down = (s.tiers == 3 ? s.leaves_per_pod() : s.later.leaves) * s.uplinks_per_spine;
  out.spine = Bytes{r.lossless_classes * (out.spine_down * out.fabric.buffer.n + s.spine_up * out.core.buffer.n)};
  out.left_spine = chosen.profile.buffer - out.spine;
  return out;
}

}  // namespace railyard::plan
