// Responses of the semantic sublayer (SES): UET page §4.8, after UE-Spec 1.0 tables 3-11..3-13 of §3.4.2 and 3-43.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/pds_type.h"
#include "transports/uet/wire/return_code.h"
#include "transports/uet/wire/ses_opcode.h"

namespace railyard::uet {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---+-----------+---+-----------+-------------------------------+
//  |lst|  opcode   |ver|return_code|          message_id           |
//  +---+-----------+---+-----------+-------------------------------+
//  | ri_generation |                    job_id                     |
//  +---------------+-----------------------------------------------+
//  |                        modified_length                        |
//  +---------------------------------------------------------------+
struct SesResponse {
  static constexpr std::size_t kOctets = 12;
  using List = wire::Field<0, 2>;
  using Opcode = wire::Field<2, 6>;
  using Ver = wire::Field<8, 2>;
  using ReturnCode = wire::Field<10, 6>;
  using MessageId = wire::Field<16, 16>;
  using RiGeneration = wire::Field<32, 8>;
  using JobId = wire::Field<40, 24>;
  using ModifiedLength = wire::Field<64, 32>;
};
static_assert(
    wire::tiles<SesResponse::kOctets, SesResponse::List, SesResponse::Opcode, SesResponse::Ver, SesResponse::ReturnCode,
                SesResponse::MessageId, SesResponse::RiGeneration, SesResponse::JobId, SesResponse::ModifiedLength>());

//  +---+-----------+---+-----------+-------------------------------+
//  |lst|  opcode   |ver|return_code|      response_message_id      |
//  +---+-----------+---+-----------+-------------------------------+
//  |   reserved    |                    job_id                     |
//  +---------------+---------------+---+---------------------------+
//  |    read_request_message_id    |res|      payload_length       |
//  +-------------------------------+---+---------------------------+
//  |                        modified_length                        |
//  +---------------------------------------------------------------+
//  |                        message_offset                         |
//  +---------------------------------------------------------------+
// DEVIATION UE-Spec 1.0 table 3-12 of §3.4.2: payload_length has 12 bits in one source, which cannot say 8192 (UET page
// §13 item 14).
struct SesResponseData {
  static constexpr std::size_t kOctets = 20;
  using Reserved32 = wire::Field<32, 8>;
  using ReadRequestMessageId = wire::Field<64, 16>;
  using Reserved80 = wire::Field<80, 2>;
  using PayloadLength = wire::Field<82, 14>;
  using ModifiedLength = wire::Field<96, 32>;
  using MessageOffset = wire::Field<128, 32>;
};
static_assert(
    wire::tiles<SesResponseData::kOctets, wire::Field<0, 32>, SesResponseData::Reserved32, SesResponse::JobId,
                SesResponseData::ReadRequestMessageId, SesResponseData::Reserved80, SesResponseData::PayloadLength,
                SesResponseData::ModifiedLength, SesResponseData::MessageOffset>());

//  +---+-----------+---+-----------+---+---------------------------+
//  |lst|  opcode   |ver|return_code|res|      payload_length       |
//  +---+-----------+---+-----------+---+---------------------------+
//  |   reserved    |                    job_id                     |
//  +---------------+-----------------------------------------------+
//  |                     original_request_psn                      |
//  +---------------------------------------------------------------+
struct SesResponseDataSmall {
  static constexpr std::size_t kOctets = 12;
  using Reserved16 = wire::Field<16, 2>;
  using PayloadLength = wire::Field<18, 14>;
  using Reserved32 = wire::Field<32, 8>;
  using OriginalRequestPsn = wire::Field<64, 32>;
};
static_assert(wire::tiles<SesResponseDataSmall::kOctets, wire::Field<0, 16>, SesResponseDataSmall::Reserved16,
                          SesResponseDataSmall::PayloadLength, SesResponseDataSmall::Reserved32, SesResponse::JobId,
                          SesResponseDataSmall::OriginalRequestPsn>());

struct SesResponseValues {
  NextHdr form = NextHdr::kResponse;  // or kResponseData, kResponseDataSmall
  SesList list = SesList::kExpected;
  SesResponseOpcode opcode = SesResponseOpcode::kDefaultResponse;
  std::uint8_t version = 0;  // 2 bits
  ReturnCode return_code = ReturnCode::kOk;
  std::uint16_t message_id = 0;       // RESPONSE: of the request; RESPONSE_DATA: response_message_id
  std::uint8_t ri_generation = 0;     // RESPONSE: the current one, on a generation error
  std::uint32_t job_id = 0;           // 24 bits
  std::uint32_t modified_length = 0;  // not of RESPONSE_DATA_SMALL

  std::uint16_t read_request_message_id = 0;  // RESPONSE_DATA
  std::uint16_t payload_length = 0;           // with data: 14 bits, of this packet
  std::uint32_t message_offset = 0;           // RESPONSE_DATA: of this packet's payload in what is read
  std::uint32_t original_request_psn = 0;     // RESPONSE_DATA_SMALL

  bool operator==(const SesResponseValues&) const = default;

  constexpr std::size_t octets() const noexcept {
    return form == NextHdr::kResponseData ? SesResponseData::kOctets : SesResponse::kOctets;
  }
};

// What PDS answers by itself when no specific response is needed, UE-Spec 1.0 table 3-43. A modified_length of 0 says
// "all of it" there. DEVIATION: another source fills in the request_length (UET page §13 item 20); both are understood.
constexpr SesResponseValues default_response(std::uint16_t message_id, std::uint32_t job_id) noexcept {
  return {.message_id = message_id, .job_id = job_id};
}
// The same while the semantic sublayer has not answered yet.
constexpr SesResponseValues no_response(std::uint16_t message_id, std::uint32_t job_id) noexcept {
  return {.opcode = SesResponseOpcode::kNoResponse,
          .return_code = ReturnCode::kNull,
          .message_id = message_id,
          .job_id = job_id};
}

}  // namespace railyard::uet
