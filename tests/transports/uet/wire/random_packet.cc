#include "tests/transports/uet/wire/random_packet.h"

#include <array>
#include <span>

namespace railyard::uet {
namespace {

// A number of `bits` bits; often 0 or the greatest, where mistakes show.
template <class T>
T number(Draw& draw, unsigned bits) {
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
  const std::uint64_t which = draw() % 8;
  return static_cast<T>(which == 0 ? 0 : which == 1 ? most : draw() & most);
}
template <class T>
void set(Draw& draw, T& value, unsigned bits = 8 * sizeof(T)) {
  value = number<T>(draw, bits);
}
void set(Draw& draw, bool& value) { value = draw() % 2 != 0; }
template <class T>
T one_of(Draw& draw, std::initializer_list<T> values) {
  return values.begin()[draw() % values.size()];
}
template <class Enum>
Enum any(Draw& draw, unsigned bits) {
  return static_cast<Enum>(number<std::uint8_t>(draw, bits));
}

// One that may follow a header of this type.
NextHdr random_next(Draw& draw, PdsType type) {
  for (;;) {
    const auto next = static_cast<NextHdr>(draw() % 7);
    if (allowed_after(type, next)) return next;
  }
}

template <class Values>
void set_dpdcid(Draw& draw, Values& v) {
  set(draw, v.syn);
  if (v.syn) {
    set(draw, v.pdc_info, 4);
    set(draw, v.psn_offset, 12);
  } else {
    set(draw, v.dpdcid);
  }
}

PdsRequestValues random_request(Draw& draw) {
  using enum PdsType;
  PdsRequestValues v{.type = one_of(draw, {kRudReq, kRodReq, kRudCcReq, kRodCcReq})};
  v.next_hdr = random_next(draw, v.type);
  set(draw, v.retx);
  set(draw, v.ar);
  set(draw, v.clear_psn_offset);
  set(draw, v.psn);
  set(draw, v.spdcid);
  set_dpdcid(draw, v);
  if (v.has_cc()) {
    set(draw, v.ccc_id);
    set(draw, v.credit_target, 24);
  }
  return v;
}

PdsAckValues random_ack(Draw& draw) {
  using enum PdsType;
  PdsAckValues v{.type = one_of(draw, {kAck, kAckCc, kAckCcx})};
  v.next_hdr = random_next(draw, v.type);
  set(draw, v.m);
  set(draw, v.retx);
  set(draw, v.p);
  v.req = any<AckRequest>(draw, 2);
  if (v.p)
    set(draw, v.probe_opaque);
  else
    set(draw, v.ack_psn_offset);
  set(draw, v.cack_psn);
  set(draw, v.spdcid);
  set(draw, v.dpdcid);
  if (v.has_cc()) {
    set(draw, v.cc_type, 4);
    set(draw, v.cc_flags, 4);
    set(draw, v.mpr);
    set(draw, v.sack_psn_offset);
    set(draw, v.sack_bitmap);
    set(draw, v.cc_state);
  }
  if (v.type == kAckCcx) set(draw, v.ccx_state_low);
  return v;
}

PdsNackValues random_nack(Draw& draw) {
  PdsNackValues v{.type = one_of(draw, {PdsType::kNack, PdsType::kNackCcx})};
  set(draw, v.m);
  set(draw, v.retx);
  set(draw, v.nt);
  v.code = any<NackCode>(draw, 8);
  set(draw, v.vendor_code);
  set(draw, v.nack_psn);
  set(draw, v.spdcid);
  set(draw, v.dpdcid);
  set(draw, v.payload);
  if (v.type == PdsType::kNackCcx) {
    set(draw, v.nccx_type, 4);
    set(draw, v.nccx_state_high, 60);
    set(draw, v.nccx_state_low);
  }
  return v;
}

PdsCpValues random_cp(Draw& draw) {
  PdsCpValues v{.ctl_type = static_cast<CtlType>(draw() % 10)};
  set(draw, v.isrod);
  set(draw, v.retx);
  set(draw, v.ar);
  set(draw, v.probe_opaque);
  set(draw, v.psn);
  set(draw, v.spdcid);
  set_dpdcid(draw, v);
  set(draw, v.payload);
  return v;
}

PdsRudiValues random_rudi(Draw& draw) {
  PdsRudiValues v{.type = one_of(draw, {PdsType::kRudiReq, PdsType::kRudiResp})};
  v.next_hdr = random_next(draw, v.type);
  if (v.type == PdsType::kRudiResp) set(draw, v.m);
  set(draw, v.retx);
  set(draw, v.pkt_id);
  return v;
}

AtomicExtValues random_atomic(Draw& draw) {
  // Half of them compare-and-swap.
  AtomicExtValues v{
      .opcode = draw() % 2 != 0 ? static_cast<AtomicOpcode>(0x0D + draw() % 7) : any<AtomicOpcode>(draw, 8),
      .datatype = any<AtomicDatatype>(draw, 8)};
  set(draw, v.semantic_control);
  if (is_compare_and_swap(v.opcode))
    for (std::uint64_t* half : {&v.compare_value.high, &v.compare_value.low, &v.swap_value.high, &v.swap_value.low})
      set(draw, *half);
  return v;
}

RendezvousExtValues random_rendezvous(Draw& draw) {
  RendezvousExtValues v;
  set(draw, v.eager_length);
  set(draw, v.ri_generation);
  set(draw, v.pid_on_fep, 12);
  set(draw, v.resource_index, 12);
  set(draw, v.read_offset);
  set(draw, v.read_memory_key);
  return v;
}

void set_std(Draw& draw, SesRequestValues& v) {
  const bool rtr = v.opcode == SesOpcode::kDeferrableRtr;
  set(draw, v.message_id);
  set(draw, v.request_length);
  set(draw, v.initiator);
  if (!is_deferrable(v.opcode)) set(draw, v.buffer_offset);
  if (!rtr) set(draw, v.match_bits);
  if (is_deferrable(v.opcode) || rtr) {
    set(draw, v.initiator_restart_token);
    set(draw, v.target_restart_token);
  }
  if (v.som) {
    set(draw, v.header_data);
  } else {
    set(draw, v.payload_length, 14);
    set(draw, v.message_offset);
  }
}

SesRequestValues random_ses_request(Draw& draw, NextHdr form) {
  SesRequestValues v{.form = form,
                     .opcode = draw() % 4 != 0 ? static_cast<SesOpcode>(draw() % 16) : any<SesOpcode>(draw, 6)};
  set(draw, v.version, 2);
  for (bool* flag : {&v.dc, &v.ie, &v.rel, &v.hd, &v.eom, &v.som}) set(draw, *flag);
  set(draw, v.ri_generation);
  set(draw, v.job_id, 24);
  set(draw, v.pid_on_fep, 12);
  set(draw, v.resource_index, 12);
  if (form == NextHdr::kRequestStd) {
    set_std(draw, v);
  } else {
    set(draw, v.request_length, 14);
    if (form == NextHdr::kRequestSmall) {
      set(draw, v.buffer_offset);
    } else {
      set(draw, is_send(v.opcode) ? v.header_data : v.buffer_offset);
      set(draw, v.initiator);
      set(draw, v.match_bits);
    }
  }
  if (is_atomic(v.opcode)) v.atomic = random_atomic(draw);
  if (v.has_rendezvous_ext()) v.rendezvous = random_rendezvous(draw);
  return v;
}

SesResponseValues random_ses_response(Draw& draw, NextHdr form) {
  SesResponseValues v{.form = form, .list = any<SesList>(draw, 2), .opcode = any<SesResponseOpcode>(draw, 6)};
  set(draw, v.version, 2);
  v.return_code = any<ReturnCode>(draw, 6);
  set(draw, v.job_id, 24);
  if (form == NextHdr::kResponse) {
    set(draw, v.message_id);
    set(draw, v.ri_generation);
    set(draw, v.modified_length);
  } else if (form == NextHdr::kResponseData) {
    set(draw, v.message_id);
    set(draw, v.read_request_message_id);
    set(draw, v.payload_length, 14);
    set(draw, v.modified_length);
    set(draw, v.message_offset);
  } else {
    set(draw, v.payload_length, 14);
    set(draw, v.original_request_psn);
  }
  return v;
}

}  // namespace

Pds random_pds(Draw& draw) {
  switch (draw() % 8) {
    case 0:
    case 1:
    case 2:
      return random_request(draw);
    case 3:
    case 4:
      return random_ack(draw);
    case 5:
      return random_nack(draw);
    case 6:
      return random_cp(draw);
    default:
      if (draw() % 4 == 0) return PdsUudValues{.next_hdr = random_next(draw, PdsType::kUudReq)};
      return random_rudi(draw);
  }
}

Ses random_ses(Draw& draw, NextHdr form) {
  switch (form) {
    case NextHdr::kNone:
      return {};
    case NextHdr::kRequestSmall:
    case NextHdr::kRequestMedium:
    case NextHdr::kRequestStd:
      return random_ses_request(draw, form);
    default:
      return random_ses_response(draw, form);
  }
}

Packet random_packet(Draw& draw) {
  Packet packet{.pds = random_pds(draw)};
  packet.ses = random_ses(draw, next_hdr(packet.pds));
  packet.payload_octets = static_cast<std::uint32_t>(draw() % 65);
  return packet;
}

}  // namespace railyard::uet
