// What stands behind a NIC, in a word.
#pragma once

#include <string>

#include "control/spec/spec.h"

namespace railyard::daemon {

// "built-in", "tap", "namespace", ...: the key of the fabric file.
std::string kind_of(const spec::Attachment& attach);

}  // namespace railyard::daemon
