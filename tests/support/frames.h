// Packets for tests: RoCEv2 frames of any shape, and frames given octet by octet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dataplane/packet/fec_table.h"
#include "dataplane/packet/pool.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/ecn.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/parse.h"

namespace railyard::test {

// 02:00:00:00:00:<n>.
constexpr wire::MacAddress mac(std::uint8_t n) { return {{2, 0, 0, 0, 0, n}}; }

// Addresses and prefixes as they are written; a mistake in one fails the test.
wire::IpAddress ip(std::string_view text);
wire::IpPrefix prefix(std::string_view text);

struct VlanTag {
  std::uint16_t vid = 1;
  std::uint8_t pcp = 0;
};

// A UC SEND Only with its ICRC, as a built-in endpoint's NIC puts it on the wire.
struct FrameSpec {
  wire::MacAddress to = mac(1);
  wire::MacAddress from = mac(2);
  wire::IpAddress source = ip("10.0.0.1");  // the family of both
  wire::IpAddress destination = ip("10.0.1.1");
  std::uint16_t source_port = 0xC000;
  std::uint32_t destination_qp = 7;
  std::uint32_t psn = 0;
  std::uint8_t dscp = 26;
  wire::Ecn ecn = wire::Ecn::kEct0;
  std::uint8_t ttl = 64;
  std::optional<VlanTag> tag = {};
  std::uint32_t frame_octets = 1024;  // the whole frame with tag and FCS, without preamble and gap
  bool real = false;                  // payload octets are there, else elided
  std::uint64_t stream = 1;           // identity of the payload
  std::uint64_t offset = 0;
};

// The shortest frame that `spec` can have: no payload.
std::uint32_t least_octets(const FrameSpec& spec);

// A packet for `spec`, from `pool`, described with `fecs`.
Packet* make_frame(PacketPool& pool, const FecTable& fecs, const FrameSpec& spec);

// A packet of exactly these octets (no FCS): all of them real. It must parse.
Packet* make_frame(PacketPool& pool, const FecTable& fecs, std::span<const std::byte> octets);

// The octets of a packet that are there: headers, and payload that is real.
std::vector<std::byte> octets_of(const Packet& packet);

}  // namespace railyard::test
