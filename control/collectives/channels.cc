#include "control/collectives/channels.h"

#include <algorithm>
#include <map>

namespace railyard::collectives {

int usual_channels(const Algorithm& algorithm, Operation operation, const Layout& layout, std::uint64_t octets, int buckets) {
  if (!algorithm.channels_by_nic || !algorithm.does(operation) || !layout.in_hosts) return 1;
  std::map<std::uint32_t, int> members;
  for (const std::uint32_t host : layout.group) ++members[host];
  if (members.size() < 2) return 1;  // no NIC is used, or no host has several
  int most = 1;
  for (const auto& [host, count] : members) most = std::max(most, count);
  constexpr double kMostTransfers = 1 << 21;
  const double each = algorithm.transfers(layout, static_cast<double>(octets) / most);
  return std::clamp(static_cast<int>(kMostTransfers / each / buckets), 1, most);
}

}  // namespace railyard::collectives
