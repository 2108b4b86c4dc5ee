// Cabling and rates against a plan: a fabric file of how it should be.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

// Peers by port, both ways: "h3:1" -> {"leaf1:3", rate}.
std::map<std::string, std::pair<std::string, double>> planned(const Case& c) {
  std::map<std::string, std::pair<std::string, double>> out;
  for (const auto& link : c.plan()) {
    out[text(link, "a")] = {text(link, "b"), number(link, "rate_bps")};
    out[text(link, "b")] = {text(link, "a"), number(link, "rate_bps")};
  }
  return out;
}

// A NIC at another switch than planned. Another port of the right switch changes nothing that a rule knows.
std::vector<Diagnosis> find_wrong_switch(const Case& c) {
  std::vector<Diagnosis> out;
  const auto plan = planned(c);
  for (const PortCase& p : c.ports()) {
    if (p.is_switch || p.other == nullptr) continue;
    const auto should = plan.find(p.name());
    if (should == plan.end() || node_of(should->second.first) == p.peer_node()) continue;
    out.push_back({p.link(),
                   0.95,
                   {fmt::format("{} is at {}; the plan has it at {}", p.name(), p.peer, should->second.first)}});
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
    const auto& [peer, rate] = should->second;
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
