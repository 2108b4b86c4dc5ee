// What holds in the place of something configured, for as long as somebody wants it so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace railyard {

// Values by who put them there; the last one that began holds. Few at a time, and none mostly.
template <class T>
class Overrides {
 public:
  bool empty() const noexcept { return values_.empty(); }
  // What holds; not when empty().
  const T& last() const noexcept { return values_.back().second; }

  void begin(std::uint32_t owner, T value) { values_.emplace_back(owner, std::move(value)); }
  // False: `owner` has put nothing there.
  bool end(std::uint32_t owner) {
    const auto found = std::ranges::find(values_, owner, &std::pair<std::uint32_t, T>::first);
    if (found == values_.end()) return false;
    values_.erase(found);
    return true;
  }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [owner, value] : values_) f(value);
  }

 private:
  std::vector<std::pair<std::uint32_t, T>> values_;
};

}  // namespace railyard
