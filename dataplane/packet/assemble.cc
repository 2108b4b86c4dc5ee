#include "dataplane/packet/assemble.h"

#include <algorithm>

#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/packet/corruption.h"
#include "dataplane/packet/crc_trailer.h"
#include "dataplane/packet/synthetic_payload.h"
#include "dataplane/wire/hpcc_int.h"
#include "dataplane/wire/icrc.h"

namespace railyard {
namespace {

void append_icrc(std::size_t l3_offset, std::vector<std::byte>& out) {
  const std::size_t octets = out.size();
  out.resize(octets + wire::kIcrcOctets);
  write_crc_trailer(std::span(out).first(octets).subspan(l3_offset), out.data() + octets);
}

void pad(std::vector<std::byte>& out) {
  if (out.size() < wire::kMinFrameOctets) out.resize(wire::kMinFrameOctets);
}

std::size_t l3_offset_of(std::span<const std::byte> header) noexcept {
  const bool tagged = wire::read<wire::Ethernet::EtherType>(header.data()) == wire::ether_type::kVlan;
  return wire::Ethernet::kOctets + (tagged ? std::size_t{4} : 0);
}

}  // namespace

void assemble(std::span<const std::byte> header, const PayloadRef& payload, bool icrc, std::vector<std::byte>& out,
              bool corrupted) {
  out.assign(header.begin(), header.end());
  out.resize(header.size() + payload.octets);
  const std::span<std::byte> body = std::span(out).subspan(header.size());
  if (payload.bytes != nullptr)
    std::copy_n(payload.bytes, payload.octets, body.begin());
  else
    make_payload(header, l3_offset_of(header), icrc, payload.stream, payload.offset, body);
  // The ICRC is that of what was sent.
  if (corrupted && payload.bytes != nullptr) flip_corrupted_bit(body);
  if (icrc) append_icrc(l3_offset_of(header), out);
  if (corrupted) flip_corrupted_bit(std::span(out).subspan(header.size(), payload.octets));
  pad(out);
}

void assemble(const Packet& packet, std::vector<std::byte>& out) {
  assemble(packet.header_span(), packet.payload(), packet.has(Packet::kIcrcPending), out,
           packet.has(Packet::kCorrupted));
  if (packet.telemetry != 0) append_telemetry(telemetry_of(packet), out);
}

void append_telemetry(const PathTelemetry& telemetry, std::vector<std::byte>& out) {
  const std::size_t octets = out.size();
  out.resize(octets + telemetry.wire_octets());
  wire::write_hpcc_int(telemetry, out.data() + octets);
}

}  // namespace railyard
