// Processes that run one fabric together, each a part of its devices: how they talk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

// One of them. All call the same functions in the same order; each call returns when all others have made theirs, or
// have sent what it needs of them. One thread.
class Peers {
 public:
  virtual ~Peers() = default;

  std::size_t self() const noexcept { return self_; }  // from 0
  std::size_t count() const noexcept { return count_; }

  // Gives out[p] to each process p, and returns what each has given this one, by process; its own stays empty. Throws
  // std::runtime_error: they cannot be reached.
  virtual std::vector<std::vector<std::byte>> exchange(std::vector<std::vector<std::byte>> out) = 0;
  // The least of what all say.
  virtual std::int64_t least(std::int64_t mine) = 0;

  // Ends all of them, now.
  [[noreturn]] virtual void abort(int exit_code) = 0;
  // Wall time that this one has waited for others.
  virtual double waited_seconds() const noexcept { return 0; }

  // The same to all.
  std::vector<std::vector<std::byte>> give_all(std::vector<std::byte> mine) {
    return exchange(std::vector<std::vector<std::byte>>(count_, std::move(mine)));
  }
  // To the first process, which gets what each has given; the others get nothing.
  std::vector<std::vector<std::byte>> give_first(std::vector<std::byte> mine) {
    std::vector<std::vector<std::byte>> out(count_);
    if (self_ != 0) out[0] = std::move(mine);
    auto given = exchange(std::move(out));
    if (self_ != 0) given.clear();
    return given;
  }
  Instant least(Instant mine) { return Instant{least(mine.ps)}; }
  // Whether all say so; whether any does.
  bool all(bool mine) { return least(std::int64_t{mine}) != 0; }
  bool any(bool mine) { return !all(!mine); }

 protected:
  Peers(std::size_t self, std::size_t count) : self_(self), count_(count) {}

 private:
  std::size_t self_;
  std::size_t count_;
};

// Which device is whose, and how they talk.
struct Parts {
  Peers* peers = nullptr;             // nullptr: this process runs all devices
  std::vector<std::uint16_t> part_of;  // by device: the process that advances it

  explicit operator bool() const noexcept { return peers != nullptr; }
  bool is_here(DeviceId device) const noexcept {
    return peers == nullptr || part_of[device.index()] == peers->self();
  }
};

}  // namespace railyard
