#include "control/spec/uet_spec.h"

#include "transports/uet/wire/profile.h"

namespace railyard::spec {

const uet::Profile& profile_of(UetProfile profile) noexcept {
  return profile == UetProfile::kRefProv ? uet::kRefProvProfile : uet::kStandardProfile;
}

UetNicSpec UetNicSpec::of(UetProfile profile) {
  UetNicSpec s;
  s.profile = profile;
  if (profile == UetProfile::kStandard) return s;
  const uet::Profile& p = profile_of(profile);
  s.udp = p.encapsulation.udp;
  s.udp_port = p.encapsulation.udp_port;
  s.ip_protocol = p.encapsulation.ip_protocol;
  s.crc = p.encapsulation.crc;
  s.control_dscp = p.encapsulation.dscp.control;
  s.ack_cc = p.ack_cc;
  s.window = s.mp_range = static_cast<int>(p.window);
  s.paths = static_cast<int>(p.paths);
  if (s.paths == 1) s.path_policy = UetPathPolicy::kSingle;
  s.keep_alive = p.keep_alive;
  return s;
}

}  // namespace railyard::spec
