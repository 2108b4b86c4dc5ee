#include "control/base/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace railyard {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 64;

constexpr std::array<std::uint8_t, 256> values() {
  std::array<std::uint8_t, 256> out{};
  out.fill(kNone);
  for (std::uint8_t i = 0; i < kNone; ++i) out[static_cast<std::uint8_t>(kAlphabet[i])] = i;
  return out;
}
constexpr std::array<std::uint8_t, 256> kValues = values();

}  // namespace

std::string base64(std::string_view octets) {
  std::string out;
  out.reserve((octets.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < octets.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, octets.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<std::uint8_t>(octets[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t n = 4;  // characters that count
    if (i + 4 == text.size())
      while (n > 2 && text[i + n - 1] == '=') --n;
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint8_t value = k < n ? kValues[static_cast<std::uint8_t>(text[i + k])] : std::uint8_t{0};
      if (value == kNone) return std::nullopt;
      bits = bits << 6 | value;
    }
    for (std::size_t k = 0; k + 1 < n; ++k) out += static_cast<char>(bits >> (16 - 8 * k) & 255);
  }
  return out;
}

}  // namespace railyard
