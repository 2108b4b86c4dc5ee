// Octets as text (RFC 4648 §4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace railyard {

std::string base64(std::string_view octets);
// Nothing: it is none, or has characters that are not of the alphabet.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace railyard
