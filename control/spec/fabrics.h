// Several fabrics in one lab: scale-out, storage, front end, management; they share hosts.
#pragma once

#include "control/spec/draft.h"

namespace railyard::spec {

// Expands each preset of the key `fabrics` into `draft`. Switches are named after their fabric, "storage-leaf1". A host
// of a later fabric that has the name of an earlier one's is the same host: its NICs come behind those that it has.
void expand_fabrics(Draft& draft, const LinkSpec& link);

}  // namespace railyard::spec
