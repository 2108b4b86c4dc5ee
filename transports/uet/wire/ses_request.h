// Requests of the semantic sublayer (SES) in their three forms: UET page §4.1..§4.6, after UE-Spec 1.0 tables 3-8..3-10
// and figures 3-11..3-14.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/pds_type.h"
#include "transports/uet/wire/ses_extension.h"
#include "transports/uet/wire/ses_opcode.h"

namespace railyard::uet {

// What all forms begin with.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---+-----------+---+-+-+-+-+-+-+-------------------------------+
//  |res|  opcode   |ver|D|I|R|H|E|S|  message_id, request_length   |
//  +---+-----------+---+-+-+-+-+-+-+-------------------------------+
//  | ri_generation |                    job_id                     |
//  +-------+-------+---------------+-------+-----------------------+
//  |  res  |      pid_on_fep       |  res  |    resource_index     |
//  +-------+-----------------------+-------+-----------------------+
// DEVIATION UE-Spec 1.0 table 3-10: the last 16 bits of the first row are the request_length of SMALL and MEDIUM, as
// most sources have it; one has a message_id there (UET page §13 item 5).
struct SesCommon {
  static constexpr std::size_t kOctets = 12;
  using Reserved0 = wire::Field<0, 2>;
  using Opcode = wire::Field<2, 6>;
  using Ver = wire::Field<8, 2>;
  using Dc = wire::Field<10, 1>;
  using Ie = wire::Field<11, 1>;
  using Rel = wire::Field<12, 1>;
  using Hd = wire::Field<13, 1>;
  using Eom = wire::Field<14, 1>;
  using Som = wire::Field<15, 1>;
  using MessageId = wire::Field<16, 16>;      // STD
  using Reserved16 = wire::Field<16, 2>;      // SMALL and MEDIUM
  using RequestLength = wire::Field<18, 14>;  // SMALL and MEDIUM
  using RiGeneration = wire::Field<32, 8>;
  using JobId = wire::Field<40, 24>;
  using Reserved64 = wire::Field<64, 4>;
  using PidOnFep = wire::Field<68, 12>;
  using Reserved80 = wire::Field<80, 4>;
  using ResourceIndex = wire::Field<84, 12>;
};
static_assert(wire::tiles<SesCommon::kOctets, SesCommon::Reserved0, SesCommon::Opcode, SesCommon::Ver, SesCommon::Dc,
                          SesCommon::Ie, SesCommon::Rel, SesCommon::Hd, SesCommon::Eom, SesCommon::Som,
                          SesCommon::MessageId, SesCommon::RiGeneration, SesCommon::JobId, SesCommon::Reserved64,
                          SesCommon::PidOnFep, SesCommon::Reserved80, SesCommon::ResourceIndex>());

//  +---------------------------------------------------------------+
//  |                   buffer_offset, 8 octets                     |
//  +---------------------------------------------------------------+
//  |                           initiator                           |
//  +---------------------------------------------------------------+
//  |               match_bits or memory_key, 8 octets              |
//  +---------------------------------------------------------------+
//  |  header_data, 8 octets; som = 0: payload_length at the end of |
//  |  the first two octets, and message_offset in the last four    |
//  +---------------------------------------------------------------+
//  |                        request_length                         |
//  +---------------------------------------------------------------+
// A deferrable send has initiator_restart_token and target_restart_token in place of buffer_offset. A DEFERRABLE_RTR
// has these tokens in place of match_bits.
struct SesStd {
  static constexpr std::size_t kOctets = 44;
  using BufferOffset = wire::Field<96, 64>;
  using Initiator = wire::Field<160, 32>;
  using MatchBits = wire::Field<192, 64>;
  using HeaderData = wire::Field<256, 64>;  // som = 1
  using Reserved256 = wire::Field<256, 18>;
  using PayloadLength = wire::Field<274, 14>;  // som = 0
  using MessageOffset = wire::Field<288, 32>;  // som = 0
  using RequestLength = wire::Field<320, 32>;

