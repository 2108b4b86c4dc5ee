// Packets that a port has made ready to leave and that the outside has not taken yet.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "dataplane/packet/pool.h"
#include "dataplane/port/seal.h"

namespace railyard {

// One burst: a port stages no more before all of it has left, so at most this much waits in it.
class StagedPackets {
 public:
  static constexpr std::size_t kBurst = 64;

  bool empty() const noexcept { return from_ == to_; }
  std::span<Packet* const> waiting() const noexcept { return {packets_.data() + from_, to_ - from_}; }

  // Takes over the first of `packets`, as far as there is room and memory; returns how many. Only when empty.
  std::size_t stage(std::span<Packet* const> packets, PacketPool& pool) {
    from_ = to_ = 0;
    for (; to_ < packets.size() && to_ < kBurst; ++to_) {
      packets_[to_] = make_whole(packets[to_], pool);
      if (packets_[to_] == nullptr) break;
    }
    return to_;
  }

  // For Attachment::give(): stages `packets` a burst at a time and has each burst sent by `send`, which releases what has
  // left; ends at what does not leave at once, or for want of memory. Returns how many it took over. What waits already
  // is sent first.
  template <class Send>
  std::size_t give(std::span<Packet* const> packets, PacketPool& pool, Send send) {
    if (!empty()) send();
    std::size_t n = 0;
    while (empty() && n < packets.size()) {
      const std::size_t staged = stage(packets.subspan(n), pool);
      if (staged == 0) break;
      n += staged;
      send();
    }
    return n;
  }

  // The first `n` waiting ones have left, or are given up.
  void release(std::size_t n, PacketPool& pool) {
    for (const std::size_t end = from_ + n; from_ < end; ++from_) pool.release(packets_[from_]);
  }

 private:
  std::array<Packet*, kBurst> packets_;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
};

}  // namespace railyard
