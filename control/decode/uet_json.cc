#include "control/decode/uet_json.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "control/decode/uet_decrypt.h"
#include "transports/uet/wire/encapsulation.h"
#include "transports/uet/wire/packet.h"

namespace railyard::decode {
namespace {

using uet::NextHdr;
using uet::PdsType;

std::string hex64(std::uint64_t value) { return fmt::format("0x{:016x}", value); }
std::string hex128(std::uint64_t high, std::uint64_t low) { return fmt::format("0x{:016x}{:016x}", high, low); }

// A number and beside it its name, if it has one.
template <class Enum>
void add_named(Json& j, const char* member, const char* name_member, Enum value) {
  j[member] = static_cast<unsigned>(value);
  if (const std::string_view of = name(value); !of.empty()) j[name_member] = of;
}

template <class Values>
void add_dpdcid(Json& j, const Values& v) {
  if (v.syn) {
    j["pdc_info"] = v.pdc_info;
    j["psn_offset"] = v.psn_offset;
    j["start_psn"] = v.start_psn();
  } else {
    j["dpdcid"] = v.dpdcid;
  }
}

void add_header(Json& j, const uet::PdsRequestValues& v) {
  j["retx"] = int{v.retx};
  j["ar"] = int{v.ar};
  j["syn"] = int{v.syn};
  j["clear_psn_offset"] = v.clear_psn_offset;
  j["clear_psn"] = v.clear_psn();
  j["psn"] = v.psn;
  j["spdcid"] = v.spdcid;
  add_dpdcid(j, v);
  if (!v.has_cc()) return;
  j["ccc_id"] = v.ccc_id;
  j["credit_target"] = v.credit_target;
}

void add_cc_state(Json& j, const uet::PdsAckValues& v) {
  if (v.type == PdsType::kAckCcx) {
    j["ccx_type"] = v.cc_type;
    j["ccx_flags"] = v.cc_flags;
  } else {
    add_named(j, "cc_type", "cc", static_cast<uet::CcType>(v.cc_type));
    j["cc_flags"] = v.cc_flags;
  }
  j["mpr"] = v.mpr;
  j["sack_psn_offset"] = v.sack_psn_offset;
  j["sack_base"] = v.sack_base();
  j["sack_bitmap"] = hex64(v.sack_bitmap);
  if (v.type == PdsType::kAckCcx) {
    j["ack_ccx_state"] = hex128(v.cc_state, v.ccx_state_low);
    return;
  }
  j["ack_cc_state"] = hex64(v.cc_state);
  if (v.cc_type == static_cast<std::uint8_t>(uet::CcType::kNscc)) {
    const uet::NsccStateValues state = uet::nscc_state(v.cc_state);
    j["service_time"] = state.service_time;
    j["restore_cwnd"] = int{state.restore_cwnd};
    j["rcv_cwnd_pend"] = state.rcv_cwnd_pend;
    j["rcvd_bytes"] = state.rcvd_bytes;
    j["ooo_count"] = state.ooo_count;
  } else if (v.cc_type == static_cast<std::uint8_t>(uet::CcType::kCredit)) {
    const uet::CreditStateValues state = uet::credit_state(v.cc_state);
    j["credit"] = state.credit;
    j["ooo_count"] = state.ooo_count;
  }
}

void add_header(Json& j, const uet::PdsAckValues& v) {
  j["m"] = int{v.m};
  j["retx"] = int{v.retx};
  j["p"] = int{v.p};
  add_named(j, "req", "request", v.req);
  if (v.p) {
    j["probe_opaque"] = v.probe_opaque;
  } else {
    j["ack_psn_offset"] = v.ack_psn_offset;
    j["ack_psn"] = v.ack_psn();
  }
  j["cack_psn"] = v.cack_psn;
  j["spdcid"] = v.spdcid;
  j["dpdcid"] = v.dpdcid;
  if (v.expected_psn) j["expected_psn"] = *v.expected_psn;
  if (v.has_cc()) add_cc_state(j, v);
}

void add_header(Json& j, const uet::PdsNackValues& v) {
  j["m"] = int{v.m};
  j["retx"] = int{v.retx};
  j["nt"] = int{v.nt};
  add_named(j, "nack_code", "nack", v.code);
  j["vendor_code"] = v.vendor_code;
  j[v.nt ? "nack_pkt_id" : "nack_psn"] = v.nack_psn;
  j["spdcid"] = v.spdcid;
  j["dpdcid"] = v.dpdcid;
  j["payload"] = v.payload;
  if (v.type != PdsType::kNackCcx) return;
  j["nccx_type"] = v.nccx_type;
  j["nccx_state"] = fmt::format("0x{:015x}{:016x}", v.nccx_state_high, v.nccx_state_low);
}

void add_header(Json& j, const uet::PdsCpValues& v) {
  j["isrod"] = int{v.isrod};
  j["retx"] = int{v.retx};
  j["ar"] = int{v.ar};
  j["syn"] = int{v.syn};
  j["probe_opaque"] = v.probe_opaque;
  j["psn"] = v.psn;
  j["spdcid"] = v.spdcid;
  add_dpdcid(j, v);
  j["payload"] = v.payload;
  if (v.ctl_type == uet::CtlType::kCredit) j["credit"] = v.credit();
  if (v.ctl_type == uet::CtlType::kCreditReq) {
    j["ccc_id"] = v.ccc_id();
    j["credit_target"] = v.credit_target();
  }
}

void add_header(Json& j, const uet::PdsRudiValues& v) {
  if (v.type == PdsType::kRudiResp) j["m"] = int{v.m};
  j["retx"] = int{v.retx};
  j["pkt_id"] = v.pkt_id;
}

void add_header(Json&, const uet::PdsUudValues&) {}

// The word that every PDS header begins with.
void add_prologue(Json& j, std::span<const std::byte> packet) {
  const std::byte* const at = packet.data();
  const auto type = static_cast<PdsType>(wire::read<uet::Prologue::Type>(at));
  const std::uint8_t next = wire::read<uet::Prologue::NextHdr>(at);
  add_named(j, "type", "pds", type);
  j["next_hdr"] = next;
  const bool cp = type == PdsType::kCp;
  if (const auto of = cp ? name(static_cast<uet::CtlType>(next)) : name(static_cast<NextHdr>(next)); !of.empty())
    j[cp ? "ctl_type" : "next"] = of;
  j["flags"] = wire::read<uet::Prologue::Flags>(at);
}

Json to_json(const uet::AtomicExtValues& v) {
  Json j;
  add_named(j, "atomic_opcode", "operation", v.opcode);
  add_named(j, "atomic_datatype", "datatype", v.datatype);
  j["semantic_control"] = v.semantic_control;
  if (is_compare_and_swap(v.opcode)) {
    j["compare_value"] = hex128(v.compare_value.high, v.compare_value.low);
    j["swap_value"] = hex128(v.swap_value.high, v.swap_value.low);
  }
  return j;
}

Json to_json(const uet::RendezvousExtValues& v) {
  return {{"eager_length", v.eager_length},      {"ri_generation", v.ri_generation},
          {"pid_on_fep", v.pid_on_fep},          {"resource_index", v.resource_index},
          {"read_offset", hex64(v.read_offset)}, {"read_memory_key", hex64(v.read_memory_key)}};
}

void add_std(Json& j, const uet::SesRequestValues& v) {
  const bool rtr = v.opcode == uet::SesOpcode::kDeferrableRtr;
  const bool tokens = rtr || is_deferrable(v.opcode);
  if (!is_deferrable(v.opcode)) j["buffer_offset"] = hex64(v.buffer_offset);
  j["initiator"] = v.initiator;
  if (tokens) {
    j["initiator_restart_token"] = v.initiator_restart_token;
    j["target_restart_token"] = v.target_restart_token;
  }
  if (!rtr) j[is_tagged(v.opcode) ? "match_bits" : "memory_key"] = hex64(v.match_bits);
  if (v.som) {
    j["header_data"] = hex64(v.header_data);
  } else {
    j["payload_length"] = v.payload_length;
    j["message_offset"] = v.message_offset;
  }
}

Json to_json(const uet::SesRequestValues& v) {
  Json j;
  add_named(j, "opcode", "operation", v.opcode);
  j["ver"] = v.version;
  j["dc"] = int{v.dc};
  j["ie"] = int{v.ie};
  j["rel"] = int{v.rel};
  j["hd"] = int{v.hd};
  j["eom"] = int{v.eom};
  j["som"] = int{v.som};
  if (v.is_std()) j["message_id"] = v.message_id;
  j["ri_generation"] = v.ri_generation;
  j["job_id"] = v.job_id;
  j["pid_on_fep"] = v.pid_on_fep;
  j["resource_index"] = v.resource_index;
  if (v.is_std()) {
    add_std(j, v);
  } else if (v.form == NextHdr::kRequestSmall) {
    j["buffer_offset"] = hex64(v.buffer_offset);
  } else {
    if (is_send(v.opcode))
      j["header_data"] = hex64(v.header_data);
    else
      j["buffer_offset"] = hex64(v.buffer_offset);
    j["initiator"] = v.initiator;
    j[is_tagged(v.opcode) ? "match_bits" : "memory_key"] = hex64(v.match_bits);
  }
  j["request_length"] = v.request_length;
  if (is_atomic(v.opcode)) j["atomic"] = to_json(v.atomic);
  if (v.has_rendezvous_ext()) j["rendezvous"] = to_json(v.rendezvous);
  return j;
}

Json to_json(const uet::SesResponseValues& v) {
  Json j;
  add_named(j, "list", "list_name", v.list);
  add_named(j, "opcode", "operation", v.opcode);
  j["ver"] = v.version;
  add_named(j, "return_code", "rc", v.return_code);
  if (v.form == NextHdr::kResponse) {
    j["message_id"] = v.message_id;
    j["ri_generation"] = v.ri_generation;
    j["job_id"] = v.job_id;
    j["modified_length"] = v.modified_length;
  } else if (v.form == NextHdr::kResponseData) {
    j["response_message_id"] = v.message_id;
    j["job_id"] = v.job_id;
    j["read_request_message_id"] = v.read_request_message_id;
    j["payload_length"] = v.payload_length;
    j["modified_length"] = v.modified_length;
    j["message_offset"] = v.message_offset;
  } else {
    j["payload_length"] = v.payload_length;
    j["job_id"] = v.job_id;
    j["original_request_psn"] = v.original_request_psn;
  }
  return j;
}

Json to_json(const uet::TssValues& v) {
  Json j{{"an", int{v.an}}, {"sdi", v.sdi}};
  if (v.ssi) j["ssi"] = *v.ssi;
  j["epoch"] = v.epoch;
  j["counter"] = v.counter;
  return j;
}

// Whether there is more or less payload than the headers allow at any Payload MTU: the first of several packets has as
// much as the MTU, which nothing says.
bool has_wrong_length(const uet::Packet& packet) {
  const auto most = uet::expected_payload(packet.ses, std::numeric_limits<std::size_t>::max());
  if (!most) return false;
  const auto* const request = std::get_if<uet::SesRequestValues>(&packet.ses);
  const bool first_of_several = request != nullptr && request->som && !request->eom;
  return first_of_several ? packet.payload_octets > *most : packet.payload_octets != *most;
}

std::string_view length_error(const uet::Packet& packet) {
  const auto* const request = std::get_if<uet::SesRequestValues>(&packet.ses);
  const auto* const response = std::get_if<uet::SesResponseValues>(&packet.ses);
  const unsigned version = request != nullptr ? request->version : response != nullptr ? response->version : 0;
  if (version != 0) return "bad_version";
  return has_wrong_length(packet) ? "bad_payload_length" : "";
}

// Takes the CRC off the end of a packet and says what it is; false if there is no room for one.
bool take_crc(Json& crc, UetOctets& packet, const UetOptions& options) {
  if (packet.packet_octets < uet::kCrcOctets) return false;
  packet.packet_octets -= uet::kCrcOctets;
  if (packet.octets.size() > packet.packet_octets + uet::kCrcOctets - 1) {
    const std::byte* const at = packet.octets.data() + packet.packet_octets;
    crc["crc"] = fmt::format("0x{:08x}", uet::read_crc(at, true));
    const bool msb_first = options.crc == UetCrc::kMsbFirst;
    if (!packet.ip.empty())
      crc["crc_ok"] = uet::read_crc(at, msb_first) == uet::crc_of(packet.ip.first(packet.ip.size() - uet::kCrcOctets));
  }
  packet.octets = packet.octets.first(std::min(packet.octets.size(), packet.packet_octets));
  return true;
}

// Headers and payload of a packet, without its CRC.
void add_headers(Json& out, const UetOctets& packet, const uet::Dialect& dialect) {
  if (packet.octets.size() < uet::Prologue::kOctets) {
    out["error"] = "too_short";
    return;
  }
  Json& uet = out["uet"];
  add_prologue(uet, packet.octets);
  const auto pds = uet::decode_pds(packet.octets, dialect);
  if (!pds) {
    out["error"] = name(pds.error());
    return;
  }
  std::visit([&uet](const auto& header) { add_header(uet, header); }, *pds);
  const auto whole = uet::decode(packet.octets, packet.packet_octets, dialect);
  if (!whole) {
    if (!packet.trimmed) out["error"] = name(whole.error());
    return;
  }
  if (const auto* const request = std::get_if<uet::SesRequestValues>(&whole->ses)) uet["ses"] = to_json(*request);
  if (const auto* const response = std::get_if<uet::SesResponseValues>(&whole->ses)) uet["ses"] = to_json(*response);
  if (packet.trimmed) return;
  out["payload"] = whole->payload_octets;
  if (const std::string_view wrong = length_error(*whole); !wrong.empty()) out["error"] = wrong;
}

// What a secured packet shows: its TSS header, and with its key all the others. Else the length of what is encrypted.
void add_secured(Json& out, const UetOctets& packet, const UetOptions& options) {
  Json& uet = out["uet"];
  add_named(uet, "type", "pds", PdsType::kTss);
  const auto tss = uet::decode_tss(packet.octets);
  if (!tss) {
    out["error"] = "headers_cut";
    return;
  }
  uet["tss"] = to_json(*tss);
  if (const auto opened = packet.trimmed ? std::nullopt : decrypt(packet, *tss, options)) {
    uet["icv_ok"] = opened->icv_ok ? Json(*opened->icv_ok) : Json(nullptr);
    if (opened->icv_ok != false) {
      UetOctets plain = packet;
      plain.octets = opened->octets;
      plain.packet_octets = opened->packet_octets;
      return add_headers(out, plain, options.dialect);
    }
  }
  const std::size_t behind = packet.packet_octets - std::min(packet.packet_octets, tss->octets());
  if (packet.trimmed) return;
  if (behind < options.icv_octets)
    out["error"] = "too_short";
  else
    uet["encrypted"] = behind - options.icv_octets;
}

}  // namespace

void add_uet(Json& out, const UetOctets& captured, const UetOptions& options) {
  UetOctets packet = captured;
  out["proto"] = "uet";
  out["uet"]["entropy"] = packet.entropy;
  if (uet::is_secured(packet.octets)) return add_secured(out, packet, options);

  Json crc = Json::object();
  if (options.crc != UetCrc::kNone) crc["crc_ok"] = nullptr;
  if (options.crc != UetCrc::kNone && !packet.trimmed && !take_crc(crc, packet, options))
    out["error"] = "too_short";
  else
    add_headers(out, packet, options.dialect);
  out.update(crc);
}

}  // namespace railyard::decode
