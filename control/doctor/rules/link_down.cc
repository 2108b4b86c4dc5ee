// A link without signal, one that comes and goes, a switch that takes all of its links down.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

// What both ends of a link know of its failures.
struct Link {
  const PortCase* port = nullptr;
  std::uint64_t downs = 0;
  std::uint64_t dropped = 0;

  bool was_down() const { return downs > 0 || dropped > 0; }
};

std::map<std::string, Link> links_of(const Case& c) {
  std::map<std::string, Link> out;
  for (const PortCase& p : c.ports()) {
    if (p.peer.empty() && p.link_downs == 0) continue;
    Link& l = out[p.link()];
    if (l.port == nullptr || p.is_switch) l.port = &p;
    l.downs = std::max(l.downs, p.link_downs);
    l.dropped += p.dropped("link_down");
  }
  return out;
}

// A crash ends all links of a switch at once, and each as often as the others. By switch: its links that were down.
std::map<std::string, std::vector<std::string>> reset_switches(const Case& c) {
  struct Seen {
    std::size_t all = 0;
    std::vector<std::string> down;
  };
  std::map<std::string, Seen> by_switch;
  for (const auto& [name, l] : links_of(c))
    for (const PortCase* p : {l.port, l.port->other}) {
      if (p == nullptr || !p->is_switch) continue;
      Seen& s = by_switch[p->node];
      ++s.all;
      if (l.was_down()) s.down.push_back(name);
    }
  std::set<std::string> crashed;
  for (const PortCase& p : c.ports())
    if (p.dropped("crash") > 0) crashed.insert(p.node);
  std::map<std::string, std::vector<std::string>> out;
  for (auto& [node, s] : by_switch) {
    const bool polled = c.has(Input::kPolls);
    const bool all_down = s.down.size() >= 2 && s.down.size() * (polled ? 1 : 2) >= s.all;
    if (all_down || crashed.contains(node)) out[node] = std::move(s.down);
  }
  // A leaf between spines that restart is not to blame: the switch with the most links down explains those of others.
  std::erase_if(out, [&](const auto& entry) {
    return !crashed.contains(entry.first) && std::ranges::all_of(entry.second, [&](const std::string& link) {
      return std::ranges::any_of(out, [&](const auto& other) {
        return other.first != entry.first && other.second.size() > entry.second.size() &&
               std::ranges::find(other.second, link) != other.second.end();
      });
    });
  });
  return out;
}

std::vector<Diagnosis> find_switch_reset(const Case& c) {
  std::vector<Diagnosis> out;
  for (const auto& [node, links] : reset_switches(c)) {
    Diagnosis d{node, 0.95, {}};
    if (!links.empty()) d.evidence.push_back(fmt::format("its links were down: {}", fmt::join(links, ", ")));
    for (const PortCase& p : c.ports())
      if (const auto n = p.dropped("crash"); p.node == node && n > 0)
        d.evidence.push_back(fmt::format("{} lost {} packets when the switch went down", p.name(), n));
    out.push_back(std::move(d));
  }
  return out;
}

std::string evidence_of(const Link& l) {
  std::string line;
  if (l.downs > 0) line = fmt::format("{} lost its signal {} time{}", l.port->name(), l.downs, l.downs == 1 ? "" : "s");
  if (l.dropped > 0)
    line += fmt::format("{}{} packets were dropped at its ends because it was down", line.empty() ? "" : "; ", l.dropped);
  return line;
}

std::vector<Diagnosis> find_links(const Case& c, bool flapping) {
  const auto reset = reset_switches(c);
  const auto is_reset = [&](const PortCase* p) { return p != nullptr && reset.contains(p->node); };
  std::vector<Diagnosis> out;
  for (const auto& [name, l] : links_of(c)) {
    if (!l.was_down() || is_reset(l.port) || is_reset(l.port->other) || (l.downs > 1) != flapping) continue;
    out.push_back({name, 0.94, {evidence_of(l)}});
  }
  return out;
}

std::vector<Diagnosis> find_link_down(const Case& c) { return find_links(c, false); }
std::vector<Diagnosis> find_link_flapping(const Case& c) { return find_links(c, true); }

// Links between switches that went down, where an equal path was left, and tables that did not change.
std::vector<Diagnosis> find_failover_blocked(const Case& c) {
  constexpr double kLong = 20e6;  // ns: a carrier delay, sessions and tables take less
  constexpr std::uint64_t kLeast = 20;
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    const auto n = p.dropped("link_down");
    if (n < kLeast || !p.is_switch || p.other == nullptr || !p.other->is_switch || c.run_ns() < kLong) continue;
    std::size_t equal = 0;
    for (const auto& g : c.path_groups())
      for (const auto& m : items(g, "members"))
        if (text(m, "port") == p.name()) equal = items(g, "members").size();
    bool changed = false;
    for (const auto& r : c.reroutings()) changed |= count(r, "table_changes") > 0;
    if (equal < 2 || changed) continue;
    out.push_back({p.node,
                   0.95,
                   {fmt::format("{} dropped {} packets for a link that was down; {} equal paths were there", p.name(), n,
                                equal),
                    fmt::format("no table changed in {:.0f} ms", c.run_ns() / 1e6)}});
  }
  return out;
}

}  // namespace

const Rule rules::kLinkDown{
    "link-down", "A link was down.", "Optic, cable and port; the other end's log.",
    "A switch that restarted takes all of its links down at once.", find_link_down, {Input::kPorts}};
const Rule rules::kLinkFlapping{
    "link-flapping", "A link goes down and comes up again and again.",
    "Optic, cable and FEC of the link; dampening (`routing.dampening`) keeps it out of the paths until then.",
    "It was down once.", find_link_flapping, {Input::kPorts, Input::kPolls}};
const Rule rules::kSwitchReset{"switch-reset", "A switch restarted, and lost what was in its buffers.",
                               "Its log and power; drain it before maintenance (`railyard drain`).",
                               "Only some of its links were down.", find_switch_reset, {Input::kPorts}};
const Rule rules::kFailoverBlocked{"failover-blocked",
                                   "A switch goes on sending into a link that is down, though it has another path.",
                                   "Routes that do not depend on the link (static, `routing.protocol`), carrier detection, "
                                   "BFD.",
                                   "Tables changed, and only packets on their way were lost.", find_failover_blocked,
                                   {Input::kPorts, Input::kRouting}};

}  // namespace railyard::doctor
