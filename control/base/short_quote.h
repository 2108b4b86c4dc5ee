// What a user wrote, as it stands in one line of an error or a log.
#pragma once

#include <string>
#include <string_view>

namespace railyard {

// Without line breaks and control characters: "\n" and "\x1b" are spelt out, so that a terminal does nothing.
std::string printable(std::string_view text);

// A message that may quote something huge: each run of more than 120 octets without a blank (500 with a '/', as paths
// of files are said whole), and each text of more than 120 in single quotes, keeps its first 60 octets and says how
// many were left out; so does the message itself beyond 4,000 octets.
std::string with_short_quotes(const std::string& message);

}  // namespace railyard
