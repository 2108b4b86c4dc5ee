// What a program reports about its traffic at an emulated NIC, in memory that it shares with the daemon: counters and
// open connections. `railyard status` shows it; nothing depends on it, so a wrong report harms nobody.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace railyard {

// Written by the program, some 50 times a second while it has traffic. Readers may see some numbers of one report and
// some of the next.
struct TrafficFigures {
  static constexpr std::size_t kCounters = 24;
  static constexpr std::size_t kConnections = 56;

  struct Connection {
    std::atomic<std::uint64_t> packets;        // sent with data, retransmissions included
    std::atomic<std::uint64_t> bytes;          // of payload in them
    std::atomic<std::uint64_t> retransmitted;  // packets
    std::array<std::atomic<std::uint64_t>, 2> peer;  // octets of a wire::IpAddress
    std::atomic<std::uint64_t> kind;           // up to 8 characters, e.g. "RC"
    std::atomic<std::uint64_t> state;          // the same, e.g. "RTS"
    std::atomic<std::uint32_t> local;          // QP number or PDCID
    std::atomic<std::uint32_t> remote;         // that of the peer; 0: not known
  };

  std::array<std::atomic<std::uint64_t>, kCounters> counters;  // in the order of the transport's list of names
  std::atomic<std::uint32_t> open;                             // connections; the first kConnections are listed
  std::array<Connection, kConnections> connections;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(TrafficFigures::Connection) == 64);

}  // namespace railyard
