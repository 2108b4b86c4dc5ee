// Text in XML.
#pragma once

#include <string>
#include <string_view>

namespace railyard::picture {

// For content and for attributes in double quotes. What XML 1.0 §2.2 has no place for (most control characters, octets
// that are not UTF-8) becomes U+FFFD.
std::string escaped(std::string_view text);

}  // namespace railyard::picture
