#include "control/collectives/operation.h"

namespace railyard::collectives {

std::string_view name(Operation operation) noexcept {
  switch (operation) {
    case Operation::kAllReduce:
      return "all-reduce";
    case Operation::kReduceScatter:
      return "reduce-scatter";
    case Operation::kAllGather:
      return "all-gather";
    case Operation::kBroadcast:
      return "broadcast";
    case Operation::kAllToAll:
      return "all-to-all";
  }
  return "";
}

double busbw_factor(Operation operation, std::uint32_t ranks) {
  const double n = ranks;
  switch (operation) {
    case Operation::kAllReduce:
      return 2 * (n - 1) / n;
    case Operation::kReduceScatter:
    case Operation::kAllGather:
    case Operation::kAllToAll:
      return (n - 1) / n;
    case Operation::kBroadcast:
      break;
  }
  return 1;
}

}  // namespace railyard::collectives
