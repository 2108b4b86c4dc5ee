// PROBEs that go the way of data: in the data's class and with the entropy value of packets of which nothing was heard
// (engine_losses.cc). At most one for each value at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/time.h"
#include "transports/uet/pds/psn.h"

namespace railyard::uet {

struct PathProbe {
  std::uint16_t entropy = 0;
  std::uint16_t id = 0;     // probe_opaque
  std::uint8_t tries = 0;   // before this one
  bool waits = true;        // is to be sent
  bool wanted = true;       // something of its value is missing still
  Psn from{};               // its answer says of the 64 from here on,
  Instant sent_at{};        // and of what was sent before
  Instant until{};          // when the next one goes if there is no answer
};

class PathProbes {
 public:
  static constexpr std::size_t kMost = 16;    // at a time; others take their turn
  static constexpr std::size_t kSpread = 32;  // of one series over paths that switches choose

  bool empty() const noexcept { return probes_.empty(); }
  bool any_waiting() const noexcept { return waiting_ > 0; }
  std::span<PathProbe> all() noexcept { return probes_; }
  void clear() noexcept {
    probes_.clear();
    waiting_ = 0;
  }

  // nullptr: there is none of that value.
  PathProbe* of(std::uint16_t entropy) noexcept {
    for (PathProbe& p : probes_)
      if (p.entropy == entropy) return &p;
    return nullptr;
  }
  // nullptr: there is none that was sent with this number.
  PathProbe* answered(std::uint16_t id) noexcept {
    for (PathProbe& p : probes_)
      if (!p.waits && p.id == id) return &p;
    return nullptr;
  }
  // One is to be sent. Allocates for the first one. False: there are too many.
  bool add(std::uint16_t entropy, Psn from, std::size_t most = kMost) {
    if (probes_.size() >= most) return false;
    if (probes_.capacity() < most) probes_.reserve(most);
    probes_.push_back({.entropy = entropy, .from = from});
    ++waiting_;
    return true;
  }
  // Nothing was heard of it: it goes again.
  void repeat(PathProbe& p, Psn from) noexcept {
    constexpr std::uint8_t kMostCounted = 16;
    if (p.tries < kMostCounted) ++p.tries;
    p.from = from;
    p.waits = true;
    ++waiting_;
  }
  // The next that is to be sent; there is one.
  PathProbe& next() noexcept {
    std::size_t i = 0;
    while (!probes_[i].waits) ++i;
    --waiting_;
    probes_[i].waits = false;
    return probes_[i];
  }
  void erase(const PathProbe& p) noexcept {
    if (p.waits) --waiting_;
    probes_.erase(probes_.begin() + (&p - probes_.data()));
  }
  // Those whose value nothing is missing of.
  void drop_unwanted() noexcept {
    for (std::size_t i = probes_.size(); i-- > 0;)
      if (!probes_[i].wanted) erase(probes_[i]);
  }

 private:
  std::vector<PathProbe> probes_;
  std::size_t waiting_ = 0;
};

}  // namespace railyard::uet
