#include "control/report/lossless.h"

#include <algorithm>
#include <array>
#include <variant>

#include <fmt/format.h>

#include "control/report/rdma_classes.h"

namespace railyard::report {
namespace {

bool is_for_room(DropReason reason) noexcept {
  switch (reason) {
    case DropReason::kIngressFull:
    case DropReason::kHeadroomFull:
    case DropReason::kEgressFull:
    case DropReason::kWred:
    case DropReason::kTrimQueueFull:
    case DropReason::kNicReceiveFull:
      return true;
    default:
      return false;
  }
}

bool has_drops(const ClassCounters& c) {
  return std::ranges::any_of(c.drops, [](std::uint64_t n) { return n > 0; });
}

std::uint64_t drops_for(const PortReport& p, DropReason reason) {
  std::uint64_t n = p.counters.drops[static_cast<std::size_t>(reason)];
  for (const ClassCounters& c : p.counters.classes) n += c.drops[static_cast<std::size_t>(reason)];
  return n;
}

// Whether links or switches were down, by a fault or by hand.
bool had_outage(const spec::Lab& lab, const std::vector<PortReport>& ports) {
  const bool by_fault = std::ranges::any_of(lab.faults, [](const spec::FaultSpec& f) {
    return std::holds_alternative<spec::fault::Down>(f.action) || std::holds_alternative<spec::fault::Flap>(f.action) ||
           std::holds_alternative<spec::fault::Crash>(f.action);
  });
  return by_fault || std::ranges::any_of(ports, [](const PortReport& p) {
           return p.counters.lost > p.counters.lost_to_faults || drops_for(p, DropReason::kLinkDown) > 0 ||
                  drops_for(p, DropReason::kCrash) > 0;
         });
}

// Those that the fabric answers for, and, of the same class, those of other traffic.
void add_class(const PortReport& p, std::size_t priority, bool lossless_here, bool lossless_somewhere,
               RdmaClasses::Kind kind, bool outage, LosslessDrops& sum) {
  const ClassCounters& c = p.counters.classes[priority];
  for (std::size_t i = 0; i < kDropReasons; ++i) {
    const auto reason = static_cast<DropReason>(i);
    const LossCause cause = cause_of(reason);
    if (c.drops[i] == 0 || cause == LossCause::kHost) continue;
    if (cause != LossCause::kFabric || (reason == DropReason::kNoRoute && outage)) {
      sum.to_faults += c.drops[i];
      continue;
    }
    std::uint64_t counted = 0;
    if (kind == RdmaClasses::Kind::kLossless) sum.rdma += counted = c.rdma_drops[i];
    if (kind == RdmaClasses::Kind::kLossy) sum.dropped_lossy += c.rdma_drops[i];
    if (lossless_here) {
      const std::uint64_t others = c.drops[i] - counted;
      (is_for_room(reason) ? sum.for_room : sum.otherwise) += others;
      if (is_for_room(reason)) counted += others;
    } else if (lossless_somewhere) {
      (is_for_room(reason) ? sum.where_lossy : sum.otherwise) += c.drops[i] - c.rdma_drops[i];
    }
    if (counted > 0) sum.places.push_back({fmt::format("{}:{}", p.node, p.port), priority, reason, counted});
  }
}

}  // namespace

LossCause cause_of(DropReason reason) noexcept {
  switch (reason) {
    case DropReason::kLinkDown:
    case DropReason::kCrash:
    case DropReason::kHostGone:
    case DropReason::kTrunkLost:
    case DropReason::kTrunkFull:
      return LossCause::kOutage;
    case DropReason::kTooShort:
    case DropReason::kBadVersion:
    case DropReason::kBadHeaderLength:
    case DropReason::kBadLength:
    case DropReason::kBadChecksum:
    case DropReason::kUnknownEtherType:
    case DropReason::kBadMacControl:
    case DropReason::kFcsError:
    case DropReason::kIcrcError:
      return LossCause::kDamage;
    case DropReason::kNotUnderstood:
      return LossCause::kHost;
    default:
      return LossCause::kFabric;
  }
}

std::optional<LosslessDrops> lossless_drops(const build::BuiltLab& lab, const std::vector<PortReport>& ports) {
  const spec::Lab& spec = lab.spec();
  const bool any = std::ranges::any_of(ports, [](const PortReport& p) {
    return std::ranges::any_of(p.counters.classes, [](const ClassCounters& c) { return has_drops(c); });
  });
  const RdmaClasses rdma(lab, any);
  const bool outage = had_outage(spec, ports);
  LosslessDrops sum;
  sum.lossy_roce = rdma.lossy_roce();
  std::array<bool, kPriorities> somewhere{};  // by class: lossless at a switch
  for (const spec::NodeSpec& n : spec.nodes)
    if (n.kind == spec::NodeSpec::Kind::kSwitch)
      for (std::size_t k = 0; k < kPriorities; ++k)
        somewhere[k] |= spec.qos.at(spec.switches.at(n.profile).qos).classes[k].lossless;
  for (const PortReport& p : ports) {
    sum.to_faults += p.counters.lost;
    for (std::size_t i = 0; i < kDropReasons; ++i) {
      const LossCause cause = cause_of(static_cast<DropReason>(i));
      if (cause == LossCause::kOutage || cause == LossCause::kDamage) sum.to_faults += p.counters.drops[i];
    }
    const spec::QosProfile* qos =
        p.is_switch ? &spec.qos.at(spec.switches.at(spec.find(p.node)->profile).qos) : nullptr;
    for (std::size_t k = 0; k < kPriorities; ++k) {
      const bool lossless_here = qos != nullptr && qos->classes[k].lossless;
      sum.any_lossless |= lossless_here;
      if (has_drops(p.counters.classes[k]))
        add_class(p, k, lossless_here, somewhere[k], rdma.at(p.node, p.port, k), outage, sum);
    }
  }
  std::ranges::stable_sort(sum.places, std::ranges::greater{}, &LosslessDrops::Place::frames);
  return sum.any_lossless || rdma.any() ? std::optional(std::move(sum)) : std::nullopt;
}

}  // namespace railyard::report
