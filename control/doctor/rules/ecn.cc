// Marking: absent, too late, or without an answer.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

struct Congested {
  const PortCase* port = nullptr;  // with the deepest queue of a switch that sends XOFF
  std::size_t priority = 0;
  std::uint64_t xoff = 0;
  bool is_paused = false;  // somebody else holds it
};

std::vector<Congested> congested(const Case& c) {
  std::vector<Congested> out;
  for (std::size_t k = 0; k < 8; ++k) {
    std::map<std::string, Congested> by_node;
    for (const PortCase& p : c.ports()) {
      if (!p.is_switch) continue;
      Congested& q = by_node[p.node];
      q.priority = k;
      q.xoff += p.classes[k].xoff_sent;
      if (q.port == nullptr || p.classes[k].deepest > q.port->classes[k].deepest) q.port = &p;
    }
    for (auto& [node, q] : by_node) {
      q.is_paused = q.port->classes[k].xoff_received > 0;
      if (q.xoff > 0) out.push_back(q);
    }
  }
  return out;
}

bool anyone_can_be_marked(const Case& c) {
  return std::ranges::any_of(c.flows(), [](const auto& f) { return f["transport"] != "generator"; }) ||
         !c.collectives().empty();
}

std::vector<Diagnosis> find_ecn_absent(const Case& c) {
  std::vector<Diagnosis> out;
  if (!anyone_can_be_marked(c)) return out;
  for (const Congested& q : congested(c)) {
    const ClassCase& a = q.port->classes[q.priority];
    if (a.marked > 0 || q.is_paused) continue;
    out.push_back({q.port->name(),
                   0.8,
                   {fmt::format("the queue of {} towards {} (class {}) was {} bytes deep and marked nothing",
                                q.port->name(), q.port->peer, q.priority, a.deepest),
                    fmt::format("{} sent {} XOFF of this class: PFC acts alone", q.port->node, q.xoff)}});
  }
  return out;
}

std::vector<Diagnosis> find_ecn_not_echoed(const Case& c) {
  std::vector<Diagnosis> out;
  for (const auto& f : c.flows()) {
    if (!f.contains("roce") || !f["marked"].is_number() || f["marked"].get<std::uint64_t>() < 100) continue;
    const auto sent = f["roce"]["cnp_sent"].get<std::uint64_t>(),
               handled = f["roce"]["cnp_handled"].get<std::uint64_t>();
    if (sent > 0 && handled > 0) continue;
    const std::string element = (sent == 0 ? f["dst"] : f["src"]).get<std::string>();
    const std::string line = fmt::format("{}: {} packets arrived marked, {} CNPs sent, {} taken",
                                         f["name"].get<std::string>(), f["marked"].get<std::uint64_t>(), sent, handled);
    const auto known = std::ranges::find(out, element, &Diagnosis::element);
    if (known != out.end())
      known->evidence.push_back(line);
    else
      out.push_back({element, 0.8, {line}});
  }
  return out;
}

}  // namespace

const Rule rules::kEcnAbsent{
    "ecn-absent", "A queue is deep enough for PFC, and packets are not marked: ECN is off, or Kmin is too high.",
    "Kmin below the depth at which XOFF is sent; `railyard check` names the values (kmin-above-xoff).",
    "The queue is held by a pause from further on, and not by its own load.", find_ecn_absent};
const Rule rules::kEcnNotEchoed{
    "ecn-not-echoed", "Packets arrive marked, and the sender does not slow down: no CNPs, or they do not arrive.",
    "Switch congestion control on at both NICs (notification point and reaction point), and give CNPs a class of their "
    "own.",
    "CNPs are counted at both ends.", find_ecn_not_echoed};

}  // namespace railyard::doctor
