#include "transports/roce/wire/syndrome.h"

namespace railyard::roce {

std::string_view nak_name(std::uint8_t code) noexcept {
  switch (static_cast<NakCode>(code)) {
    case NakCode::kPsnSequenceError:
      return "PSN sequence error";
    case NakCode::kInvalidRequest:
      return "invalid request";
    case NakCode::kRemoteAccessError:
      return "remote access error";
    case NakCode::kRemoteOperationalError:
      return "remote operational error";
    case NakCode::kInvalidRdRequest:
      return "invalid RD request";
  }
  return "reserved";
}

}  // namespace railyard::roce
