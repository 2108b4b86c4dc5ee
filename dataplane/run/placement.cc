#include "dataplane/run/placement.h"

#include <algorithm>
#include <map>

#include <metis.h>

namespace railyard {

std::vector<std::uint8_t> place_devices(const Fabric& fabric, std::size_t workers) {
  const std::size_t devices = fabric.size();
  std::vector<std::uint8_t> worker_of(devices);
  if (workers == 1) return worker_of;
  // METIS wants more than one for each; of many parts with few devices it may print complaints to standard output.
  constexpr std::size_t kManyParts = 8;
  if (devices <= workers || (workers > kManyParts && devices < kThinWindow * workers)) {
    for (std::size_t d = 0; d < devices; ++d) worker_of[d] = static_cast<std::uint8_t>(d % workers);
    return worker_of;
  }

  // Links between the same two devices are one edge.
  std::vector<std::map<idx_t, idx_t>> neighbours(devices);
  for (const Link& link : fabric.links()) {
    const auto a = static_cast<idx_t>(link.a.device.value);
    const auto b = static_cast<idx_t>(link.b.device.value);
    if (a == b) continue;
    ++neighbours[link.a.device.index()][b];
    ++neighbours[link.b.device.index()][a];
  }
  std::vector<idx_t> first{0};
  std::vector<idx_t> ends;
  std::vector<idx_t> links;
  std::vector<idx_t> ports;
  for (std::size_t d = 0; d < devices; ++d) {
    for (const auto& [other, n] : neighbours[d]) {
      ends.push_back(other);
      links.push_back(n);
    }
    first.push_back(static_cast<idx_t>(ends.size()));
    ports.push_back(static_cast<idx_t>(std::max<std::size_t>(fabric.devices()[d]->ports(), 1)));
  }

  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // of its own generator
  auto n = static_cast<idx_t>(devices);
  auto parts = static_cast<idx_t>(workers);
  idx_t balances = 1;
  idx_t cut = 0;
  std::vector<idx_t> part(devices);
  const int ret = METIS_PartGraphRecursive(&n, &balances, first.data(), ends.data(), ports.data(), nullptr,
                                           links.data(), &parts, nullptr, nullptr, options, &cut, part.data());
  // Only for want of memory; any placement is right.
  for (std::size_t d = 0; d < devices; ++d)
    worker_of[d] = static_cast<std::uint8_t>(ret == METIS_OK ? static_cast<std::size_t>(part[d]) : d % workers);
  return worker_of;
}

}  // namespace railyard
