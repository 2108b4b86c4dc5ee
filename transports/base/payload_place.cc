#include "transports/base/payload_place.h"

#include <cstring>

#include "dataplane/base/payload_pattern.h"

namespace railyard {

void place(std::byte* to, const PayloadRef& payload) noexcept {
  if (to == nullptr || payload.octets == 0) return;
  if (payload.bytes != nullptr) {
    std::memmove(to, payload.bytes, payload.octets);
  } else {
    fill_payload(payload.stream, payload.offset, {to, payload.octets});
  }
}

}  // namespace railyard
