// Cabling and rates against a plan: a fabric file of how it should be.
#include <map>
#include <string>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

struct Planned {
  std::string peer;  // "leaf1:3"
  double rate_bps = 0;
  bool is_host = false;  // the port itself
};

// By port, both ends of each link.
std::map<std::string, Planned> planned(const Case& c) {
  std::map<std::string, Planned> out;
  for (const auto& link : c.plan()) {
    out[text(link, "a")] = {text(link, "b"), number(link, "rate_bps"), link.value("a_is_host", false)};
    out[text(link, "b")] = {text(link, "a"), number(link, "rate_bps"), link.value("b_is_host", false)};
  }
  return out;
}

// A NIC at another switch than planned. Another port of the right switch changes nothing that a rule knows.
std::vector<Diagnosis> find_wrong_switch(const Case& c) {
  std::vector<Diagnosis> out;
  const auto plan = planned(c);
  for (const PortCase& p : c.ports()) {
    // Idle switches do not show what they are; the plan does.
    const auto should = plan.find(p.name());
    if (p.other == nullptr || should == plan.end() || !should->second.is_host) continue;
    if (node_of(should->second.peer) == p.peer_node()) continue;
    out.push_back({fmt::format("{}-{}", p.peer, p.name()),
                   0.95,
                   {fmt::format("{} is at {}; the plan has it at {}", p.name(), p.peer, should->second.peer)}});
  }
  return out;
}

// Both ends agree, and the plan says more.
std::vector<Diagnosis> find_slower_than_planned(const Case& c) {
  constexpr double kSame = 0.999;  // rates are rounded when they are printed
  std::vector<Diagnosis> out;
  const auto plan = planned(c);
  for (const PortCase& p : c.ports()) {
    const auto should = plan.find(p.name());
    // Each link once, and only where it goes as planned.
    if (should == plan.end() || p.rate_bps <= 0 || !p.link().starts_with(p.name() + "-")) continue;
    const auto& [peer, rate, is_host] = should->second;
    if (node_of(peer) != p.peer_node() || p.rate_bps >= kSame * rate) continue;
    out.push_back({p.link(),
                   0.95,
                   {fmt::format("{} has {:g} Gb/s; the plan has {:g} Gb/s", p.link(), p.rate_bps / 1e9, rate / 1e9)}});
  }
  return out;
}

}  // namespace

const Rule rules::kWrongSwitch{"wrong-switch", "A host is cabled to another switch than planned: another rack, or another rail.",
                               "Move the cable, or correct the plan.", "The plan is old.", find_wrong_switch,
                               {Input::kPlan, Input::kLinks}};
const Rule rules::kSlowerThanPlanned{"slower-than-planned", "A link has a lower speed than planned.",
                                     "Speed, breakout and autonegotiation at both ends; the module and its lanes.",
                                     "It was made slower on purpose, and the plan is old.", find_slower_than_planned,
                                     {Input::kPlan, Input::kLinks}};

}  // namespace railyard::doctor
