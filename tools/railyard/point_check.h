// Whether what is about to run can be loaded at all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "control/spec/load.h"

namespace railyard::tools {

// Some combinations of values that are each right have no meaning: their runs fail, and the others go on. A value that
// no combination can be loaded with is a mistake, and is said before anything runs.
class PointCheck {
 public:
  // `choices`: by dimension, the values of `--over` or the columns, how many there are.
  explicit PointCheck(const std::vector<std::size_t>& choices);

  // The lab of one combination (by dimension: the index of its value); nothing: it cannot be loaded. `who`, if any,
  // begins what is said of it.
  std::optional<spec::Lab> load(const std::string& file, const std::vector<std::string>& sets,
                                const std::vector<std::size_t>& point, const std::string& who = {});
  // After the last of them. Throws spec::SpecError.
  void finish() const;

 private:
  struct Value {
    bool loads = false;
    std::optional<spec::SpecError> error;  // the first
  };
  std::vector<std::vector<Value>> values_;
};

}  // namespace railyard::tools
