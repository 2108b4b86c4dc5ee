// A tournament over a fixed number of slots: the smallest of n keys in one load, a changed key in log2(n) steps without a
// branch. This is the event queue of a device: one slot per port.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace railyard {

class MinTree {
 public:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  MinTree() : MinTree(1) {}
  explicit MinTree(std::size_t slots)
      : leaves_(std::bit_ceil(slots < 2 ? std::size_t{2} : slots)), nodes_(2 * leaves_, kEmpty) {}

  // The smallest key of all, kEmpty if there is none.
  std::uint64_t min() const noexcept { return nodes_[1]; }
  std::uint64_t operator[](std::size_t slot) const noexcept { return nodes_[leaves_ + slot]; }

  // The smallest key of all the others.
  std::uint64_t min_without(std::size_t slot) const noexcept {
    const std::uint64_t* const nodes = nodes_.data();
    std::uint64_t least = kEmpty;
    for (std::size_t i = leaves_ + slot; i > 1; i >>= 1) {
      const std::uint64_t other = nodes[i ^ 1];
      least = other < least ? other : least;
    }
    return least;
  }

  void set(std::size_t slot, std::uint64_t key) noexcept {
    std::uint64_t* const nodes = nodes_.data();
    std::size_t i = leaves_ + slot;
    nodes[i] = key;
    while (i > 1) {
      const std::uint64_t other = nodes[i ^ 1];
      key = other < key ? other : key;
      i >>= 1;
      nodes[i] = key;
    }
  }

 private:
  std::size_t leaves_;
  std::vector<std::uint64_t> nodes_;  // nodes_[1] is the root; leaf s is nodes_[leaves_ + s]
};

}  // namespace railyard
