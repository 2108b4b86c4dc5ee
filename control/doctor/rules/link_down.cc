// A link without signal, or one that comes and goes.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

bool has_reset(const Case& c, const std::string& node) {
  for (const PortCase& p : c.ports())
    if (p.node == node && p.dropped("crash") > 0) return true;
  return false;
}

std::vector<Diagnosis> find_link_down(const Case& c) {
  std::vector<Diagnosis> out;
  std::set<std::string> seen;
  for (const PortCase& p : c.ports()) {
    const auto n = p.dropped("link_down");
    if (n == 0 || has_reset(c, p.node) || (p.other != nullptr && has_reset(c, p.other->node))) continue;
    if (!seen.insert(p.link()).second) continue;
    out.push_back({p.link(), 0.9, {fmt::format("{} dropped {} packets because its link was down", p.name(), n)}});
  }
  return out;
}

// Links of these switches that were down: where it is more than one, the switch is to blame.
std::map<std::string, std::set<std::string>> down_links(const Case& c) {
  std::map<std::string, std::set<std::string>> out;
  for (const PortCase& p : c.ports()) {
    if (p.dropped("link_down") == 0 || p.other == nullptr) continue;
    if (p.is_switch) out[p.node].insert(p.link());
    if (p.other->is_switch) out[p.other->node].insert(p.link());
  }
  return out;
}

std::vector<Diagnosis> find_switch_reset(const Case& c) {
  std::vector<Diagnosis> out;
  std::set<std::string> seen;
  for (const PortCase& p : c.ports()) {
    const auto n = p.dropped("crash");
    if (n == 0) continue;
    if (seen.insert(p.node).second) out.push_back({p.node, 0.95, {}});
    for (Diagnosis& d : out)
      if (d.element == p.node)
        d.evidence.push_back(fmt::format("{} lost {} packets when the switch went down", p.name(), n));
  }
  if (!out.empty()) return out;
  const auto links = down_links(c);
  std::size_t most = 1;
  for (const auto& [node, all] : links) most = std::max(most, all.size());
  for (const auto& [node, all] : links)
    if (most > 1 && all.size() == most)
      out.push_back({node, 0.7, {fmt::format("{} links of {} were down: {}", all.size(), node, fmt::join(all, ", "))}});
  return out.size() == 1 ? out : std::vector<Diagnosis>{};
}

}  // namespace

const Rule rules::kLinkDown{
    "link-down", "A link was down, once or again and again.",
    "Look at the log for how often; dampening (`routing.dampening`) keeps a link that flaps out of the paths.",
    "A switch that restarted takes all of its links down at once.", find_link_down};
const Rule rules::kSwitchReset{"switch-reset", "A switch restarted, and lost what was in its buffers.",
                               "Its log and power; drain it before maintenance (`railyard drain`).",
                               "Only some of its links were down.", find_switch_reset};

}  // namespace railyard::doctor
