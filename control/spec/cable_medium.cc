#include "control/spec/cable_medium.h"

#include <algorithm>
#include <array>

namespace railyard::spec {
namespace {

constexpr std::int64_t kGbps = 1'000'000'000;

constexpr std::array kMedia{
    CableMediumInfo{CableMedium::kDac, "dac", "passive copper: 1 to 5 m, the less the faster"},
    CableMediumInfo{CableMedium::kAec, "aec", "copper with retimers: 7 m"},
    CableMediumInfo{CableMedium::kSr, "sr", "multi-mode fibre: 100 m"},
    CableMediumInfo{CableMedium::kAoc, "aoc", "active optical cable: 100 m"},
    CableMediumInfo{CableMedium::kDr, "dr", "parallel single-mode fibre: 500 m"},
    CableMediumInfo{CableMedium::kFr, "fr", "single-mode fibre: 2 km"},
    CableMediumInfo{CableMedium::kLr, "lr", "single-mode fibre: 10 km"},
};

constexpr Length metres(std::int64_t m) { return {m * 1000}; }

}  // namespace

std::span<const CableMediumInfo> cable_media() { return kMedia; }

std::string_view name(CableMedium medium) {
  return std::ranges::find(kMedia, medium, &CableMediumInfo::medium)->name;
}

Length reach(CableMedium medium, BitRate rate) {
  const auto gbps = static_cast<std::int64_t>(rate.bps) / kGbps;
  switch (medium) {
    case CableMedium::kDac: return metres(gbps <= 100 ? 5 : gbps <= 400 ? 3 : gbps <= 800 ? 2 : 1);
    case CableMedium::kAec: return metres(7);
    case CableMedium::kSr:
    case CableMedium::kAoc: return metres(100);
    case CableMedium::kDr: return metres(500);
    case CableMedium::kFr: return metres(2'000);
    case CableMedium::kLr: break;
  }
  return metres(10'000);
}

}  // namespace railyard::spec
