#include "control/base/short_quote.h"

#include <algorithm>
#include <cstddef>

namespace railyard {
namespace {

constexpr std::size_t kLongestQuote = 120;
constexpr std::size_t kLongestPath = 500;
constexpr std::size_t kKept = 60;
constexpr std::size_t kLongestMessage = 4'000;

// Where a cut of UTF-8 text may be made: not inside of a character.
std::size_t character_boundary(std::string_view text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

void append_shortened(std::string& out, std::string_view text, std::size_t most, std::size_t kept) {
  if (text.size() <= most) {
    out += text;
    return;
  }
  const std::size_t cut = character_boundary(text, kept);
  out += text.substr(0, cut);
  out += "... (" + std::to_string(text.size() - cut) + " more)";
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet >= 0x20 && octet != 0x7F) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += "\\x";
      out += kHex[octet >> 4];
      out += kHex[octet & 15];
    }
  }
  return out;
}

std::string with_short_quotes(const std::string& message) {
  if (message.size() <= kLongestQuote) return message;
  std::string out;
  const std::string_view text = message;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ') {
      out += c;
      ++i;
      continue;
    }
    // A quotation begins at a word's begin: elsewhere ' is an apostrophe.
    if (c == '\'') {
      const std::size_t end = text.find('\'', i + 1);
      if (end != text.npos && end - i > kLongestQuote) {
        out += c;
        append_shortened(out, text.substr(i + 1, end - i - 1), kLongestQuote, kKept);
        i = end;
        out += text[i++];
        continue;
      }
    }
    const std::size_t blank = std::min(text.find(' ', i + 1), text.size());
    const std::string_view word = text.substr(i, blank - i);
    append_shortened(out, word, word.contains('/') ? kLongestPath : kLongestQuote, kKept);
    i = blank;
  }
  std::string whole;
  append_shortened(whole, out, kLongestMessage, kLongestMessage / 2);
  return whole;
}

}  // namespace railyard
