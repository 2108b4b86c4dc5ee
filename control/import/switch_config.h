// A switch as its configuration describes it, whoever made it: ports, classes, memory, watchdog, trimming. The readers
// of SONiC, Cumulus Linux, EOS and NX-OS fill it; qos_text.h and fabric_text.h write it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace railyard::importing {

class Row;  // of SONiC

inline constexpr std::size_t kClasses = 8;

struct PortConfig {
  const Row* row = nullptr;  // SONiC: of PORT
  std::string name;          // "Ethernet4"
  int number = 0;            // of the fabric file: from 1, in the order of the numbers in the names
  std::int64_t speed = 0;    // Mb/s
  std::int64_t mtu = 9100;
  std::string cable;  // "5m"; empty: nobody says
  bool linked = false;
  std::string peer;  // name of the host behind it, if it is linked
};

// From the code point of a packet to its queue and priority group, and which of them pause.
//
// A class of the fabric file is a queue of the switch. Its ingress group is the priority group of the first traffic
// class (TC) that leads to the queue.
struct ClassMaps {
  bool trust_pcp = false;
  std::array<int, 64> class_of_dscp{};
  std::array<int, 8> class_of_pcp{};
  std::array<bool, kClasses> is_reached{};  // some code point leads to the class
  std::array<int, kClasses> group_of_class{0, 1, 2, 3, 4, 5, 6, 7};
  std::map<int, int> dscp_of_tc;  // for trimmed packets
  std::vector<std::array<bool, kClasses>>
      has_pfc;  // by port, in the order of the ports: the class pauses and is paused
  // SONiC: who switches PFC on for a class of a port, and for which priority. By port.
  struct PfcSource {
    const Row* row = nullptr;  // of PORT_QOS_MAP
    std::array<int, kClasses> priority{};
  };
  std::vector<PfcSource> pfc_sources;
};

// Of an ingress group at a port, in octets.
struct GroupBuffer {
  std::optional<int> alpha_exponent;  // 2^n
  std::optional<std::int64_t> limit;
  std::int64_t reserved = 0;
  std::optional<std::int64_t> headroom;    // lossless; nothing: nobody says
  std::optional<std::int64_t> xon_offset;  // lossless
  bool holds_headroom = false;             // SONiC: its `size` is that of the headroom and what is reserved
  std::string profile;                     // where it comes from, to show; may be empty
  const Row* row = nullptr;                // SONiC: of BUFFER_PG

  bool same_as(const GroupBuffer& b) const {
    return alpha_exponent == b.alpha_exponent && limit == b.limit && headroom == b.headroom &&
           xon_offset == b.xon_offset;
  }
};

// Of an egress queue.
struct QueueBuffer {
  std::optional<int> alpha_exponent;
  std::optional<std::int64_t> limit;
  std::int64_t reserved = 0;
  bool trims = false;
  std::string profile;  // where it comes from, to show; may be empty

  bool operator==(const QueueBuffer&) const = default;
};

// The packet memory: with a shared headroom pool that is smaller than what all groups may need, the pool; else the
// headroom of each group.
struct PacketMemory {
  std::optional<std::int64_t> buffer;  // nothing: nobody says
  std::int64_t headroom_pool = 0;
  std::string arithmetic;  // where the numbers come from
};

struct SwitchBuffers {
  std::vector<std::array<std::optional<GroupBuffer>, kClasses>> groups;  // by port and class; nothing: nobody says
  std::array<std::optional<QueueBuffer>, kClasses> queues;               // as at most linked ports
  PacketMemory memory;
};

// Where a queue begins to mark or drop, and where it does so always.
struct WredCurve {
  std::int64_t min = 0;  // octets
  std::int64_t max = 0;
  std::int64_t percent = 0;        // at max
  bool marks = false;              // ECN-capable packets are marked; else dropped
  bool drops_others = true;        // with `marks`: packets that are not ECN-capable are dropped

  bool operator==(const WredCurve&) const = default;
};

struct QueueSettings {
  std::optional<WredCurve> wred;
  std::optional<std::int64_t> weight;
  bool strict = false;
  std::string names;  // of the profile and the scheduler, to show; may be empty

  bool operator==(const QueueSettings&) const = default;
};

// In milliseconds.
struct WatchdogConfig {
  std::int64_t detect = 0;
  std::int64_t restore = 0;
  std::string action;  // drop, forward, alert

  bool operator==(const WatchdogConfig&) const = default;
};

struct TrimmingConfig {
  std::int64_t size = 0;  // octets that remain
  int dscp = 0;
  int to_class = 0;
};

struct SwitchConfig {
  std::string hostname;  // as the file has it
  std::string name;      // of the node
  std::string model;     // may be empty
  std::vector<PortConfig> ports;
  ClassMaps maps;
  SwitchBuffers buffers;
  std::array<QueueSettings, kClasses> queues;
  std::optional<WatchdogConfig> watchdog;
  std::int64_t watchdog_poll = 0;  // milliseconds
  std::optional<TrimmingConfig> trimming;

  // Where values come from, a comment each: of the code points, of a class, of the watchdog.
  std::vector<std::string> sources_of_maps;
  std::array<std::vector<std::string>, kClasses> sources;
  std::vector<std::string> sources_of_watchdog;

  // Some link has PFC in the class; others are said to have none.
  bool is_lossless(std::size_t c) const {
    for (std::size_t i = 0; i < ports.size(); ++i)
      if (ports[i].linked && maps.has_pfc[i][c]) return true;
    return false;
  }
};

}  // namespace railyard::importing
