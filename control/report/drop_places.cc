#include "control/report/drop_places.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {

std::string_view word(DropSide side) { return side == DropSide::kIngress ? "ingress" : "egress"; }

DropSide side_of(DropReason reason, const ClassCounters& c) {
  switch (reason) {
    case DropReason::kEgressFull:
    case DropReason::kTrimQueueFull:
    case DropReason::kWred:
    case DropReason::kLinkDown:
    case DropReason::kCrash:
      return DropSide::kEgress;
    case DropReason::kPfcWatchdog:
      return c.storms_detected > 0 ? DropSide::kEgress : DropSide::kIngress;
    default:
      return DropSide::kIngress;
  }
}

std::uint64_t egress_drops(const ClassCounters& c) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kDropReasons; ++i)
    if (side_of(static_cast<DropReason>(i), c) == DropSide::kEgress) sum += c.drops[i];
  return sum;
}

std::string DropPlace::name() const {
  return priority < 0 ? fmt::format("{}:{}", node, port) : fmt::format("{}:{} class {}", node, port, priority);
}

std::vector<DropPlace> drop_places(const Report& r) {
  std::vector<DropPlace> places;
  const auto add = [&](const PortReport& p, int priority, const ClassCounters& c, const DropCounts& drops) {
    for (std::size_t i = 0; i < drops.size(); ++i) {
      const auto reason = static_cast<DropReason>(i);
      if (drops[i] > 0) places.push_back({reason, side_of(reason, c), p.node, p.port, priority, drops[i]});
    }
  };
  for (const PortReport& p : r.ports) {
    add(p, -1, {}, p.counters.drops);
    for (std::size_t k = 0; k < kPriorities; ++k)
      add(p, static_cast<int>(k), p.counters.classes[k], p.counters.classes[k].drops);
  }
  std::ranges::stable_sort(places, [](const DropPlace& a, const DropPlace& b) {
    return std::tuple(a.reason, b.frames) < std::tuple(b.reason, a.frames);
  });
  return places;
}

nlohmann::ordered_json drop_places_json(const std::vector<DropPlace>& places) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const DropPlace& p : places)
    all.push_back({{"reason", name(p.reason)},
                   {"side", word(p.side)},
                   {"node", p.node},
                   {"port", p.port},
                   {"class", p.priority < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(p.priority)},
                   {"frames", p.frames}});
  return all;
}

std::string drop_places_text(const std::vector<DropPlace>& places) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(places.size(), kMost); ++i)
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", places[i].name(),
                        places.size() > 1 ? fmt::format(" ({})", count_text(places[i].frames)) : std::string());
  if (places.size() > kMost) text += fmt::format(" and {} more", places.size() - kMost);
  return text;
}

}  // namespace railyard::report
