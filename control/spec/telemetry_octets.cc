#include "control/spec/telemetry_octets.h"

#include <algorithm>

#include "dataplane/base/path_telemetry.h"

namespace railyard::spec {

std::uint32_t telemetry_octets(const Lab& lab) {
  const bool any = std::ranges::any_of(lab.hosts, [](const auto& host) { return host.second.roce.reads_telemetry(); });
  return any ? PathTelemetry::kMostWireOctets : 0;
}

}  // namespace railyard::spec
