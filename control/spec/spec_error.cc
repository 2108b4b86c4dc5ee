#include "control/spec/spec_error.h"

#include <utility>

#include "control/base/short_quote.h"

namespace railyard::spec {

SpecError::SpecError(Place place, std::string message)
    : std::runtime_error(printable(place.file.empty() ? with_short_quotes(message)
                                                      : to_string(place) + ": " + with_short_quotes(message))),
      place_(std::move(place)),
      message_(printable(with_short_quotes(message))) {}

}  // namespace railyard::spec
