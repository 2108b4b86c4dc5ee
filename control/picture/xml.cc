#include "control/picture/xml.h"

#include <cstddef>
#include <cstdint>

namespace railyard::picture {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Octets of the character of UTF-8 (RFC 3629 §4) that `text` begins with; 0: none that XML may contain.
std::size_t character(std::string_view text) {
  const auto octet = [&](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = octet(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t n = first >= 0xC2 && first < 0xE0   ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (n == 0 || text.size() < n) return 0;
  std::uint32_t code = first & (0xFFu >> (n + 1));
  for (std::size_t i = 1; i < n; ++i) {
    if ((octet(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (octet(i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF)
    return 0;
  return n;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = character(text);
    if (n == 0)
      out += kReplacement;
    else if (text[0] == '&')
      out += "&amp;";
    else if (text[0] == '<')
      out += "&lt;";
    else if (text[0] == '>')
      out += "&gt;";
    else if (text[0] == '"')
      out += "&quot;";
    else if (text[0] == '\'')
      out += "&apos;";
    else
      out += text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

}  // namespace railyard::picture
