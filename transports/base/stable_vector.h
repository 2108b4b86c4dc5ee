// A vector whose elements stay where they are when it grows, and whose place is two loads away: std::deque divides.
#pragma once

#include <cstddef>
#include <ranges>
#include <utility>
#include <vector>

namespace railyard {

template <class T>
class StableVector {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  // `i` < size().
  T& operator[](std::size_t i) noexcept { return chunks_[i >> kBits][i & kMask]; }
  const T& operator[](std::size_t i) const noexcept { return chunks_[i >> kBits][i & kMask]; }
  T& front() noexcept { return (*this)[0]; }
  T& back() noexcept { return (*this)[size_ - 1]; }

  // All of them, in their order.
  auto all() const { return chunks_ | std::views::join; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ >> kBits == chunks_.size()) {
      chunks_.emplace_back();
      chunks_.back().reserve(kMask + 1);  // never grows
    }
    T& made = chunks_.back().emplace_back(std::forward<Args>(args)...);
    ++size_;
    return made;
  }
  void push_back(T value) { emplace_back(std::move(value)); }

 private:
  static constexpr unsigned kBits = 4;
  static constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;

  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace railyard
