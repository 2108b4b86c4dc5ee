// What an endpoint has to agree on with its peers, or has to know of them, under a name.
#pragma once

#include <cstdint>

#include "transports/uet/wire/dialect.h"
#include "transports/uet/wire/encapsulation.h"

namespace railyard::uet {

struct Profile {
  EncapsulationConfig encapsulation{};
  Dialect dialect{};
  std::uint32_t payload_mtu = 4096;        // 1024, 2048, 4096 or 8192 (UET page §1.5)
  std::uint16_t first_resource_index = 0;  // of contexts of flows, which are job 1's, from PIDonFEP 0 on
  std::uint32_t window = 512;              // packets outstanding, and MP_RANGE
  std::uint32_t paths = 256;               // entropy values of a PDC
  bool ack_cc = true;                      // the peer makes something of what an ACK says for congestion control
  bool keep_alive = true;                  // the peer knows NOOPs

  bool operator==(const Profile&) const = default;
};

inline constexpr Profile kStandardProfile{};

// What the public reference provider speaks, UET page §12 and §5.15: over IP without UDP, with CRC; the state for
// congestion control is sent as 0, and ignored; one path; no NOOPs. STD requests are all that it knows, and all that we
// send.
inline constexpr Profile kRefProvProfile{.encapsulation = {.udp = false},
                                         .dialect = kRefProv,
                                         .payload_mtu = 1024,
                                         .first_resource_index = 15,
                                         .window = 128,
                                         .paths = 1,
                                         .ack_cc = false,
                                         .keep_alive = false};

}  // namespace railyard::uet
