// Ways to peers: address handles, and the address vector of a connected QP.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/roce/wire/udp_source_port.h"
#include "transports/verbs/objects.h"

namespace railyard::verbs {

bool address_vector(const State& state, const ibv_ah_attr& attr, roce::AddressVector& out) noexcept {
  // RoCE packets always have a GRH, which is the IP header (IBTA Annex A17).
  if (attr.is_global == 0 || attr.port_num > 1 || attr.grh.sgid_index >= state.gids.size()) return false;
  const application::NicGrant& grant = state.nic->grant();
  std::memcpy(out.destination.octets.data(), attr.grh.dgid.raw, out.destination.octets.size());
  out.source = state.gids[attr.grh.sgid_index];
  if (out.source.is_v4() != out.destination.is_v4() || out.destination.is_unspecified() ||
      out.destination.is_multicast())
    return false;
  out.source_mac = grant.mac;
  out.next_hop_mac = grant.next_hop;
  const std::uint8_t octet =
      attr.grh.traffic_class != 0 ? attr.grh.traffic_class : state.nic->settings().default_traffic_class;
  out.dscp = octet >> 2;
  out.ect = (octet & 3) != 0;
  // Not what the application says: Linux, too, takes that of the route (ib_resolve_unicast_gid_dmac), and programs
  // say 1.
  out.hop_limit = 64;
  out.priority = Priority{grant.dscp_to_class[out.dscp]};
  out.source_port = roce::source_port(attr.grh.flow_label & 0xFFFFF);
  return true;
}

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  State& state = state_of(pd->context);
  roce::AddressVector av;
  if (!address_vector(state, *attr, av)) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const ah = new AhObject{};
  const std::lock_guard lock(state.nic->mutex());
  if (state.open.ahs >= kMostAhs) {
    delete ah;
    errno = ENOMEM;
    return nullptr;
  }
  ++state.open.ahs;
  if (state.free_ahs.empty()) {
    ah->id = state.nic->engine().create_ah(av);
  } else {
    ah->id = state.free_ahs.back();
    state.free_ahs.pop_back();
    state.nic->engine().modify_ah(ah->id, av);
  }
  ++object_of<PdObject>(pd).users;
  return &ah->ah;
}

int destroy_ah(ibv_ah* handle) {
  auto& ah = object_of<AhObject>(handle);
  State& state = state_of(handle->context);
  {
    const std::lock_guard lock(state.nic->mutex());
    state.free_ahs.push_back(ah.id);
    --state.open.ahs;
    --object_of<PdObject>(handle->pd).users;
  }
  delete &ah;
  return 0;
}

}  // namespace railyard::verbs
