#include "control/picture/palette.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace railyard::picture {
namespace {

constexpr std::array<unsigned, 8> kRails{0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7,
                                         0x56B4E9, 0xD55E00, 0x332288, 0x999933};

std::size_t index(int rail) { return static_cast<std::size_t>(rail - 1) % kRails.size(); }

}  // namespace

const char* rail_colour(int rail) {
  static const auto names = [] {
    std::array<std::string, kRails.size()> out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = fmt::format("#{:06x}", kRails[i]);
    return out;
  }();
  return names[index(rail)].c_str();
}

std::string rail_tint(int rail) {
  constexpr unsigned kShare = 18;  // per cent of colour, the rest is white
  const unsigned colour = kRails[index(rail)];
  const auto mixed = [&](unsigned shift) {
    return (((colour >> shift) & 0xFFu) * kShare + 0xFFu * (100 - kShare)) / 100;
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(16), mixed(8), mixed(0));
}

}  // namespace railyard::picture
