// What lossless classes have lost, and why.
#pragma once

#include <optional>
#include <vector>

#include "control/build/built_lab.h"
#include "control/report/report.h"

namespace railyard::report {

// Whose doing a drop is.
enum class LossCause {
  kFabric,  // the fabric's, in its buffers or in how it is set up: buffer reasons, pfc_watchdog, too_big, giant, no_route, ...
  kOutage,  // something that was there is gone: link_down, crash, host_gone, trunk_lost, trunk_full
  kDamage,  // the frame was not as it was sent: fcs_error, icrc_error, bad_*, too_short, unknown_ethertype
  kHost,    // it came, and the host had no use for it: not_understood
};
LossCause cause_of(DropReason reason) noexcept;

// Nothing: no class of a switch is lossless, and the lab has no RDMA traffic. Frames without a route count as lost to
// an outage in labs where links or switches were down.
std::optional<LosslessDrops> lossless_drops(const build::BuiltLab& lab, const std::vector<PortReport>& ports);

}  // namespace railyard::report
