// Processes that run one fabric together, each a part of its devices: how they talk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

// Octets for each process, or from each.
using PeerOctets = std::vector<std::span<const std::byte>>;

// One of them. All call the same functions in the same order; each call returns when all others have made theirs, or
// have sent what it needs of them. One thread.
class Peers {
 public:
  virtual ~Peers() = default;

  std::size_t self() const noexcept { return self_; }  // from 0
  std::size_t count() const noexcept { return count_; }

  // Starts to give out[p] to each process p of `with`, each of which does the same with this one, and returns at once.
  // What `out` points to stays as it is until finish_exchange(), and nothing else is called until then. Throws
  // std::runtime_error: they cannot be reached.
  virtual void start_exchange(const PeerOctets& out, const std::vector<std::uint16_t>& with) = 0;
  // What each of them has given this one, by process; that of all others is empty. Stays until the next exchange.
  virtual const PeerOctets& finish_exchange() = 0;
  // What each gives to all, this one too, by process: a few octets. Stays until the next exchange or share().
  virtual const PeerOctets& share(std::span<const std::byte> mine) = 0;
  // The least of what all say.
  virtual std::int64_t least(std::int64_t mine) = 0;

  // Ends all of them, now.
  [[noreturn]] virtual void abort(int exit_code) = 0;
  // Wall time that this one has waited for others.
  virtual double waited_seconds() const noexcept { return 0; }

  // Gives out[p] to each process p, and returns what each has given this one, by process; its own is empty. What it points
  // to stays until the next exchange.
  PeerOctets exchange(const PeerOctets& out) {
    std::vector<std::uint16_t> all;
    for (std::size_t p = 0; p < count_; ++p)
      if (p != self_) all.push_back(static_cast<std::uint16_t>(p));
    start_exchange(out, all);
    return finish_exchange();
  }
  // The same to all.
  PeerOctets give_all(std::span<const std::byte> mine) { return exchange(PeerOctets(count_, mine)); }
  // To the first process, which gets what each has given; the others get nothing.
  PeerOctets give_first(std::span<const std::byte> mine) {
    PeerOctets out(count_);
    if (self_ != 0) out[0] = mine;
    const PeerOctets given = exchange(out);
    return self_ == 0 ? given : PeerOctets{};
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
