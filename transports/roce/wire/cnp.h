// The congestion notification packet of RoCEv2, IBTA Vol 1 Annex A17: a BTH with BECN set, and 16 reserved octets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transports/roce/wire/bth_values.h"

namespace railyard::roce {

inline constexpr std::size_t kCnpReservedOctets = 16;
// Sent as zeros, ignored on receipt.
using CnpReserved = std::array<std::byte, kCnpReservedOctets>;

// The BTH of a CNP for the sender of the flow to slow down; `dest_qp` is that sender's QP.
constexpr BthValues cnp_bth(std::uint32_t dest_qp) noexcept {
  return {.opcode = wire::roce_opcode::kCnp, .mig_req = false, .becn = true, .dest_qp = dest_qp};
}

}  // namespace railyard::roce
