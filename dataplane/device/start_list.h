// Ports whose transmissions start at the end of the present instant, in port order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

// Nearly always one port; a port is listed once. All entries are of one instant.
class StartList {
 public:
  explicit StartList(std::size_t ports) : list_(ports), listed_(ports, 0) {}

  bool empty() const noexcept { return size_ == 0; }
  Instant at() const noexcept { return at_; }

  void add(Instant now, PortIndex port) noexcept {
    if (listed_[port.index()] != 0) return;
    listed_[port.index()] = 1;
    at_ = now;
    if (size_ > 0 && port < list_[size_ - 1]) sorted_ = false;
    list_[size_++] = port;
  }

  // Calls start(at, port) for each in port order. Nothing may be added meanwhile.
  template <class Start>
  void flush(Start&& start) {
    if (!sorted_) [[unlikely]] {
      std::sort(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(size_));
      sorted_ = true;
    }
    for (std::size_t i = 0; i < size_; ++i) {
      listed_[list_[i].index()] = 0;
      start(at_, list_[i]);
    }
    size_ = 0;
  }

 private:
  std::size_t size_ = 0;
  Instant at_{};
  bool sorted_ = true;
  std::vector<PortIndex> list_;
  std::vector<std::uint8_t> listed_;
};

}  // namespace railyard
