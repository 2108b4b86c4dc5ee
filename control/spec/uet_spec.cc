#include "control/spec/uet_spec.h"

namespace railyard::spec {

// As uet::kRefProvProfile has it (transports/uet/wire/profile.h), of what is said in a fabric file.
UetNicSpec UetNicSpec::of(UetProfile profile) {
  UetNicSpec s;
  s.profile = profile;
  if (profile == UetProfile::kStandard) return s;
  s.udp = false;
  s.ack_cc = false;
  s.window = s.mp_range = 128;
  s.path_policy = UetPathPolicy::kSingle;
  s.paths = 1;
  s.keep_alive = false;
  return s;
}

}  // namespace railyard::spec
