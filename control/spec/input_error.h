// A file that a command was to read is missing, or is not what it should be.
#pragma once

#include <stdexcept>

namespace railyard {

// Every command ends with the same exit code for it. The message names the file.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace railyard
