#include "control/decode/roce_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "control/decode/mad_json.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/icrc.h"
#include "transports/roce/wire/deth.h"
#include "transports/roce/wire/packet.h"
#include "transports/roce/wire/syndrome.h"

namespace railyard::decode {
namespace {

using roce::Header;
using roce::Packet;

std::string hex64(std::uint64_t value) { return fmt::format("0x{:016x}", value); }
std::string hex32(std::uint32_t value) { return fmt::format("0x{:08x}", value); }

std::string operation_name(std::uint8_t opcode) {
  const std::string_view transport = roce::transport_name(opcode);
  const std::string_view name = roce::kOpcodes[opcode].name;
  return transport.empty() ? std::string(name) : fmt::format("{} {}", transport, name);
}

Json to_json(const roce::BthValues& bth) {
  Json j{{"opcode", bth.opcode}};
  if (roce::kOpcodes[bth.opcode].known()) j["operation"] = operation_name(bth.opcode);
  j["se"] = int{bth.solicited};
  j["migreq"] = int{bth.mig_req};
  j["pad"] = bth.pad_cnt;
  j["pkey"] = bth.p_key;
  j["fecn"] = int{bth.fecn};
  j["becn"] = int{bth.becn};
  j["dest_qp"] = bth.dest_qp;
  j["ackreq"] = int{bth.ack_req};
  j["psn"] = bth.psn;
  return j;
}

Json to_json(const roce::AethValues& aeth) {
  const roce::Syndrome syndrome = roce::parse_syndrome(aeth.syndrome);
  Json j{{"syndrome", aeth.syndrome}};
  switch (syndrome.type) {
    case roce::SyndromeType::kAck: {
      const auto credits = roce::credits(syndrome.value);
      j["type"] = "ack";
      j["credits"] = credits ? Json(*credits) : Json();  // null: no limit
      break;
    }
    case roce::SyndromeType::kRnrNak:
      j["type"] = "rnr_nak";
      j["rnr_delay_us"] = roce::rnr_delay(syndrome.value).ps / 1'000'000;
      break;
    case roce::SyndromeType::kNak:
      j["type"] = "nak";
      j["nak"] = roce::nak_name(syndrome.value);
      break;
    case roce::SyndromeType::kReserved:
      j["type"] = "reserved";
      break;
  }
  j["msn"] = aeth.msn;
  return j;
}

void add_extension_headers(Json& out, const Packet& packet) {
  const roce::Headers headers = packet.info().headers;
  if (headers.has(Header::kXrcEth)) out["xrceth"] = {{"srq", packet.xrc_eth.xrc_srq}};
  if (headers.has(Header::kDeth)) out["deth"] = {{"qkey", packet.deth.q_key}, {"src_qp", packet.deth.source_qp}};
  if (headers.has(Header::kFeth))
    out["feth"] = {{"selectivity", packet.feth.selectivity}, {"placement_type", packet.feth.placement_type}};
  if (headers.has(Header::kReth))
    out["reth"] = {{"va", hex64(packet.reth.virtual_address)},
                   {"rkey", packet.reth.r_key},
                   {"dma_length", packet.reth.dma_length}};
  if (headers.has(Header::kAtomicEth))
    out["atomiceth"] = {{"va", hex64(packet.atomic_eth.virtual_address)},
                        {"rkey", packet.atomic_eth.r_key},
                        {"swap_add", hex64(packet.atomic_eth.swap_add)},
                        {"compare", hex64(packet.atomic_eth.compare)}};
  if (headers.has(Header::kAeth)) out["aeth"] = to_json(packet.aeth);
  if (headers.has(Header::kAtomicAckEth)) out["atomicacketh"] = {{"original", hex64(packet.atomic_ack_eth.original)}};
  if (headers.has(Header::kSrEth))
    out["sreth"] = {{"packet_index", packet.sr_eth.packet_index}, {"receive_number", packet.sr_eth.receive_number}};
  if (headers.has(Header::kSackEth)) out["sacketh"] = {{"psn", packet.sack_eth.psn}};
  if (headers.has(Header::kImmDt)) out["immdt"] = {{"immediate", packet.imm_dt.immediate}};
  if (headers.has(Header::kIeth)) out["ieth"] = {{"rkey", packet.ieth.r_key}};
}

// What of payload and padding is against the opcode's rule at any path MTU; "" if nothing is.
std::string_view length_error(const Packet& packet) {
  const std::size_t payload = packet.payload_octets;
  const auto rule = packet.info().payload;
  const bool fits = rule == roce::PayloadRule::kFull
                        ? payload > 0
                        : roce::payload_fits(rule, payload, std::numeric_limits<std::size_t>::max());
  if (!fits) return "bad_payload_length";
  return packet.bth.pad_cnt == roce::pad_octets(payload) ? "" : "bad_padding";
}

}  // namespace

void add_roce(Json& out, const RoceOctets& datagram) {
  const roce::BthValues bth = roce::read_bth(datagram.octets.data());
  out["proto"] = bth.opcode == roce::opcode::kCnp ? "cnp" : "roce";
  out["bth"] = to_json(bth);
  const auto packet = roce::decode(datagram.octets, datagram.datagram_octets);
  if (packet) {
    add_extension_headers(out, *packet);
    out["payload"] = packet->payload_octets;
    // Management datagrams, of UD.
    constexpr std::size_t kBehindDeth = wire::Bth::kOctets + roce::Deth::kOctets;
    if (bth.dest_qp == 1 && packet->info().headers.has(Header::kDeth) && datagram.octets.size() > kBehindDeth)
      add_mad(out, datagram.octets.subspan(kBehindDeth));
    // Fields are numbers; the ICRC is shown as its octets lie on the wire.
    if (datagram.octets.size() == datagram.datagram_octets)
      out["icrc"] = hex32(wire::read<wire::Field<0, 32>>(datagram.octets.last<wire::kIcrcOctets>().data()));
  }
  out["icrc_ok"] = datagram.ip.empty() ? Json() : Json(wire::icrc_matches(datagram.ip));
  if (!packet) {
    out["error"] = name(packet.error());
  } else if (const std::string_view wrong = length_error(*packet); !wrong.empty()) {
    out["error"] = wrong;
  }
}

}  // namespace railyard::decode
