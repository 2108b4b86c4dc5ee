// From the tree of a fabric file to a lab.
#pragma once

#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// Reads, expands and checks. Throws SpecError.
Lab read_lab(const Tree& document);

}  // namespace railyard::spec
