#include "control/picture/text_width.h"

#include <cctype>

namespace railyard::picture {
namespace {

// In ems.
double width(unsigned char c) {
  if (c >= 0xE3) return 1.0;  // CJK and what is beyond
  if (c >= 0x80) return 0.75;
  if (std::string_view(" .,:;|!'ijlI()[]/-ft").find(static_cast<char>(c)) != std::string_view::npos) return 0.39;
  if (std::string_view("mwMW@%").find(static_cast<char>(c)) != std::string_view::npos) return 0.95;
  if (std::isupper(c) != 0) return 0.7;
  return 0.62;
}

}  // namespace

double text_width(std::string_view utf8, double size, bool bold) {
  double ems = 0;
  for (const char c : utf8)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ems += width(static_cast<unsigned char>(c));
  return ems * size * (bold ? 1.08 : 1);
}

}  // namespace railyard::picture
