// Packet trimming: what a lossy queue does, instead of dropping it, with a frame that it has no room for (trim() itself
// is in packet/trim.h).
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/base/ids.h"
#include "dataplane/packet/trim.h"

namespace railyard {

struct TrimConfig {
  std::uint32_t keep = 128;  // octets from the Ethernet header on, without FCS; kLeastTrimmedOctets..9238
  std::uint8_t dscp = 0;     // of what is left, 0..63
  Priority to{};             // class whose queue at the same port it goes to
};

std::expected<void, std::string> validate(const TrimConfig& config, Priority of, const std::string& where);

}  // namespace railyard
