// What the ends of a link set aside for each other where a class has credit-based flow control (CBFC).
#pragma once

#include <optional>

#include "control/spec/spec.h"
#include "dataplane/device/credit_config.h"

namespace railyard::build {

// Of what comes in by `end` of `link`; nothing: no class there has credits. `credits: auto` is what keeps a link busy:
// all that is sent, in frames of any size, until the first of it has been taken, has left by another port of the same
// rate, and an update about it has come back. Throws spec::SpecError where credits would never let a frame of the link
// through, or are more than a NIC has room for.
std::optional<CreditConfig> credits_at(const spec::Lab& lab, const spec::LinkSpec& link, const spec::PortName& end);

}  // namespace railyard::build
