#include "control/spec/check/check.h"

namespace railyard::spec {

// Packets of BFD go on for ever.
void check_routing(const Draft& draft) {
  const Lab& lab = draft.lab;
  if (!lab.routing.bfd || lab.run.clock != Clock::kVirtual || lab.run.duration) return;
  draft.sections.routing->at_or_self("bfd").fail("BFD never stops sending, and the run has no end; expected run.duration");
}

}  // namespace railyard::spec
