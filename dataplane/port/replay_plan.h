// The frames of a capture file as a NIC is to send them: when, in which class, how often.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/nic/host_config.h"
#include "dataplane/port/pcap_file.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

struct ReplayTiming {
  bool as_fast_as_possible = false;  // else at the times of the file, the first frame at once
  BitRate rate{};                    // > 0: at this rate instead, with preamble and gap
  Framing framing{};                 // of the NIC's link, for `rate`
  bool loop = false;                 // from the beginning again, until it is stopped
};

// Made once, by whoever asks for a replay, and only read from then on.
struct ReplayPlan {
  struct Frame {
    Duration at;  // since the beginning, or since that of its round
    Priority priority;
    std::uint16_t header_octets;
    std::vector<std::byte> octets;
    bool control = false;  // PFC: before frames of any class, to the port at the other end of the link
  };
  std::vector<Frame> frames;                                     // in order of time
  std::array<std::vector<std::uint32_t>, kPriorities> by_class;  // indices of them
  std::vector<std::uint32_t> controls;                           // and of those that are MAC control
  std::uint64_t not_sendable = 0;                                // frames of the file that this NIC would not send,
  std::uint64_t not_pfc = 0;  // ... of these, MAC control other than PFC, which no port of the lab obeys
  Duration round{};                                              // how long one takes, with `loop`
  bool loop = false;
};

// `nic`: where they enter the fabric. Unicast frames are addressed to `next_hop`: the capture's own next hop is not
// here. Not sendable are frames that are malformed, longer than the link's MTU allows, or MAC control other than PFC
// (802.3x pause). The error is
// that nothing would be sent, or not in a time that can be repeated, and what to do.
std::expected<ReplayPlan, std::string> plan_replay(std::vector<CapturedFrame> captured, const NicConfig& nic,
                                                   const wire::MacAddress& next_hop, const ReplayTiming& timing);

}  // namespace railyard
