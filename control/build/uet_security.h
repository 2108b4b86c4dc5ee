// What a fabric file says of the transport security sublayer, as a UET endpoint wants it.
#pragma once

#include <cstdint>

#include "control/spec/uet_security_spec.h"
#include "transports/uet/security/security_config.h"

namespace railyard::build {

// `ssi`: source identifier of the endpoint over IPv6, which no other one in the lab has.
uet::SecurityConfig security_config(const spec::UetSecuritySpec& said, std::uint32_t ssi);

}  // namespace railyard::build
