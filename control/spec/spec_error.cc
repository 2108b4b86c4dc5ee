#include "control/spec/spec_error.h"

#include <utility>

namespace railyard::spec {

SpecError::SpecError(Place place, std::string message)
    : std::runtime_error(to_string(place) + ": " + message), place_(std::move(place)), message_(std::move(message)) {}

}  // namespace railyard::spec
