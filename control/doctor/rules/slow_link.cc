// Links that carry less than their rate, or have another one than their like.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_slow_link(const Case& c) {
  // Intervals between polls; one may begin while the link still sends what waited before.
  constexpr std::uint64_t kLeast = 3;
  constexpr double kPart = 0.1;
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    if (p.slow < kLeast || static_cast<double>(p.slow) < kPart * static_cast<double>(p.busy)) continue;
    const std::string line =
        fmt::format("{} sent {:.1f} Gb/s of {:.0f} while frames waited and nobody paused it ({} of {} polls)",
                    p.direction(), p.slow_bps / 1e9, p.rate_bps / 1e9, p.slow, p.busy);
    const auto known = std::ranges::find(out, p.link(), &Diagnosis::element);
    if (known != out.end())
      known->evidence.push_back(line);
    else
      out.push_back({p.link(), 0.93, {line}});
  }
  return out;
}

// "leaf" of "leaf12"
std::string kind_of(const std::string& node) { return node.substr(0, node.find_last_not_of("0123456789") + 1); }

std::vector<Diagnosis> find_speed_mismatch(const Case& c) {
  constexpr std::size_t kLeast = 6;  // links that are alike
  std::map<std::pair<std::string, std::string>, std::map<double, std::vector<const PortCase*>>> tiers;
  for (const PortCase& p : c.ports())
    if (p.is_switch && p.other != nullptr && p.rate_bps > 0 && p.link().starts_with(p.name()))
      tiers[{kind_of(p.node), p.other->is_switch ? kind_of(p.other->node) : "hosts"}][p.rate_bps].push_back(&p);
  std::vector<Diagnosis> out;
  for (const auto& [kinds, rates] : tiers) {
    if (rates.size() != 2) continue;
    const auto& [slow, few] = *rates.begin();
    const auto& [fast, many] = *rates.rbegin();
    if (few.size() != 1 || many.size() + 1 < kLeast) continue;
    out.push_back({few[0]->link(),
                   0.8,
                   {fmt::format("{} has {:.0f} Gb/s; the {} other links between {} and {} have {:.0f}", few[0]->link(),
                                slow / 1e9, many.size(), kinds.first, kinds.second, fast / 1e9)}});
  }
  return out;
}

}  // namespace

const Rule rules::kSlowLink{"slow-link",
                            "A link sends more slowly than its rate: a lane is down, or a module limits it.",
                            "Lanes, FEC and module of the link; drain it until then (`railyard drain`).",
                            "The port was paused, or waited for credits.", find_slow_link, {Input::kPolls}};
const Rule rules::kSpeedMismatch{"speed-mismatch", "One link has a lower speed than all others like it.",
                                 "Speed, breakout and autonegotiation at both ends.",
                                 "The host has a slower NIC by design.", find_speed_mismatch, {Input::kLinks}};

}  // namespace railyard::doctor
