// What a result says of the fabric that was tested, and of what must be equal in results that are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "control/spec/spec.h"

namespace railyard::bench {

struct FabricFacts {
  std::size_t hosts = 0, switches = 0, links = 0;
  std::size_t accelerators = 0;           // GPUs of all hosts; of hosts without any each NIC is one
  std::size_t accelerators_per_host = 0;  // of the host that has most
  std::int64_t b_acc_bps = 0;             // the NICs of one accelerator together, of the slowest host
  std::size_t tiers = 0;
  int least_switches = 0, most_switches = 0;  // that a packet passes
  std::optional<double> oversubscription;     // of the leaves
  std::optional<std::int64_t> bisection_bps;  // between two halves of the hosts, one direction
  std::string topology_class;                 // "A": two tiers, "B": three, "C": rail-optimized, "other"
};

FabricFacts facts_of(const spec::Lab& lab);
nlohmann::ordered_json topology_json(const FabricFacts& facts);

}  // namespace railyard::bench
