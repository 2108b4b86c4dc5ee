// What became of a work request.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transports/roce/ids.h"
#include "transports/roce/wire/syndrome.h"

namespace railyard::roce {

// The values are those of verbs' ibv_wc_status.
enum class WcStatus : std::uint8_t {
  kSuccess = 0,
  kLocLenErr = 1,       // a message longer than its receive buffer
  kLocQpOpErr = 2,      // this end's own fault
  kLocProtErr = 4,      // local memory that may not be used so
  kWrFlushErr = 5,      // the QP was in error before it could be done
  kMwBindErr = 6,       // a window that cannot be bound so
  kBadRespErr = 7,      // an answer that is none
  kRemInvReqErr = 9,    // NAK invalid request
  kRemAccessErr = 10,   // NAK remote access error
  kRemOpErr = 11,       // NAK remote operational error
  kRetryExcErr = 12,    // no answer, retry_cnt times over
  kRnrRetryExcErr = 13  // no receive request there, rnr_retry times over
};
std::string_view name(WcStatus status) noexcept;  // as verbs spells it: "RETRY_EXC_ERR"

// How a request ends that a NAK with this code refused; nullopt: the code refuses none.
constexpr std::optional<WcStatus> refusal(NakCode code) noexcept {
  switch (code) {
    case NakCode::kInvalidRequest:
      return WcStatus::kRemInvReqErr;
    case NakCode::kRemoteAccessError:
      return WcStatus::kRemAccessErr;
    case NakCode::kRemoteOperationalError:
      return WcStatus::kRemOpErr;
    case NakCode::kPsnSequenceError:
    case NakCode::kInvalidRdRequest:
      break;
  }
  return std::nullopt;
}

// The values are those of verbs' ibv_wc_opcode.
enum class WcOpcode : std::uint8_t {
  kSend = 0,
  kWrite = 1,
  kRead = 2,
  kCompareSwap = 3,
  kFetchAdd = 4,
  kBindWindow = 5,
  kInvalidateLocal = 6,
  kRecv = 128,
  kRecvWriteImm = 129
};

struct Completion {
  std::uint64_t wr_id = 0;
  WcStatus status = WcStatus::kSuccess;
  WcOpcode opcode = WcOpcode::kSend;
  bool with_immediate = false;   // `immediate` is one
  bool with_invalidate = false;  // `immediate` is the key that was invalidated
  bool with_grh = false;         // UD: the buffer begins with 40 octets of GRH,
  bool ipv6 = false;             // ... which are an IPv6 header; else an IPv4 header at octet 20
  bool solicited = false;
  // All packets of a received message that are promises (PayloadRef) named one stream, in its order without a gap.
  bool intact = true;
  QpNumber qp{};             // this end's
  QpNumber source_qp{};      // UD: the sender's
  std::uint32_t octets = 0;  // received, read
  std::uint32_t immediate = 0;
  std::uint64_t stream = 0;  // of a received message that is a promise: its first octet
  std::uint64_t offset = 0;

  bool ok() const noexcept { return status == WcStatus::kSuccess; }
};

}  // namespace railyard::roce
