// AS paths, each kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
    if (2 * paths_.size() > known_.size()) grow();
    PathId& known = known_[place(head, tail)];
    if (known == kNoPath) {
      known = static_cast<PathId>(paths_.size());
      paths_.push_back({head, tail, paths_[tail].length + 1, kNoPath});
    }
    return paths_[tail].extended = known;
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
  // Where in `known_` that path is, or would be.
  std::size_t place(AsNumber head, PathId tail) const noexcept {
    const std::uint64_t mixed = (std::uint64_t{head} << 32 | tail) * 0x9E37'79B9'7F4A'7C15;
    for (std::size_t at = mixed >> 32;; ++at) {
      const PathId known = known_[at &= known_.size() - 1];
      if (known == kNoPath || (paths_[known].head == head && paths_[known].tail == tail)) return at;
    }
  }
  void grow() {
    known_.assign(known_.size() * 2, kNoPath);
    for (PathId p = 1; p < paths_.size(); ++p) known_[place(paths_[p].head, paths_[p].tail)] = p;
  }

  std::vector<Path> paths_;
  std::vector<PathId> known_ = std::vector<PathId>(1024, kNoPath);  // open addressing; a power of two
};

}  // namespace railyard::routing::bgp
