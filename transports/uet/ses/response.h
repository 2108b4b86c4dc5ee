// What a target answers to one packet: a response of the semantic sublayer, with up to 16 octets of data (uet §5.7).
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "dataplane/base/payload_ref.h"
#include "transports/base/memory_regions.h"
#include "transports/uet/wire/nack_code.h"
#include "transports/uet/wire/ses_request.h"
#include "transports/uet/wire/ses_response.h"

namespace railyard::uet {

inline constexpr std::uint32_t kMostAckData = 16;

struct Response {
  SesResponseValues ses{};
  // With data: real octets are in `data`, promises have their name in `promise`.
  PayloadRef promise{};
  MemoryRegions::Key read_from = 0;  // of a READ: the region that the data are of
  bool real = false;
  std::array<std::byte, kMostAckData> data{};

  bool has_data() const noexcept { return ses.form == NextHdr::kResponseData; }
};

constexpr Response default_answer(const SesRequestValues& request) noexcept {
  return {.ses = default_response(request.message_id, request.job_id)};
}
constexpr Response refusal(const SesRequestValues& request, ReturnCode code) noexcept {
  Response r = default_answer(request);
  r.ses.opcode = SesResponseOpcode::kResponse;
  r.ses.return_code = code;
  return r;
}

// What the semantic sublayer makes of a packet.
struct Verdict {
  Response response{};
  bool guaranteed = false;            // the initiator must learn of it (uet §5.6)
  bool ready = true;                  // false: the response comes later, and is guaranteed
  std::optional<NackCode> refused{};  // there is no room for the packet now
};

}  // namespace railyard::uet
