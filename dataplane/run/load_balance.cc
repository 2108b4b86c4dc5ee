#include "dataplane/run/load_balance.h"

#include <algorithm>

namespace railyard {
namespace {

// What a frame costs that changes workers, in processor cycles: about 100 ns.
constexpr std::uint64_t kCrossing = 250;

}  // namespace

// So far, by link.
std::vector<std::uint64_t> LoadBalance::frames() const {
  std::vector<std::uint64_t> out;
  out.reserve(fabric_.links().size());
  for (const Link& link : fabric_.links()) {
    std::uint64_t& n = out.emplace_back(0);
    for (const PortRef& end : {link.a, link.b}) n += fabric_.devices()[end.device.index()]->delivered(end.port);
  }
  return out;
}

// Of the measured windows, placed like that: what the busiest worker has to do.
std::uint64_t LoadBalance::time(const std::vector<std::uint8_t>& worker_of) const {
  std::vector<std::uint64_t> busy(workers_, 0);
  for (std::size_t d = 0; d < worker_of.size(); ++d) busy[worker_of[d]] += loads_.devices[d];
  std::uint64_t crossing = 0;
  for (std::size_t l = 0; l < loads_.links.size(); ++l) {
    const Link& link = fabric_.links()[l];
    if (worker_of[link.a.device.index()] != worker_of[link.b.device.index()]) crossing += loads_.links[l];
  }
  return *std::ranges::max_element(busy) + crossing * kCrossing / workers_;
}

std::optional<std::vector<std::uint8_t>> LoadBalance::after_window(const std::vector<std::uint8_t>& worker_of) {
  ++windows_;
  if (!measures_) {
    if (windows_ != pace_.first) return {};
    measures_ = true;
    loads_.devices.assign(fabric_.size(), 0);
    loads_.links = frames();
    return {};
  }
  if (windows_ < pace_.first + pace_.measured) return {};
  measures_ = false;
  pace_.first *= pace_.later;
  const std::vector<std::uint64_t> now = frames();
  for (std::size_t l = 0; l < now.size(); ++l) loads_.links[l] = now[l] - loads_.links[l];
  std::vector<std::uint8_t> better = place_devices(fabric_, workers_, {}, &loads_);
  // Not for a few percent.
  constexpr std::uint64_t kWorth = 97, kAll = 100;
  if (time(better) * kAll >= time(worker_of) * kWorth) return {};
  return better;
}

}  // namespace railyard
