// How endpoints are named to libfabric: what fi_getname() returns and fi_av_insert() takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "dataplane/wire/address.h"

namespace railyard::libfabric {

// DEVIATION: libfabric 1.17 has no FI_ADDR_UET. The fields are those that the reference provider's has, without its
// layout; numbers are in this machine's octet order, for addresses stay on this machine.
struct Address {
  std::uint8_t version = 1;
  std::uint8_t flags = 0;            // none: relative addressing
  std::uint16_t capabilities = 0;    // of the fabric endpoint (FEP): not said
  std::uint16_t pid_on_fep = 0;      // 12 bits
  std::uint16_t resource_index = 0;  // 12 bits; one for RMA, SEND and TAGGED alike
  std::uint16_t resource_indices = 1;
  std::uint16_t reserved = 0;
  std::uint32_t initiator = 0;       // what it calls itself in messages
  wire::IpAddress fabric_address{};  // of the FEP

  bool operator==(const Address&) const = default;
};
static_assert(sizeof(Address) == 32 && std::is_trivially_copyable_v<Address>);

// Of fi_info::addr_format: a provider's own (FI_PROV_SPECIFIC).
inline constexpr std::uint32_t kAddressFormat = 0x8000'0000u | 0x5945u;

// "fi_uet://10.0.0.1:32.1": fabric address, PIDonFEP, resource index.
std::string to_string(const Address& address);

}  // namespace railyard::libfabric
