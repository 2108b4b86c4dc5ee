// The network under a trunk: datagrams, which may be lost, doubled and overtake each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/base/time.h"

namespace railyard {

// One datagram in two pieces.
struct TrunkDatagram {
  std::span<const std::byte> head;
  std::span<const std::byte> body;
};

// One that has come in, and for how much wall time it has lain in this machine: what waiting for the loop to look has
// taken is no part of the way.
struct TrunkReceived {
  std::span<const std::byte> octets;
  Duration age{};
};

// Between two windows of the engine, by its thread; never waits.
class TrunkWire {
 public:
  static constexpr std::size_t kBurst = 32;

  virtual ~TrunkWire() = default;

  // Sends datagrams in order; returns how many are done with. The rest does not fit just now. One that the network
  // refuses is done with too, and counted: the far end will miss it.
  virtual std::size_t send(std::span<const TrunkDatagram> datagrams) = 0;

  // What has come in: fills the first of `datagrams`, at most kBurst, returns how many. They are good until the next
  // call.
  virtual std::size_t receive(std::span<TrunkReceived> datagrams) = 0;

  // Datagrams that the network refused. Any thread.
  virtual std::uint64_t refused() const = 0;
};

}  // namespace railyard
