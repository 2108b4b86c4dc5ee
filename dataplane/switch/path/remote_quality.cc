#include "dataplane/switch/path/remote_quality.h"

#include <algorithm>
#include <map>
#include <utility>

namespace railyard {
namespace {

// The middle of a band, in 1/256 ns: it is in the band of the same number of whoever has bands of the same size.
std::uint32_t drain_of(std::uint8_t band, std::uint32_t band_end_ns) noexcept {
  if (band == 0) return 0;
  if (band == wire::QualityReport::kNoLink) return RemoteQuality::kNoWay;
  const std::uint64_t middle = (std::uint64_t{band_end_ns} << (band - 1)) * (256 * 3 / 2);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(middle, RemoteQuality::kNoWay - 1));
}

}  // namespace

void RemoteQuality::set_tables(const ForwardingTable& own, std::size_t fecs,
                               std::span<const std::shared_ptr<const ForwardingTable>> beyond) {
  rows_.clear();
  drains_.clear();
  neighbours_.clear();
  expires_ = Instant::never();
  if (std::ranges::none_of(beyond, [](const auto& table) { return table != nullptr; })) return;

  neighbours_.resize(beyond.size());
  rows_.assign(fecs, 0);
  std::uint16_t most = 1;
  for (const NextHops& group : own.groups()) most = std::max(most, group.count);
  drains_.assign(most, 0);

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
        known.try_emplace({hops.first, std::move(groups)}, static_cast<std::uint32_t>(drains_.size()));
    rows_[f] = row->second;
    if (!fresh) continue;
    drains_.resize(drains_.size() + hops.count, 0);
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
          n.heard.resize(std::max<std::size_t>(n.heard.size(), b->ports.back() + std::size_t{1}), 0);
        }
      }
      b->places.push_back(row->second + i);
    }
  }
}

void RemoteQuality::hear(Instant now, PortIndex port, const wire::QualityReport& report) {
  Neighbour& n = neighbours_[port.index()];
  const std::size_t end = std::min<std::size_t>(n.heard.size(), std::size_t{report.first_port} + report.ports);
  for (std::size_t p = report.first_port; p < end; ++p)
    n.heard[p] = drain_of(report.bands[p - report.first_port], report.band_end_ns);
  const bool bands = std::ranges::any_of(n.heard, [](std::uint32_t h) { return h != 0 && h != kNoWay; });
  n.until = bands ? now + Duration{1'000'000} * report.lifetime_us : Instant::never();
  settle(n);
  find_next_expiry();
}

void RemoteQuality::forget(PortIndex port) {
  if (!listens(port)) return;
  Neighbour& n = neighbours_[port.index()];
  std::ranges::fill(n.heard, 0);
  n.until = Instant::never();
  settle(n);
  find_next_expiry();
}

void RemoteQuality::expire(Instant now) {
  for (Neighbour& n : neighbours_) {
    if (n.until > now) continue;
    std::ranges::replace_if(n.heard, [](std::uint32_t h) { return h != kNoWay; }, 0);
    n.until = Instant::never();
    settle(n);
  }
  find_next_expiry();
}

// kNoWay is the largest: a group has no way on if none of its ports has a link.
void RemoteQuality::settle(Neighbour& n) {
  for (const Beyond& b : n.beyond) {
    std::uint32_t best = kNoWay;
    for (const std::uint16_t p : b.ports) best = std::min(best, n.heard[p]);
    for (const std::uint32_t place : b.places) drains_[place] = best;
  }
}

void RemoteQuality::find_next_expiry() noexcept {
  expires_ = Instant::never();
  for (const Neighbour& n : neighbours_) expires_ = std::min(expires_, n.until);
}

}  // namespace railyard
