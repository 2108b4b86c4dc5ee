// What a column of a comparison changes in a lab, as settings of the command line (--set).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/spec/column.h"
#include "control/spec/spec.h"

namespace railyard::compare {

struct Override {
  std::string set;   // "path=value"
  std::string word;  // of the column that asks for it, "ecmp"; empty: the column's own setting, behind its words

  bool operator==(const Override&) const = default;
};

// For all of the lab's traffic and collectives between RDMA NICs, their NICs, and the classes that carry them; traffic
// of the generator is background, and stays. The column's own settings come last. Throws std::invalid_argument: the lab
// has nothing that a transport carries; a word cannot be had here (`trim` without a class for what is trimmed).
// `is_said`: whether the file has a key ("traffic.all.service"): what it says of the other transport is taken away.
std::vector<Override> overrides(const spec::Lab& lab, const spec::Column& column,
                                const std::function<bool(const std::string& path)>& is_said);
// Without the words.
std::vector<std::string> sets_of(const std::vector<Override>& overrides);

}  // namespace railyard::compare
