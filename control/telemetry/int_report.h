// What in-band telemetry has brought: where sampled packets waited.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/histogram.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

struct IntReport {
  std::uint64_t one_in = 0;
  std::uint64_t sampled = 0;        // packets chosen
  std::uint64_t not_kept = 0;       // ... for which their sender had no room
  std::uint64_t arrived = 0;        // ... at the NIC of a host, or where this fabric ends
  std::uint64_t dropped = 0;        // ... by a switch or a host
  std::uint64_t lost = 0;           // ... between devices
  std::uint64_t under_way = 0;      // the rest
  std::uint64_t records = 0;        // one for each hop of each that was kept
  std::uint64_t hops_not_kept = 0;  // beyond what is kept of one packet

  // One class of one egress port of a switch.
  struct Queue {
    std::string node;
    int port = 0;
    std::string peer;
    int priority = 0;
    Histogram waited;             // ps, from admission to the start of transmission
    std::uint64_t max_depth = 0;  // octets that a sampled packet found
    std::uint64_t marked = 0;
  };
  std::vector<Queue> queues;  // longest waiting (p99) first
  Histogram waited;           // of all of them

  struct Hop {
    std::string node;
    int in = 0;   // port; 0: the packet began here
    int out = 0;  // port; 0: it ended here, or has not left yet
    int priority = 0;
    Instant ingress = Instant::never();
    Instant egress = Instant::never();
    Duration waited{};
    std::uint64_t queue_octets = 0;
    bool marked = false;
  };
  struct Packet {
    std::string flow;
    std::uint64_t offset = 0;
    Duration latency{};  // from its first octet at the source to its last at the sink
    std::vector<Hop> hops;
  };
  static constexpr std::size_t kSlowest = 8;
  std::vector<Packet> slowest;  // of those that arrived, the slowest first
};

}  // namespace railyard::telemetry
