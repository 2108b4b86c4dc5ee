// What somebody who reads a comparison should know of it.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::compare {

// Background that is not the same in all columns: traffic of the generator stays as it is, but in a class whose path or
// loss the columns change it is carried in another way in each. A line for each such traffic; `labs`: one per column.
std::vector<std::string> background_notes(const std::vector<spec::Lab>& labs);

}  // namespace railyard::compare
