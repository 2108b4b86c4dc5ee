// What an RC responder remembers of the READs and atomics that it has answered, so that it can answer them again
// (roce-and-lossless §5.10): a ring of as many as the peer may have outstanding, the oldest recycled first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/roce/psn.h"

namespace railyard::roce {

struct ResponderResource {
  enum class Kind : std::uint8_t { kFree, kRead, kAtomic };
  Kind kind = Kind::kFree;
  bool waits = false;  // its answer has not been sent whole
  Psn first{};
  std::uint32_t psns = 1;
  std::uint64_t address = 0;  // READ
  std::uint32_t r_key = 0;
  std::uint32_t octets = 0;
  std::uint64_t original = 0;  // atomic: what was there before

  Psn past() const noexcept { return first + psns; }
  bool covers(Psn psn) const noexcept { return psn - first >= 0 && psn - past() < 0; }
};

class ResponderResources {
 public:
  // `most`: max_dest_rd_atomic.
  void resize(std::size_t most) { ring_.assign(most, {}); }

  // The place for one more; nullptr: the peer has more outstanding than it may.
  ResponderResource* add() noexcept {
    if (ring_.empty() || ring_[next_].waits) return nullptr;
    ResponderResource& r = ring_[next_];
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
    r = {};
    return &r;
  }
  std::size_t index_of(const ResponderResource& r) const noexcept {
    return static_cast<std::size_t>(&r - ring_.data());
  }
  ResponderResource& operator[](std::size_t i) noexcept { return ring_[i]; }
  std::size_t size() const noexcept { return ring_.size(); }

  // The one that covers `psn`, the newest if there are several; nullptr: forgotten.
  ResponderResource* find(Psn psn) noexcept {
    for (std::size_t i = 1; i <= ring_.size(); ++i) {
      ResponderResource& r = ring_[(next_ + ring_.size() - i) % ring_.size()];
      if (r.kind != ResponderResource::Kind::kFree && r.covers(psn)) return &r;
    }
    return nullptr;
  }

  // The first PSN of the earliest READ or atomic after `psn` and before `end`; `end` if there is none.
  Psn next_after(Psn psn, Psn end) const noexcept {
    Psn earliest = end;
    for (const ResponderResource& r : ring_)
      if (r.kind != ResponderResource::Kind::kFree && r.first - psn > 0 && r.first - earliest < 0) earliest = r.first;
    return earliest;
  }

  void reset() noexcept {
    ring_.clear();
    next_ = 0;
  }

 private:
  std::vector<ResponderResource> ring_;
  std::size_t next_ = 0;
};

}  // namespace railyard::roce
