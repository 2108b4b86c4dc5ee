// What passed while a lab settled, of a run that was watched for it (railyard run --transients).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/telemetry/transient_watch.h"

namespace railyard::report {

struct FlowReport;

struct Transients {
  std::int64_t every_ns = 0;                    // how coarse instants are
  std::optional<std::int64_t> first_loss_ns;    // a switch dropped or trimmed a frame
  std::optional<std::int64_t> first_repair_ns;  // ... and after that a flow sent a packet again
  // Of a NIC that two flows or more are bound for.
  struct Shared {
    std::string sink;
    std::uint64_t flows = 0;
    double fair_bps = 0;                         // of payload, of each
    std::int64_t onset_ns = 0;                   // the last of them started
    std::optional<std::int64_t> convergence_ns;  // from then (convergence.h); nothing: not converged
    std::optional<double> nearest_share;         // how near to fair it came (convergence.h)
  };
  std::vector<Shared> shared;

  std::optional<std::int64_t> repair_ns() const;
  // Of the slowest; nothing: one has not converged, or nobody shares.
  std::optional<std::int64_t> convergence_ns() const;
  // Of the least even; nothing: not known of one, or nobody shares.
  std::optional<double> nearest_share() const;
};

// `flows`: of all flows of the watched lab, in its order, with their limits (add_limits()).
Transients transients(const telemetry::TransientWatch& watch, const std::vector<FlowReport>& flows);
nlohmann::ordered_json transients_json(const Transients& t);

}  // namespace railyard::report
