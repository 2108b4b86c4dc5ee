// Which entropy value the next packet of a PDC has: one of the policies of this folder.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "transports/uet/multipath/bitmap.h"
#include "transports/uet/multipath/mixed.h"
#include "transports/uet/multipath/oblivious.h"
#include "transports/uet/multipath/reps.h"
#include "transports/uet/multipath/single_path.h"

namespace railyard::uet {

enum class PathPolicy : std::uint8_t { kSingle, kOblivious, kBitmap, kReps, kMixed };
constexpr std::string_view name(PathPolicy policy) noexcept {
  switch (policy) {
    case PathPolicy::kSingle:
      return "single";
    case PathPolicy::kOblivious:
      return "oblivious";
    case PathPolicy::kBitmap:
      return "bitmap";
    case PathPolicy::kReps:
      return "reps";
    case PathPolicy::kMixed:
      return "mixed";
  }
  return "";
}

struct MultipathConfig {
  PathPolicy policy = PathPolicy::kMixed;
  std::uint32_t paths = 64;  // 1..kMostPaths
  std::uint32_t recycled = MixedPaths::kMostRecycled;  // of kMixed, 1..
  RepsConfig reps{};

  bool operator==(const MultipathConfig&) const = default;
};

class PathSelector {
 public:
  PathSelector() = default;
  PathSelector(const MultipathConfig& config, RngStream& chance) {
    switch (config.policy) {
      case PathPolicy::kSingle:
        kind_ = SinglePath(static_cast<std::uint16_t>(chance.next32()));
        break;
      case PathPolicy::kOblivious:
        kind_.emplace<ObliviousPaths>(EntropySet(config.paths, chance));
        break;
      case PathPolicy::kBitmap:
        kind_.emplace<BitmapPaths>(EntropySet(config.paths, chance));
        break;
      case PathPolicy::kReps:
        kind_.emplace<RepsPaths>(EntropySet(config.paths, chance), config.reps);
        break;
      case PathPolicy::kMixed:
        kind_.emplace<MixedPaths>(EntropySet(config.paths, chance), config.recycled);
        break;
    }
  }

  // Of the packet that leaves now.
  std::uint16_t next(Instant now, RngStream& chance) noexcept {
    return std::visit([&](auto& policy) { return policy.next(now, chance); }, kind_);
  }
  // Of a packet that had `value`.
  void on_feedback(Instant now, std::uint16_t value, PathFeedback feedback) {
    std::visit([&](auto& policy) { policy.on_feedback(now, value, feedback); }, kind_);
  }

 private:
  std::variant<SinglePath, ObliviousPaths, BitmapPaths, RepsPaths, MixedPaths> kind_;
};

}  // namespace railyard::uet
