#include "control/spec/uet_spec.h"

namespace railyard::spec {

// UET page §12: over IP without UDP, and the state for congestion control is ignored.
UetNicSpec UetNicSpec::of(UetProfile profile) {
  UetNicSpec s;
  s.profile = profile;
  if (profile == UetProfile::kStandard) return s;
  s.udp = false;
  s.ack_cc = false;
  return s;
}

}  // namespace railyard::spec
