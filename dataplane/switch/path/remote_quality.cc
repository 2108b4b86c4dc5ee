#include "dataplane/switch/path/remote_quality.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dataplane/base/planted_bug.h"

namespace railyard {
namespace {

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;

// The middle of a band, of which there is something to wait for.
Duration wait_of(std::uint8_t band, std::uint32_t band_end_ns) noexcept {
  constexpr std::int64_t kOneAndAHalf = 1500;  // ps per ns, with the doubling from band to band
  return Duration{(std::int64_t{band_end_ns} << (band - 1)) * kOneAndAHalf};
}

}  // namespace

void RemoteQuality::set_tables(const ForwardingTable& own, std::size_t fecs,
                               std::span<const std::shared_ptr<const ForwardingTable>> beyond) {
  rows_.clear();
  gone_.clear();
  neighbours_.clear();
  if (std::ranges::none_of(beyond, [](const auto& table) { return table != nullptr; })) return;

  neighbours_.resize(beyond.size());
  rows_.assign(fecs, 0);
  std::uint16_t most = 1;
  for (const NextHops& group : own.groups()) most = std::max(most, group.count);
  gone_.assign(most, Instant{});

  // Destinations that go the same ways here and there share a row.
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> known;
  for (std::size_t f = 0; f < fecs; ++f) {
    const Fec fec{static_cast<std::uint32_t>(f)};
    const NextHops& hops = own.lookup(fec);
    if (hops.kind != NextHops::Kind::kGroup || hops.count < 2) continue;
    std::vector<std::uint32_t> groups;
    for (std::uint32_t i = 0; i < hops.count; ++i) {
      const auto& table = beyond[own.member(hops, i).index()];
      const NextHops next = table == nullptr ? NextHops{} : table->lookup(fec);
      groups.push_back(next.kind == NextHops::Kind::kGroup ? next.first : kNone);
    }
    if (std::ranges::all_of(groups, [](std::uint32_t g) { return g == kNone; })) continue;
    const auto [row, fresh] =
        known.try_emplace({hops.first, std::move(groups)}, static_cast<std::uint32_t>(gone_.size()));
    rows_[f] = row->second;
    if (!fresh) continue;
    gone_.resize(gone_.size() + hops.count, Instant{});
    for (std::uint32_t i = 0; i < hops.count; ++i) {
      const std::uint32_t group = row->first.second[i];
      if (group == kNone) continue;
      const PortIndex port = own.member(hops, i);
      Neighbour& n = neighbours_[port.index()];
      auto b = std::ranges::find(n.beyond, group, &Beyond::group);
      if (b == n.beyond.end()) {
        const ForwardingTable& table = *beyond[port.index()];
        const NextHops next = table.lookup(fec);
        b = n.beyond.insert(b, Beyond{group, {}, {}});
        for (std::uint32_t m = 0; m < next.count; ++m) {
          b->ports.push_back(table.member(next, m).value);
          n.heard.resize(std::max<std::size_t>(n.heard.size(), b->ports.back() + std::size_t{1}), Instant{});
        }
      }
      b->places.push_back(row->second + i);
    }
  }
}

void RemoteQuality::hear(Instant now, Instant said, PortIndex port, const wire::QualityReport& report) {
  using wire::QualityReport;
  Neighbour& n = neighbours_[port.index()];
  const Instant latest = now + Duration{kPicosecondsPerMicrosecond * report.lifetime_us};
  const std::size_t end = std::min<std::size_t>(n.heard.size(), std::size_t{report.first_port} + report.ports);
  for (std::size_t p = report.first_port; p < end; ++p) {
    const std::uint8_t band = report.bands[p - report.first_port];
    n.heard[p] = band == QualityReport::kNoLink ? kNoWay
                 : band == 0                    ? Instant{}
                                                : std::min(said + wait_of(band, report.band_end_ns), latest);
  }
  settle(n);
}

void RemoteQuality::forget(PortIndex port) {
  if (!listens(port) || planted(PlantedBug::kStaleQualityReport)) return;
  Neighbour& n = neighbours_[port.index()];
  std::ranges::fill(n.heard, Instant{});
  settle(n);
}

bool RemoteQuality::believes(PortIndex port) const noexcept {
  return listens(port) &&
         std::ranges::any_of(neighbours_[port.index()].heard, [](Instant i) { return i != Instant{}; });
}

// kNoWay is the last of all instants: a group has no way on if none of its ports has a link.
void RemoteQuality::settle(Neighbour& n) {
  for (const Beyond& b : n.beyond) {
    Instant best = kNoWay;
    for (const std::uint16_t p : b.ports) best = std::min(best, n.heard[p]);
    for (const std::uint32_t place : b.places) gone_[place] = best;
  }
}

}  // namespace railyard
