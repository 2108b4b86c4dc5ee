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
  explicit StartList(std::size_t ports) : listed_(ports, 0) { list_.reserve(ports); }

  bool empty() const noexcept { return list_.empty(); }
  Instant at() const noexcept { return at_; }

  void add(Instant now, PortIndex port) {
    if (listed_[port.index()] != 0) return;
    listed_[port.index()] = 1;
    at_ = now;
    if (!list_.empty() && port < list_.back()) sorted_ = false;
    list_.push_back(port);
  }

  // Calls start(at, port) for each in port order. Nothing may be added meanwhile.
  template <class Start>
  void flush(Start&& start) {
    if (!sorted_) {
      std::sort(list_.begin(), list_.end());
      sorted_ = true;
    }
    for (const PortIndex p : list_) {
      listed_[p.index()] = 0;
      start(at_, p);
    }
    list_.clear();
  }

 private:
  std::vector<PortIndex> list_;
  std::vector<std::uint8_t> listed_;
  Instant at_{};
  bool sorted_ = true;
};

}  // namespace railyard
