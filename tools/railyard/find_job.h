// Which job of training of a lab a command is about.
#pragma once

#include <cstddef>
#include <string>

#include "control/spec/spec.h"

namespace railyard::tools {

// Its place in lab.collectives: the one called `name` (what --job said), or, without a name, the only one. Throws InputError:
// the lab of `file` has no job; std::invalid_argument: there is none of that name, or there are several.
std::size_t find_job(const spec::Lab& lab, const std::string& file, const std::string& name);

}  // namespace railyard::tools
