// Which job of training, or other work, of a lab a command is about.
#pragma once

#include <cstddef>
#include <string>

#include "control/spec/spec.h"

namespace railyard::tools {

// Its place in lab.collectives: the one called `name` (what --job said), or, without a name, the only one. Throws InputError:
// the lab of `file` has no job; std::invalid_argument: there is none of that name, or there are several.
std::size_t find_job(const spec::Lab& lab, const std::string& file, const std::string& name);

// The same of jobs of training, traces and collectives; without a name the only job, or, if there is none, the only one of all.
// Throws as find_job().
std::size_t find_work(const spec::Lab& lab, const std::string& file, const std::string& name);

}  // namespace railyard::tools
