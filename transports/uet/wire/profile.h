// What both ends of a fabric have to agree on, under a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transports/uet/wire/dialect.h"
#include "transports/uet/wire/encapsulation.h"

namespace railyard::uet {

struct Profile {
  EncapsulationConfig encapsulation{};
  Dialect dialect{};
  std::uint32_t payload_mtu = 4096;  // 1024, 2048, 4096 or 8192 (UET page §1.5)
  // Of an endpoint that is not told otherwise.
  std::uint32_t job_id = 1;  // 24 bits
  std::uint16_t pid_on_fep = 0;
  std::uint16_t resource_index = 15;
  std::uint32_t initiator = 0x10;
  bool rel = true;                 // relative addressing
  std::uint16_t entropy = 0x4242;  // of a sender that keeps to one
  bool std_requests_only = false;  // the peer knows no SMALL and MEDIUM requests
  bool ack_cc = true;              // the peer makes something of what an ACK says for congestion control

  bool operator==(const Profile&) const = default;
};

inline constexpr Profile kStandardProfile{};

// What the public reference provider speaks, UET page §12: over IP without UDP, with CRC; STD requests only; the state
// for congestion control is sent as 0, and ignored.
inline constexpr Profile kRefProvProfile{.encapsulation = {.udp = false},
                                         .dialect = kRefProv,
                                         .payload_mtu = 1024,
                                         .std_requests_only = true,
                                         .ack_cc = false};

// "standard", "ref-prov".
constexpr std::optional<Profile> profile(std::string_view name) noexcept {
  if (name == "standard") return kStandardProfile;
  if (name == "ref-prov") return kRefProvProfile;
  return std::nullopt;
}

}  // namespace railyard::uet
