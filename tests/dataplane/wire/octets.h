// Frames in tests: written and shown in hexadecimal, taken apart and put together again field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/wire/field.h"

namespace railyard::wire {

using Octets = std::vector<std::byte>;

// "01 80c2" as octets; spaces and line ends are skipped.
inline Octets hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  Octets octets;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    if (high < 0) {
      high = digit(c);
    } else {
      octets.push_back(static_cast<std::byte>(high << 4 | digit(c)));
      high = -1;
    }
  }
  return octets;
}

inline std::string to_hex(std::span<const std::byte> octets) {
  std::string text;
  for (const std::byte octet : octets) {
    text += "0123456789abcdef"[static_cast<unsigned>(octet) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned>(octet) & 0xF];
  }
  return text;
}

// A header made of nothing but the values of its fields: equal to the original if the fields say all of it.
template <std::size_t octets, class... Fields>
Octets reencoded(const std::byte* header) {
  Octets copy(octets);
  (write<Fields>(copy.data(), read<Fields>(header)), ...);
  return copy;
}

inline Octets first(const std::byte* header, std::size_t octets) { return {header, header + octets}; }

}  // namespace railyard::wire
