// What a frame of a capture says, header by header, as JSON.
#pragma once

#include <cstddef>
#include <span>

#include <nlohmann/json.hpp>

#include "control/decode/decode_options.h"

namespace railyard::decode {

// Members in the order of the headers.
using Json = nlohmann::ordered_json;

// Decodes a frame of `frame_octets` octets without FCS, of which `octets` were captured (all, or the first ones up to a
// snap length). The object has
//   proto     roce, cnp, uet, pfc, pause, arp, icmp, icmpv6, tcp, udp; mac_control, ip and eth for what else lies there
//   headers   one object each: eth, vlan, ip, udp, tcp, icmp, arp, mac_control, uet, bth, reth, ...; the names are
//             those that a packet match has (dataplane/wire/header_field.h) where it has them. Numbers are decimal,
//             addresses as people write them, 64-bit values of RDMA "0x..." with 16 digits.
//   uet       the PDS header, in it as objects tss, or ses, and in that atomic or rendezvous; the names are those of
//   the
//             UET page
//   payload   octets behind the headers of RoCEv2 and UET
//   icrc      of RoCEv2, as it is on the wire, "0x82fd002a"; icrc_ok: whether it is right, null if it cannot be said
//             because the frame was cut when it was captured, or trimmed on its way; of UET crc and crc_ok
//   error     only of a malformed frame, or one cut within its headers: a name such as "bad_checksum"
Json decode_frame(std::span<const std::byte> octets, std::size_t frame_octets, const DecodeOptions& options = {});

}  // namespace railyard::decode
