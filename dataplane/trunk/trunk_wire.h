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

// One that has come in, and how much wall time before the moment of looking: what waiting for the loop to look has
// taken is no part of the way. Negative if it came in after that moment; never more than it was, or the way would seem
// shorter than it is, and clocks closer than they are.
struct TrunkReceived {
  std::span<const std::byte> octets;
  Duration age{};
};

// What became of datagrams on this side of the network.
struct TrunkWireCounters {
  std::uint64_t refused = 0;        // datagrams that the network did not take
  std::uint64_t fragmented = 0;     // datagrams that went in several pieces of ours; what IP does is not seen
  std::uint64_t incomplete = 0;     // datagrams of which some pieces came, and not all
  std::uint64_t foreign = 0;        // what came in and is none of this trunk's
  std::uint64_t malformed = 0;      // pieces that are none, or none that can be
  std::uint64_t other_version = 0;  // pieces of another version
  std::uint64_t overrun = 0;        // what came in and was lost because nobody took it in time, as far as is known
};

// Between two windows of the engine, by its thread; never waits.
class TrunkWire {
 public:
  static constexpr std::size_t kBurst = 32;

  virtual ~TrunkWire() = default;

  // Sends datagrams in order; returns how many are done with. The rest does not fit just now. One that the network
  // refuses is done with too, and counted: the far end will miss it.
  virtual std::size_t send(std::span<const TrunkDatagram> datagrams) = 0;

  // What has come in at `now`, modelled time, which is made from `wall` (CLOCK_MONOTONIC): fills the first of
  // `datagrams`, at most kBurst, returns how many. They are good until the next call.
  virtual std::size_t receive(Instant now, Duration wall, std::span<TrunkReceived> datagrams) = 0;

  // A descriptor that is readable (poll(2)) while receive() would bring something; -1: there is none, look again and
  // again.
  virtual int readable() const noexcept { return -1; }

  // Any thread, as what follows.
  virtual TrunkWireCounters counters() const = 0;
  // Whether something is at the other end of what carries it, as far as that can tell.
  virtual bool has_carrier() const { return true; }
};

}  // namespace railyard
