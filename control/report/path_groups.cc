#include "control/report/path_groups.h"

#include <algorithm>

#include <fmt/format.h>

namespace railyard::report {

std::uint64_t PathGroupReport::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Member& m : members) sum += m.bytes;
  return sum;
}

double PathGroupReport::max_over_mean() const noexcept {
  const std::uint64_t sum = bytes();
  if (sum == 0) return 0;
  const auto most = std::ranges::max_element(members, {}, &Member::bytes);
  return static_cast<double>(most->bytes) * static_cast<double>(members.size()) / static_cast<double>(sum);
}

double PathGroupReport::jain_index() const noexcept {
  double sum = 0;
  double squares = 0;
  for (const Member& m : members) {
    const auto x = static_cast<double>(m.bytes);
    sum += x;
    squares += x * x;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(members.size()) * squares) : 0;
}

std::vector<PathGroupReport> path_groups(const build::BuiltLab& lab, DeviceId device, const DeviceCounters& counters) {
  std::vector<PathGroupReport> groups;
  for (const PathGroupCounters& g : counters.path_groups) {
    PathGroupReport& group = groups.emplace_back();
    group.node = counters.name;
    for (const PathGroupCounters::Member& m : g.members)
      group.members.push_back({fmt::format("{}:{}", counters.name, m.port.value + 1), lab.peer_name({device, m.port}),
                               m.packets, m.octets});
  }
  return groups;
}

}  // namespace railyard::report
