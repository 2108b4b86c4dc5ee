// AS paths, each kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace railyard::routing::bgp {

using AsNumber = std::uint32_t;

// One of AsPaths.
using PathId = std::uint32_t;
inline constexpr PathId kNoPath = std::numeric_limits<PathId>::max();  // not reachable
inline constexpr PathId kEmptyPath = 0;                                // what an owner starts from

// A path is the number of the AS that it goes through last, before the path of who told it.
class AsPaths {
 public:
  AsPaths() : paths_{{0, kNoPath, 0, kNoPath}} {}

  PathId extend(AsNumber head, PathId tail) {
    // Switches of a tier have one number (RFC 7938): mostly it is the same again.
    if (const PathId last = paths_[tail].extended; last != kNoPath && paths_[last].head == head) return last;
    const auto [known, is_new] =
        known_.try_emplace(std::uint64_t{head} << 32 | tail, static_cast<PathId>(paths_.size()));
    if (is_new) paths_.push_back({head, tail, paths_[tail].length + 1, kNoPath});
    return paths_[tail].extended = known->second;
  }
  // Of kNoPath: more than of any path.
  std::uint32_t length(PathId path) const noexcept {
    return path == kNoPath ? std::numeric_limits<std::uint32_t>::max() : paths_[path].length;
  }
  bool contains(PathId path, AsNumber as) const noexcept {
    for (; path != kNoPath && path != kEmptyPath; path = paths_[path].tail)
      if (paths_[path].head == as) return true;
    return false;
  }
  // From the nearest to the origin's.
  std::vector<AsNumber> numbers(PathId path) const {
    std::vector<AsNumber> out;
    for (; path != kNoPath && path != kEmptyPath; path = paths_[path].tail) out.push_back(paths_[path].head);
    return out;
  }

 private:
  struct Path {
    AsNumber head;
    PathId tail;
    std::uint32_t length;
    PathId extended;  // by whom it was last
  };
  std::vector<Path> paths_;
  std::unordered_map<std::uint64_t, PathId> known_;
};

}  // namespace railyard::routing::bgp
