#include "control/spec/spec_error.h"

#include <cstddef>
#include <utility>

#include "control/base/short_quote.h"

namespace railyard::spec {
namespace {

// A path is said whole; what --set was told may be huge.
std::string where(const Place& place) {
  constexpr std::size_t kLongestPath = 500;
  const std::string text = to_string(place);
  return text.size() > kLongestPath ? with_short_quotes(text) : text;
}

}  // namespace

SpecError::SpecError(Place place, std::string message)
    : InputError(printable(place.file.empty() ? with_short_quotes(message)
                                              : where(place) + ": " + with_short_quotes(message))),
      place_(std::move(place)),
      message_(printable(with_short_quotes(message))) {}

}  // namespace railyard::spec
