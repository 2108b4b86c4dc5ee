// Packets that leave in one class and arrive in another.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::uint64_t moved(const PortCase& p) {
  std::uint64_t more = 0, fewer = 0;
  for (std::size_t k = 0; k < p.classes.size(); ++k) {
    const std::uint64_t sent = p.classes[k].tx, received = p.other->classes[k].rx;
    more += received > sent ? received - sent : 0;
    fewer += sent > received ? sent - received : 0;
  }
  // What is more without being fewer elsewhere was duplicated.
  return std::min(more, fewer);
}

constexpr std::uint64_t kLeastMoved = 5;

// Directions of links whose two ends count different classes. Whoever gets packets in a wrong class may pass them on in one
// that its neighbour finds wrong again: only where that begins, if it begins anywhere. Where packets go both ways it may not.
std::vector<const PortCase*> wrong_links(const Case& c) {
  std::vector<const PortCase*> all, first;
  std::set<std::string> receivers;
  for (const PortCase& p : c.ports())
    if (p.other != nullptr && moved(p) >= kLeastMoved) {
      all.push_back(&p);
      receivers.insert(p.other->node);
    }
  for (const PortCase* p : all)
    if (!receivers.contains(p->node)) first.push_back(p);
  return first.empty() ? all : first;
}

void add_evidence(const PortCase& p, Diagnosis& d) {
  constexpr std::size_t kMost = 6;
  for (std::size_t k = 0; k < p.classes.size() && d.evidence.size() < kMost; ++k)
    if (p.classes[k].tx != p.other->classes[k].rx)
      d.evidence.push_back(fmt::format("class {}: {} sent {} packets, {} received {}", k, p.name(), p.classes[k].tx,
                                       p.peer, p.other->classes[k].rx));
}

// The device that is an end of most of them: its map is not that of its neighbours. One link alone says where packets arrive
// wrong, both directions of one that its ends do not agree.
std::vector<Diagnosis> find_dscp_rewritten(const Case& c) {
  std::vector<Diagnosis> out;
  std::vector<const PortCase*> wrong = wrong_links(c);
  while (!wrong.empty()) {
    std::map<std::string, std::set<std::string>> links;  // by node
    for (const PortCase* p : wrong)
      for (const std::string& node : {p->node, p->other->node}) links[node].insert(p->link());
    const auto most = std::ranges::max_element(links, {}, [](const auto& l) { return l.second.size(); });
    const bool is_device = most->second.size() > 1;
    const auto is_explained = [&](const PortCase* p) {
      return is_device ? p->node == most->first || p->other->node == most->first : p->link() == wrong.front()->link();
    };
    const auto its = std::ranges::count_if(wrong, is_explained);
    Diagnosis d{is_device ? most->first : its > 1 ? wrong.front()->link() : wrong.front()->peer, 0.9, {}};
    if (is_device) d.evidence.push_back(fmt::format("{} links of {} differ", most->second.size(), most->first));
    for (const PortCase* p : wrong)
      if (is_explained(p)) add_evidence(*p, d);
    out.push_back(std::move(d));
    std::erase_if(wrong, is_explained);
  }
  return out;
}

}  // namespace

const Rule rules::kDscpRewritten{
    "dscp-rewritten",
    "Packets change their class between two devices: a DSCP is rewritten, or mapped to another class.",
    "Map and trust the same DSCP at both ends; no device on the way may rewrite it.",
    "Packets are missing on the link: then compare again without losses.", find_dscp_rewritten, {Input::kLinks}};

}  // namespace railyard::doctor
