// Settings of the command line that a column of a comparison would undo without a word.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "control/compare/overrides.h"

namespace railyard::compare {

// A setting, "qos.default.classes.3.path=spray", and what the column puts on top of it.
struct Clash {
  std::string setting;
  Override by;

  // The column takes the value away, as it has no meaning with the column's words: `queue-limit` of a lossless class.
  bool removes() const { return by.set.ends_with('='); }
  bool operator==(const Clash&) const = default;
};

// Of `settings`, applied to the file before the column's `overrides`: those whose value does not remain, in order. A
// column that says the same is no clash. What cannot be applied at all is not found here (SpecError of load()).
std::vector<Clash> clashes(const std::filesystem::path& file, const std::vector<std::string>& settings,
                           const std::vector<Override>& overrides);

}  // namespace railyard::compare