  using SendInitiatorToken = wire::Field<96, 32>;
  using SendTargetToken = wire::Field<128, 32>;
  using RtrFirstToken = wire::Field<192, 32>;
  using RtrSecondToken = wire::Field<224, 32>;
};
static_assert(wire::tiles<SesStd::kOctets, wire::Field<0, 64>, wire::Field<64, 32>, SesStd::BufferOffset,
                          SesStd::Initiator, SesStd::MatchBits, SesStd::HeaderData, SesStd::RequestLength>());

struct SesSmall {
  static constexpr std::size_t kOctets = 20;
  using BufferOffset = wire::Field<96, 64>;
};

// DEVIATION UE-Spec 1.0 figures 3-13, 3-14: 28 octets in one source (UET page §13 item 6).
struct SesMedium {
  static constexpr std::size_t kOctets = 32;
  using BufferOffset = wire::Field<96, 64>;  // of a send: header_data
  using Initiator = wire::Field<160, 32>;
  using MatchBits = wire::Field<192, 64>;
};

// The longest request_length of SMALL and MEDIUM, and payload_length of all.
inline constexpr std::uint32_t kMost14Bits = 0x3FFF;

struct SesRequestValues {
  NextHdr form = NextHdr::kRequestStd;  // or kRequestMedium, kRequestSmall
  SesOpcode opcode = SesOpcode::kNoOp;
  std::uint8_t version = 0;      // 2 bits; another than 0 is answered by return code UNCOR
  bool dc = false;               // delivery complete: to be answered when the data can be seen by all
  bool ie = false;               // initiator error: the payload is not to be used
  bool rel = false;              // relative addressing: pid_on_fep is one of the job's
  bool hd = false;               // header_data counts
  bool eom = true;               // the last packet of its message
  bool som = true;               // the first one
  std::uint16_t message_id = 0;  // STD; 0: none
  std::uint8_t ri_generation = 0;
  std::uint32_t job_id = 0;          // 24 bits
  std::uint16_t pid_on_fep = 0;      // 12 bits
  std::uint16_t resource_index = 0;  // 12 bits

  std::uint64_t buffer_offset = 0;            // of the message; not of deferrable sends, nor of MEDIUM sends
  std::uint32_t initiator_restart_token = 0;  // deferrable sends, DEFERRABLE_RTR
  std::uint32_t target_restart_token = 0;
  std::uint32_t initiator = 0;       // STD and MEDIUM
  std::uint64_t match_bits = 0;      // STD and MEDIUM: of what is_tagged(); of other opcodes memory_key()
  std::uint64_t header_data = 0;     // STD with som, MEDIUM sends; valid with hd
  std::uint16_t payload_length = 0;  // STD without som: 14 bits, of this packet
  std::uint32_t message_offset = 0;  // STD without som: of this packet's payload in the message
  std::uint32_t request_length = 0;  // of the whole message; SMALL and MEDIUM: 14 bits

  AtomicExtValues atomic{};          // is_atomic()
  RendezvousExtValues rendezvous{};  // is_rendezvous(), with som

  bool operator==(const SesRequestValues&) const = default;

  // Of RMA and atomics.
  constexpr std::uint64_t memory_key() const noexcept { return match_bits; }
  constexpr bool is_std() const noexcept { return form == NextHdr::kRequestStd; }
  // DEVIATION UE-Spec 1.0 figure 3-15: that only the first packet has the extension is a guess; later ones have no use
  // for it.
  constexpr bool has_rendezvous_ext() const noexcept { return is_rendezvous(opcode) && som; }
  // Of the header without extensions.
  constexpr std::size_t fixed_octets() const noexcept {
    if (form == NextHdr::kRequestSmall) return SesSmall::kOctets;
    return form == NextHdr::kRequestMedium ? SesMedium::kOctets : SesStd::kOctets;
  }
  constexpr std::size_t octets() const noexcept {
    return fixed_octets() + (is_atomic(opcode) ? atomic.octets() : 0) +
           (has_rendezvous_ext() ? RendezvousExt::kOctets : 0);
  }
};

}  // namespace railyard::uet
