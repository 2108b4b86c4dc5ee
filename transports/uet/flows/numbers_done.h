// Which of the numbers 0, 1, 2, ... are done, when they mostly become so in their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace railyard::uet {

class NumbersDone {
 public:
  bool has(std::uint64_t n) const noexcept { return n < next_ || std::ranges::binary_search(early_, n); }
  // Whether it was not done before.
  bool add(std::uint64_t n) {
    if (has(n)) return false;
    if (n != next_) {
      early_.insert(std::ranges::upper_bound(early_, n), n);
      return true;
    }
    ++next_;
    auto end = early_.begin();
    while (end != early_.end() && *end == next_) {
      ++next_;
      ++end;
    }
    early_.erase(early_.begin(), end);
    return true;
  }
  // Whether none is done that is as large or larger.
  bool is_after_all(std::uint64_t n) const noexcept { return n >= next_ && (early_.empty() || n > early_.back()); }
  // The first one that is not done.
  std::uint64_t next() const noexcept { return next_; }

 private:
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> early_;  // ascending
};

}  // namespace railyard::uet
