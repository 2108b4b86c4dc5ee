// The names of all enumerations, as the UET page has them.
#include <array>
#include <cstddef>
#include <string_view>

#include "transports/uet/wire/cc_state.h"
#include "transports/uet/wire/malformed.h"
#include "transports/uet/wire/nack_code.h"
#include "transports/uet/wire/pds_ack.h"
#include "transports/uet/wire/pds_cp.h"
#include "transports/uet/wire/pds_type.h"
#include "transports/uet/wire/return_code.h"
#include "transports/uet/wire/ses_extension.h"
#include "transports/uet/wire/ses_opcode.h"

namespace railyard::uet {
namespace {

using Name = std::string_view;

// The name of enumerator `value`, "" beyond the table.
template <std::size_t n, class Enum>
constexpr Name at(const std::array<Name, n>& names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < n ? names[index] : Name{};
}

constexpr bool within(auto value, unsigned first, unsigned last) noexcept {
  return static_cast<unsigned>(value) >= first && static_cast<unsigned>(value) <= last;
}

}  // namespace

std::string_view name(Malformed reason) noexcept {
  static constexpr std::array<Name, kMalformedReasons> kNames{
      "too_short",    "reserved_type", "secured",           "reserved_ctl_type",
      "bad_next_hdr", "headers_cut",   "bad_payload_length"};
  return at(kNames, reason);
}

std::string_view name(PdsType type) noexcept {
  static constexpr std::array<Name, 15> kNames{"",          "TSS",     "RUD_REQ",  "ROD_REQ",    "RUDI_REQ",
                                               "RUDI_RESP", "UUD_REQ", "ACK",      "ACK_CC",     "ACK_CCX",
                                               "NACK",      "CP",      "NACK_CCX", "RUD_CC_REQ", "ROD_CC_REQ"};
  return at(kNames, type);
}

std::string_view name(NextHdr next_hdr) noexcept {
  static constexpr std::array<Name, 7> kNames{"NONE",     "REQUEST_SMALL", "REQUEST_MEDIUM",     "REQUEST_STD",
                                              "RESPONSE", "RESPONSE_DATA", "RESPONSE_DATA_SMALL"};
  return at(kNames, next_hdr);
}

std::string_view name(DeliveryMode mode) noexcept {
  static constexpr std::array<Name, 4> kNames{"RUD", "ROD", "RUDI", "UUD"};
  return at(kNames, mode);
}

std::string_view name(AckRequest request) noexcept {
  static constexpr std::array<Name, 3> kNames{"", "REQ_CLEAR", "REQ_CLOSE"};
  return at(kNames, request);
}

std::string_view name(CcType type) noexcept {
  static constexpr std::array<Name, 2> kNames{"NSCC", "CREDIT"};
  return at(kNames, type);
}

std::string_view name(CtlType type) noexcept {
  static constexpr std::array<Name, 10> kNames{"NOOP",      "ACK_REQ", "CLEAR_CMD", "CLEAR_REQ",  "CLOSE_CMD",
                                               "CLOSE_REQ", "PROBE",   "CREDIT",    "CREDIT_REQ", "NEGOTIATION"};
  return at(kNames, type);
}

std::string_view name(NackCode code) noexcept {
  static constexpr std::array<Name, 27> kNames{"",
                                               "TRIMMED",
                                               "TRIMMED_LASTHOP",
                                               "TRIMMED_ACK",
                                               "NO_PDC_AVAIL",
                                               "NO_CCC_AVAIL",
                                               "NO_BITMAP",
                                               "NO_PKT_BUFFER",
                                               "NO_GTD_DEL_AVAIL",
                                               "NO_SES_MSG_AVAIL",
                                               "NO_RESOURCE",
                                               "PSN_OOR_WINDOW",
                                               "",
                                               "ROD_OOO",
                                               "INV_DPDCID",
                                               "PDC_HDR_MISMATCH",
                                               "CLOSING",
                                               "CLOSING_IN_ERR",
                                               "PKT_NOT_RCVD",
                                               "GTD_RESP_UNAVAIL",
                                               "ACK_WITH_DATA",
                                               "INVALID_SYN",
                                               "PDC_MODE_MISMATCH",
                                               "NEW_START_PSN",
                                               "RCVD_SES_PROCG",
                                               "UNEXP_EVENT",
                                               "RCVR_INFER_LOSS"};
  if (code == NackCode::kExpNackNormal) return "EXP_NACK_NORMAL";
  if (code == NackCode::kExpNackErr) return "EXP_NACK_ERR";
  if (code == NackCode::kExpNackFatal) return "EXP_NACK_FATAL";
  return at(kNames, code);
}

std::string_view name(SesOpcode opcode) noexcept {
  static constexpr std::array<Name, 16> kNames{"NO_OP",
                                               "WRITE",
                                               "READ",
                                               "ATOMIC",
                                               "FETCHING_ATOMIC",
                                               "SEND",
                                               "RENDEZVOUS_SEND",
                                               "DATAGRAM_SEND",
                                               "DEFERRABLE_SEND",
                                               "TAGGED_SEND",
                                               "RENDEZVOUS_TSEND",
                                               "DEFERRABLE_TSEND",
                                               "DEFERRABLE_RTR",
                                               "TSEND_ATOMIC",
                                               "TSEND_FETCH_ATOMIC",
                                               "MSG_ERROR"};
  if (within(opcode, 0x30, 0x3E)) return "VENDOR";
  if (opcode == SesOpcode::kExtended) return "EXTENDED";
  return at(kNames, opcode);
}

std::string_view name(SesResponseOpcode opcode) noexcept {
  static constexpr std::array<Name, 4> kNames{"DEFAULT_RESPONSE", "RESPONSE", "RESPONSE_W_DATA", "NO_RESPONSE"};
  return within(opcode, 0x30, 0x3F) ? "VENDOR" : at(kNames, opcode);
}

std::string_view name(SesList list) noexcept {
  static constexpr std::array<Name, 4> kNames{"EXPECTED", "OVERFLOW", "VENDOR", "VENDOR"};
  return at(kNames, list);
}

std::string_view name(ReturnCode code) noexcept {
  static constexpr std::array<Name, 37> kNames{"NULL",
                                               "OK",
                                               "BAD_GENERATION",
                                               "DISABLED",
                                               "DISABLED_GEN",
                                               "NO_MATCH",
                                               "UNSUPPORTED_OP",
                                               "UNSUPPORTED_SIZE",
                                               "AT_INVALID",
                                               "AT_PERM",
                                               "AT_ATS_ERROR",
                                               "AT_NO_TRANS",
                                               "AT_OUT_OF_RANGE",
                                               "HOST_POISONED",
                                               "HOST_UNSUCCESS_CMPL",
                                               "AMO_UNSUPPORTED_OP",
                                               "AMO_UNSUPPORTED_DT",
                                               "AMO_UNSUPPORTED_SIZE",
                                               "AMO_UNALIGNED",
                                               "AMO_FP_NAN",
                                               "AMO_FP_UNDERFLOW",
                                               "AMO_FP_OVERFLOW",
                                               "AMO_FP_INEXACT",
                                               "PERM_VIOLATION",
                                               "OP_VIOLATION",
                                               "BAD_INDEX",
                                               "BAD_PID",
                                               "BAD_JOB_ID",
                                               "BAD_MKEY",
                                               "BAD_ADDR",
                                               "CANCELLED",
                                               "UNDELIVERABLE",
                                               "UNCOR",
                                               "UNCOR_TRNSNT",
                                               "TOO_LONG",
                                               "INITIATOR_ERROR",
                                               "DROPPED"};
  if (within(code, 0x30, 0x37)) return "VENDOR";
  return code == ReturnCode::kExtended ? "EXTENDED" : at(kNames, code);
}

std::string_view name(AtomicOpcode opcode) noexcept {
  static constexpr std::array<Name, 21> kNames{
      "MIN",  "MAX",   "SUM",   "DIFF",     "PROD",     "LOR",      "LAND",     "BOR",      "BAND",  "LXOR", "BXOR",
      "READ", "WRITE", "CSWAP", "CSWAP_NE", "CSWAP_LE", "CSWAP_LT", "CSWAP_GE", "CSWAP_GT", "MSWAP", "INVAL"};
  return within(opcode, 0xE0, 0xFE) ? "VENDOR" : at(kNames, opcode);
}

std::string_view name(AtomicDatatype datatype) noexcept {
  static constexpr std::array<Name, 18> kNames{
      "INT8",   "UINT8",   "INT16", "UINT16", "INT32",         "UINT32",         "INT64",       "UINT64",
      "INT128", "UINT128", "FLOAT", "DOUBLE", "FLOAT_COMPLEX", "DOUBLE_COMPLEX", "LONG_DOUBLE", "LONG_DOUBLE_COMPLEX",
      "BF16",   "FP16"};
  return within(datatype, 0xE0, 0xFE) ? "VENDOR" : at(kNames, datatype);
}

}  // namespace railyard::uet
