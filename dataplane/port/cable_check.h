// What a cable, or whatever else connects two ports, carries: tried out with frames.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/packet/pool.h"
#include "dataplane/port/outside_port.h"

namespace railyard {

struct CableCheckConfig {
  std::uint32_t mtu = 9216;                       // longest IP packet that is tried, octets; the pool holds its frame
  std::chrono::milliseconds patience{200};        // with a frame that is on its way
  std::chrono::milliseconds link_patience{5000};  // until both ports have a link
  unsigned tries = 3;                             // of each frame
  std::uint32_t burst = 2000;                     // frames sent in a row, to count losses
  std::uint32_t round = 200;                      // frames sent one by one, to take times
};

// From one port to the other.
struct CableWay {
  bool shortest = false;            // 60 octets without FCS; nothing else was tried if these do not pass
  std::uint32_t largest_frame = 0;  // octets without FCS, untagged
  bool tagged = false;              // IEEE 802.1Q tag with its VLAN and PCP
  bool pfc = false;                 // PFC frames (IEEE 802.1Q clause 36) reach the other port, and not only its NIC
  bool pause = false;               // the same for PAUSE (IEEE 802.3 annex 31B)
  bool roce = false;                // RoCEv2 (UDP port 4791), ICRC and all
  bool checksums = false;           // wrong UDP and IPv4 checksums are passed on as they are
  bool ecn = false;                 // all ECN and DSCP bits are passed on as they are
  std::uint32_t sent = 0;           // of the burst
  std::uint32_t lost = 0;
  std::uint32_t reordered = 0;             // came after a later one
  std::uint32_t damaged = 0;               // came with other octets
  std::chrono::nanoseconds latency_p50{};  // polled at both ends; 0: not known
  std::chrono::nanoseconds latency_p99{};
};

// Sends frames of its own kinds both ways and looks for them. Both ports belong to it meanwhile; what else comes in is
// thrown away. Wall clock.
class CableCheck {
 public:
  // All outlive it.
  CableCheck(OutsidePort& a, OutsidePort& b, PacketPool& pool, const CableCheckConfig& config)
      : ports_{&a, &b}, pool_(pool), config_(config) {}

  // Whether both ports have a link, at the end of the patience at the latest.
  bool wait_for_link();
  // The way from port `from` (0: a, 1: b) to the other.
  CableWay check(std::size_t from);

 private:
  using Octets = std::vector<std::byte>;

  bool give(OutsidePort& port, const Octets& octets);
  template <class F>
  std::size_t take(OutsidePort& port, F&& each);
  void clear();
  bool passes(std::size_t from, const Octets& octets);
  std::uint32_t longest(std::size_t from);
  void count_burst(std::size_t from, CableWay& way);
  void take_times(std::size_t from, CableWay& way);

  OutsidePort* ports_[2];
  PacketPool& pool_;
  CableCheckConfig config_;
  std::uint32_t number_ = 0;  // of the frame sent last
};

}  // namespace railyard
