// What a host's profile says of its UET NICs, for an engine that runs in an application. It goes from the daemon to the
// application as it lies in memory: both are of one build (application::kVersion).
#pragma once

#include <type_traits>

#include "transports/uet/engine_config.h"
#include "transports/uet/wire/encapsulation.h"

namespace railyard::libfabric {

struct NicSettings {
  uet::EngineSettings engine{};
  uet::EncapsulationConfig encapsulation{};
};
static_assert(std::is_trivially_copyable_v<NicSettings>);

}  // namespace railyard::libfabric
