// The one error of this room: something in a fabric file is not as it should be.
#pragma once

#include <string>

#include "control/spec/input_error.h"
#include "control/spec/spec.h"

namespace railyard::spec {

// what() is "x.yaml:12:5: qos.default.classes.3.ecn.kmin: 2MB is above kmax (1MB); expected kmin <= kmax".
class SpecError : public InputError {
 public:
  // `message` begins with the path of the key, if there is one. Without a file the place is left out.
  // Control characters in either are escaped: it is one line.
  SpecError(Place place, std::string message);

  const Place& place() const noexcept { return place_; }
  // Without the place.
  const std::string& message() const noexcept { return message_; }

 private:
  Place place_;
  std::string message_;
};

}  // namespace railyard::spec
