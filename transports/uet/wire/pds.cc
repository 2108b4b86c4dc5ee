#include "transports/uet/wire/pds.h"

#include "dataplane/base/assert.h"

namespace railyard::uet {
namespace {

using wire::read;
using wire::write;

struct Word {
  PdsType type{};
  std::uint8_t next_hdr = 0;  // of a CP: CtlType
  std::uint8_t flags = 0;

  bool has(std::uint8_t bits) const noexcept { return (flags & bits) != 0; }
  NextHdr next() const noexcept { return static_cast<NextHdr>(next_hdr); }
};

Word read_word(const std::byte* at) noexcept {
  return {.type = static_cast<PdsType>(read<Prologue::Type>(at)),
          .next_hdr = read<Prologue::NextHdr>(at),
          .flags = read<Prologue::Flags>(at)};
}

void write_word(std::byte* at, PdsType type, std::uint8_t next_hdr, unsigned flags) noexcept {
  wire::write_together<Prologue::Type, Prologue::NextHdr, Prologue::Flags>(at, static_cast<std::uint8_t>(type), next_hdr,
                                                                           static_cast<std::uint8_t>(flags));
}
void write_word(std::byte* at, PdsType type, NextHdr next, unsigned flags) noexcept {
  write_word(at, type, static_cast<std::uint8_t>(next), flags);
}

constexpr unsigned if_set(bool condition, std::uint8_t bits) noexcept { return condition ? bits : 0u; }

template <class F>
std::int16_t read_offset(const std::byte* at) noexcept {
  return static_cast<std::int16_t>(read<F>(at));
}
template <class F>
void write_offset(std::byte* at, std::int16_t offset) noexcept {
  write<F>(at, static_cast<std::uint16_t>(offset));
}

// The destination's PDCID, or what stands there as long as it is not known: alike in requests and control packets.
template <class Values>
void read_dpdcid(const std::byte* at, Values& v) noexcept {
  if (v.syn) {
    v.pdc_info = read<PdcSyn::PdcInfo>(at);
    v.psn_offset = read<PdcSyn::PsnOffset>(at);
  } else {
    v.dpdcid = read<PdsRequest::Dpdcid>(at);
  }
}
template <class Values>
void write_dpdcid(std::byte* at, const Values& v) noexcept {
  if (v.syn) {
    write<PdcSyn::PdcInfo>(at, v.pdc_info);
    write<PdcSyn::PsnOffset>(at, v.psn_offset);
  } else {
    write<PdsRequest::Dpdcid>(at, v.dpdcid);
  }
}

// The readers fill in values that are as constructed, where they stay: copies of what was just written in small pieces
// wait for the stores.

void read_header(const std::byte* at, const Word& word, PdsRequestValues& v) noexcept {
  v.type = word.type;
  v.next_hdr = word.next();
  v.retx = word.has(flag::kRetx);
  v.ar = word.has(flag::kAr);
  v.syn = word.has(flag::kSyn);
  v.clear_psn_offset = read_offset<PdsRequest::ClearPsnOffset>(at);
  v.psn = read<PdsRequest::Psn>(at);
  v.spdcid = read<PdsRequest::Spdcid>(at);
  read_dpdcid(at, v);
  if (v.has_cc()) {
    v.ccc_id = read<PdsRequestCc::CccId>(at);
    v.credit_target = read<PdsRequestCc::CreditTarget>(at);
  }
}
void write_header(std::byte* at, const PdsRequestValues& v) noexcept {
  write_word(at, v.type, v.next_hdr, if_set(v.retx, flag::kRetx) | if_set(v.ar, flag::kAr) | if_set(v.syn, flag::kSyn));
  write_offset<PdsRequest::ClearPsnOffset>(at, v.clear_psn_offset);
  write<PdsRequest::Psn>(at, v.psn);
  write<PdsRequest::Spdcid>(at, v.spdcid);
  write_dpdcid(at, v);
  if (!v.has_cc()) return;
  write<PdsRequestCc::CccId>(at, v.ccc_id);
  write<PdsRequestCc::CreditTarget>(at, v.credit_target);
}

// Without expected_psn; decode_pds_into() sees to that.
void read_header(const std::byte* at, const Word& word, PdsAckValues& v) noexcept {
  v.type = word.type;
  v.next_hdr = word.next();
  v.m = word.has(flag::kM);
  v.retx = word.has(flag::kRetx);
  v.p = word.has(flag::kP);
  v.req = static_cast<AckRequest>((word.flags & flag::kReq) >> 1);
  v.cack_psn = read<PdsAck::CackPsn>(at);
  v.spdcid = read<PdsAck::Spdcid>(at);
  v.dpdcid = read<PdsAck::Dpdcid>(at);
  if (v.p)
    v.probe_opaque = read<PdsAck::AckPsnOffset>(at);
  else
    v.ack_psn_offset = read_offset<PdsAck::AckPsnOffset>(at);
  if (v.has_cc()) {
    v.cc_type = read<PdsAckCc::CcType>(at);
    v.cc_flags = read<PdsAckCc::CcFlags>(at);
    v.mpr = read<PdsAckCc::Mpr>(at);
    v.sack_psn_offset = read_offset<PdsAckCc::SackPsnOffset>(at);
    v.sack_bitmap = read<PdsAckCc::SackBitmap>(at);
    v.cc_state = read<PdsAckCc::CcState>(at);
  }
  if (v.type == PdsType::kAckCcx) v.ccx_state_low = read<PdsAckCcx::CcxStateLow>(at);
}
void write_header(std::byte* at, const PdsAckValues& v) noexcept {
  const bool expected = v.type == PdsType::kAck && v.expected_psn;
  write_word(at, v.type, v.next_hdr,
             if_set(v.m, flag::kM) | if_set(v.retx, flag::kRetx) | if_set(v.p, flag::kP) |
                 static_cast<unsigned>(v.req) << 1 | if_set(expected, flag::kExpectedPsn));
  if (v.p)
    write<PdsAck::AckPsnOffset>(at, v.probe_opaque);
  else
    write_offset<PdsAck::AckPsnOffset>(at, v.ack_psn_offset);
  write<PdsAck::CackPsn>(at, v.cack_psn);
  write<PdsAck::Spdcid>(at, v.spdcid);
  write<PdsAck::Dpdcid>(at, v.dpdcid);
  if (expected) write<PdsAckExpectedPsn::ExpectedPsn>(at, *v.expected_psn);
  if (v.has_cc()) {
    wire::write_together<PdsAckCc::CcType, PdsAckCc::CcFlags, PdsAckCc::Mpr>(at, v.cc_type, v.cc_flags, v.mpr);
    write_offset<PdsAckCc::SackPsnOffset>(at, v.sack_psn_offset);
    write<PdsAckCc::SackBitmap>(at, v.sack_bitmap);
    write<PdsAckCc::CcState>(at, v.cc_state);
  }
  if (v.type == PdsType::kAckCcx) write<PdsAckCcx::CcxStateLow>(at, v.ccx_state_low);
}

void read_header(const std::byte* at, const Word& word, PdsNackValues& v) noexcept {
  v = {.type = word.type,
       .m = word.has(flag::kM),
       .retx = word.has(flag::kRetx),
       .nt = word.has(flag::kNt),
       .code = static_cast<NackCode>(read<PdsNack::Code>(at)),
       .vendor_code = read<PdsNack::VendorCode>(at),
       .nack_psn = read<PdsNack::NackPsn>(at),
       .spdcid = read<PdsNack::Spdcid>(at),
       .dpdcid = read<PdsNack::Dpdcid>(at),
       .payload = read<PdsNack::Payload>(at)};
  if (v.type == PdsType::kNackCcx) {
    v.nccx_type = read<PdsNackCcx::NccxType>(at);
    v.nccx_state_high = read<PdsNackCcx::NccxStateHigh>(at);
    v.nccx_state_low = read<PdsNackCcx::NccxStateLow>(at);
  }
}
void write_header(std::byte* at, const PdsNackValues& v) noexcept {
  write_word(at, v.type, NextHdr::kNone, if_set(v.m, flag::kM) | if_set(v.retx, flag::kRetx) | if_set(v.nt, flag::kNt));
  write<PdsNack::Code>(at, static_cast<std::uint8_t>(v.code));
  write<PdsNack::VendorCode>(at, v.vendor_code);
  write<PdsNack::NackPsn>(at, v.nack_psn);
  write<PdsNack::Spdcid>(at, v.spdcid);
  write<PdsNack::Dpdcid>(at, v.dpdcid);
  write<PdsNack::Payload>(at, v.payload);
  if (v.type != PdsType::kNackCcx) return;
  write<PdsNackCcx::NccxType>(at, v.nccx_type);
  write<PdsNackCcx::NccxStateHigh>(at, v.nccx_state_high);
  write<PdsNackCcx::NccxStateLow>(at, v.nccx_state_low);
}

void read_header(const std::byte* at, const Word& word, PdsCpValues& v) noexcept {
  v = {.ctl_type = static_cast<CtlType>(word.next_hdr),
       .isrod = word.has(flag::kIsRod),
       .retx = word.has(flag::kRetx),
       .ar = word.has(flag::kAr),
       .syn = word.has(flag::kSyn),
       .probe_opaque = read<PdsCp::ProbeOpaque>(at),
       .psn = read<PdsCp::Psn>(at),
       .spdcid = read<PdsCp::Spdcid>(at)};
  read_dpdcid(at, v);
  v.payload = read<PdsCp::Payload>(at);
}
void write_header(std::byte* at, const PdsCpValues& v) noexcept {
  write_word(at, PdsType::kCp, static_cast<std::uint8_t>(v.ctl_type),
             if_set(v.isrod, flag::kIsRod) | if_set(v.retx, flag::kRetx) | if_set(v.ar, flag::kAr) |
                 if_set(v.syn, flag::kSyn));
  write<PdsCp::ProbeOpaque>(at, v.probe_opaque);
  write<PdsCp::Psn>(at, v.psn);
  write<PdsCp::Spdcid>(at, v.spdcid);
  write_dpdcid(at, v);
  write<PdsCp::Payload>(at, v.payload);
}

void read_header(const std::byte* at, const Word& word, PdsRudiValues& v) noexcept {
  v = {.type = word.type,
       .next_hdr = word.next(),
       .m = word.type == PdsType::kRudiResp && word.has(flag::kM),
       .retx = word.has(flag::kRetx),
       .pkt_id = read<PdsRudi::PktId>(at)};
}
void write_header(std::byte* at, const PdsRudiValues& v) noexcept {
  write_word(at, v.type, v.next_hdr, if_set(v.m, flag::kM) | if_set(v.retx, flag::kRetx));
  write<PdsRudi::Reserved>(at, 0);
  write<PdsRudi::PktId>(at, v.pkt_id);
}

void write_header(std::byte* at, const PdsUudValues& v) noexcept {
  write_word(at, PdsType::kUudReq, v.next_hdr, 0);
  write<PdsUud::Reserved>(at, 0);
}

// Of the shortest header of this type, 0 if it is reserved or TSS.
std::size_t least_octets(PdsType type) noexcept {
  switch (type) {
    case PdsType::kRudReq:
    case PdsType::kRodReq:
      return PdsRequest::kOctets;
    case PdsType::kRudCcReq:
    case PdsType::kRodCcReq:
      return PdsRequestCc::kOctets;
    case PdsType::kRudiReq:
    case PdsType::kRudiResp:
      return PdsRudi::kOctets;
    case PdsType::kUudReq:
      return PdsUud::kOctets;
    case PdsType::kAck:
      return PdsAck::kOctets;
    case PdsType::kAckCc:
      return PdsAckCc::kOctets;
    case PdsType::kAckCcx:
      return PdsAckCcx::kOctets;
    case PdsType::kNack:
      return PdsNack::kOctets;
    case PdsType::kNackCcx:
      return PdsNackCcx::kOctets;
    case PdsType::kCp:
      return PdsCp::kOctets;
    case PdsType::kTss:
      break;
  }
  return 0;
}

struct TypeOf {
  PdsType operator()(const PdsCpValues&) const noexcept { return PdsType::kCp; }
  PdsType operator()(const PdsUudValues&) const noexcept { return PdsType::kUudReq; }
  PdsType operator()(const auto& header) const noexcept { return header.type; }
};

struct NextHdrOf {
  NextHdr operator()(const PdsCpValues&) const noexcept { return NextHdr::kNone; }
  NextHdr operator()(const PdsNackValues&) const noexcept { return NextHdr::kNone; }
  NextHdr operator()(const auto& header) const noexcept { return header.next_hdr; }
};

}  // namespace

PdsType type(const Pds& pds) noexcept { return std::visit(TypeOf{}, pds); }

NextHdr next_hdr(const Pds& pds) noexcept {
  if (const auto* const request = std::get_if<PdsRequestValues>(&pds)) [[likely]]
    return request->next_hdr;
  return std::visit(NextHdrOf{}, pds);
}

std::size_t octets(const Pds& pds) noexcept {
  if (const auto* const request = std::get_if<PdsRequestValues>(&pds)) [[likely]]
    return request->octets();
  return std::visit([](const auto& header) noexcept { return header.octets(); }, pds);
}

bool allowed_after(PdsType type, NextHdr next) noexcept {
  const bool request =
      next == NextHdr::kRequestSmall || next == NextHdr::kRequestMedium || next == NextHdr::kRequestStd;
  const bool data = next == NextHdr::kResponseData || next == NextHdr::kResponseDataSmall;
  const bool response = next == NextHdr::kResponse || data;
  switch (type) {
    case PdsType::kRudReq:
    case PdsType::kRodReq:
    case PdsType::kRudCcReq:
    case PdsType::kRodCcReq:
      return request || data;
    case PdsType::kRudiReq:
    case PdsType::kUudReq:
      return request;
    case PdsType::kRudiResp:
      return response;
    case PdsType::kAck:
    case PdsType::kAckCc:
    case PdsType::kAckCcx:
      return response || next == NextHdr::kNone;
    case PdsType::kNack:
    case PdsType::kNackCcx:
    case PdsType::kCp:
      return next == NextHdr::kNone;
    case PdsType::kTss:
      break;
  }
  return false;
}

std::optional<Malformed> decode_pds_into(std::span<const std::byte> packet, Pds& pds, const Dialect& dialect) noexcept {
  using enum Malformed;
  if (packet.size() < Prologue::kOctets) return kTooShort;
  const std::byte* const at = packet.data();
  const Word word = read_word(at);
  // What most packets are.
  if ((word.type == PdsType::kRudReq || word.type == PdsType::kRodReq) && word.next() == NextHdr::kRequestStd &&
      packet.size() >= PdsRequest::kOctets) [[likely]] {
    read_header(at, word, pds.emplace<PdsRequestValues>());
    return {};
  }
  if (word.type == PdsType::kTss) return kSecured;
  const std::size_t least = least_octets(word.type);
  if (least == 0) return kReservedType;
  if (word.type == PdsType::kCp) {
    if (name(static_cast<CtlType>(word.next_hdr)).empty()) return kReservedCtlType;
  } else if (!allowed_after(word.type, word.next())) {
    return kBadNextHdr;
  }
  if (packet.size() < least) return kHeadersCut;

  switch (word.type) {
    case PdsType::kRudReq:
    case PdsType::kRodReq:
    case PdsType::kRudCcReq:
    case PdsType::kRodCcReq:
      read_header(at, word, pds.emplace<PdsRequestValues>());
      return {};
    case PdsType::kAck:
    case PdsType::kAckCc:
    case PdsType::kAckCcx: {
      PdsAckValues& ack = pds.emplace<PdsAckValues>();
      read_header(at, word, ack);
      if (word.type == PdsType::kAck && dialect.expected_psn_in_ack && word.has(flag::kExpectedPsn)) {
        if (packet.size() < PdsAckExpectedPsn::kOctets) return kHeadersCut;
        ack.expected_psn = read<PdsAckExpectedPsn::ExpectedPsn>(at);
      }
      return {};
    }
    case PdsType::kNack:
    case PdsType::kNackCcx:
      read_header(at, word, pds.emplace<PdsNackValues>());
      return {};
    case PdsType::kCp:
      read_header(at, word, pds.emplace<PdsCpValues>());
      return {};
    case PdsType::kRudiReq:
    case PdsType::kRudiResp:
      read_header(at, word, pds.emplace<PdsRudiValues>());
      return {};
    case PdsType::kUudReq:
      pds.emplace<PdsUudValues>().next_hdr = word.next();
      return {};
    case PdsType::kTss:
      break;
  }
  return kReservedType;
}

std::expected<Pds, Malformed> decode_pds(std::span<const std::byte> packet, const Dialect& dialect) noexcept {
  std::expected<Pds, Malformed> pds;
  if (const auto bad = decode_pds_into(packet, *pds, dialect)) pds = std::unexpected(*bad);
  return pds;
}

std::size_t encode_pds(std::span<std::byte> out, const Pds& pds) noexcept {
  RAILYARD_EXPENSIVE_ASSERT(allowed_after(type(pds), next_hdr(pds)), "a PDS header says what may follow it");
  if (const auto* const request = std::get_if<PdsRequestValues>(&pds)) [[likely]] {
    const std::size_t n = request->octets();
    if (out.size() < n) return 0;
    write_header(out.data(), *request);
    return n;
  }
  const std::size_t n = octets(pds);
  if (out.size() < n) return 0;
  std::visit([at = out.data()](const auto& header) noexcept { write_header(at, header); }, pds);
  return n;
}

}  // namespace railyard::uet
