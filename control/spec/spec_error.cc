#include "control/spec/spec_error.h"

#include <utility>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

// What was found is quoted, and may hold line breaks or what moves a terminal's cursor.
std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet >= 0x20 && octet != 0x7F)
      out += c;
    else
      out += c == '\n' ? std::string("\\n") : fmt::format("\\x{:02x}", octet);
  }
  return out;
}

}  // namespace

SpecError::SpecError(Place place, std::string message)
    : InputError(printable(place.file.empty() ? message : to_string(place) + ": " + message)),
      place_(std::move(place)),
      message_(printable(message)) {}

}  // namespace railyard::spec
