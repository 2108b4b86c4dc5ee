// The way to a peer: what stands in front of the BTH, roce-and-lossless §1.2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/ids.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/udp.h"

namespace railyard::roce {

struct AddressVector {
  wire::MacAddress source_mac;
  wire::MacAddress next_hop_mac;
  wire::IpAddress source;  // both of one family
  wire::IpAddress destination;
  std::uint16_t source_port = 0xC000;  // entropy for ECMP; constant for the life of a QP
  std::uint8_t dscp = 26;              // 0..63
  bool ect = true;                     // ECT(0), else Not-ECT
  std::uint8_t hop_limit = 64;
  Priority priority{3};  // class at the NIC
  FrameTag tag{};        // the 802.1Q tag of its frames

  bool operator==(const AddressVector&) const = default;
};

// The headers from Ethernet to UDP, made once; per packet only the lengths are new.
class Path {
 public:
  static constexpr std::size_t kMostOctets = wire::Ethernet::kOctets + wire::Ipv6::kOctets + wire::Udp::kOctets;

  Path() = default;
  // `flow`: of TxFrame.
  explicit Path(const AddressVector& av, std::uint32_t flow = TxFrame::kNoFlow) noexcept;

  const AddressVector& av() const noexcept { return av_; }
  Priority priority() const noexcept { return av_.priority; }
  std::uint32_t flow() const noexcept { return flow_; }
  FrameTag tag() const noexcept { return tag_; }
  std::size_t header_octets() const noexcept { return octets_; }

  // Where av() is past.
  const void* behind_addresses() const noexcept { return &flow_; }

  // Writes the headers of a packet of `datagram_octets` octets from BTH to ICRC; returns header_octets(). There is room
  // for kMostOctets at `out`.
  std::size_t write(std::byte* out, std::size_t datagram_octets) const noexcept;

  // The same way with another traffic class, for CNPs and ACKs; their PCP is that of the class.
  Path with(std::uint8_t dscp, Priority priority, std::uint32_t flow = TxFrame::kNoFlow) const noexcept;

 private:
  AddressVector av_{};
  std::uint32_t flow_ = TxFrame::kNoFlow;
  FrameTag tag_;
  std::uint32_t sum_ = 0;  // of the IPv4 header without its length, for its checksum
  std::uint8_t octets_ = 0;
  std::array<std::byte, kMostOctets> header_{};
};

}  // namespace railyard::roce
