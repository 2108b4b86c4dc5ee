// Packet trimming: what a switch does, instead of dropping it, with a frame of a lossy class that there is no room for,
// in its queue or in the ingress group that it came in by (trim() itself is in packet/trim.h).
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
  // Of an arriving frame that its queue has no room for and the last one of that queue, either is cut, with even
  // chances (uet-htsim's way); false: always the arriving one.
  bool coin = false;
};

std::expected<void, std::string> validate(const TrimConfig& config, Priority of, const std::string& where);

}  // namespace railyard
