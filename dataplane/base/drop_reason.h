// Why a frame ended its life before its destination. Every drop has one of these, and each has a counter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace railyard {

enum class DropReason : std::uint8_t {
  // The frame itself.
  kTooShort,          // ends before a header that it announces
  kBadVersion,        // IP version or BTH TVer not the expected one
  kBadHeaderLength,   // IPv4 IHL below 5, or beyond the packet
  kBadLength,         // a length field that contradicts another
  kBadChecksum,       // IPv4 header or ICMP checksum
  kUnknownEtherType,  // nothing in the fabric handles it
  kBadMacControl,     // MAC control frame with another opcode than PFC, or malformed
  kFcsError,          // frame check sequence wrong at the receiving MAC
  kGiant,             // longer than the port accepts
  // Forwarding.
  kNotForUs,             // unicast to a MAC address that is not this port's
  kVlanNotMember,        // the port is not a member of the frame's VLAN
  kNoRoute,              // no prefix covers the destination
  kTtlExpired,           // TTL or hop limit would become 0
  kTooBig,               // longer than the egress link's MTU
  kNeighbourUnresolved,  // the attached host's MAC address is not known yet
  kNotUnderstood,        // for the switch itself, and nothing there answers it
  kControlPlaneFull,     // for the speaker in front of a switch (switch_control.cc), which is behind with its packets
  kIcrcError,            // ICRC of a RoCEv2 packet wrong at the host that it is for
  // Buffers.
  kIngressFull,     // ingress priority group of a lossy class above its threshold
  kHeadroomFull,    // ... of a lossless class: the headroom is too small
  kEgressFull,      // egress queue of a lossy class above its threshold (tail drop)
  kWred,            // dropped by WRED in the place of a mark (Not-ECT)
  kTrimQueueFull,   // was to be trimmed, and the queue of trimmed packets is full too
  kPfcWatchdog,     // of a queue, or of a class at ingress, that the PFC watchdog has in its drop state
  kNicReceiveFull,  // the receive buffer of a host's NIC
  kHostGone,        // held for, or just taken from, a host outside that was taken away
  // Links and machine.
  kCrash,      // held by a switch when it crashed
  kLinkDown,   // on the wire, or about to be, when the link went down
  kTrunkLost,  // lost by the network between the two ends of a trunk
  kTrunkFull,  // for the far end of a trunk, and the network did not take it for long
  kCount
};

inline constexpr std::size_t kDropReasons = static_cast<std::size_t>(DropReason::kCount);

// The name in reports, e.g. "egress_full".
constexpr std::string_view name(DropReason reason) noexcept {
  constexpr std::array<std::string_view, kDropReasons> kNames = {
      "too_short",         "bad_version",     "bad_header_length", "bad_length",  "bad_checksum",
      "unknown_ethertype", "bad_mac_control", "fcs_error",         "giant",       "not_for_us",
      "vlan_not_member",   "no_route",        "ttl_expired",       "too_big",     "neighbour_unresolved",
      "not_understood",    "control_plane_full", "icrc_error",      "ingress_full",      "headroom_full", "egress_full",
      "wred",              "trim_queue_full", "pfc_watchdog",      "nic_receive_full", "host_gone",
      "crash",             "link_down",       "trunk_lost",        "trunk_full"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace railyard
