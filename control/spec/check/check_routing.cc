#include <fmt/format.h>

#include "control/spec/check/check.h"

namespace railyard::spec {
namespace {

// Why a link between two switches has no place in the order; empty: it has one.
std::string out_of_place(PathOrder order, const NodeSpec& a, const NodeSpec& b) {
  for (const NodeSpec* n : {&a, &b})
    if (n->at.empty())
      return fmt::format("{} has no coordinates, which routing order: {} needs; expected at: [...] at the switch", n->name,
                         order == PathOrder::kDimensions ? "dimensions" : "groups");
  if (order == PathOrder::kGroups) return {};
  std::size_t differ = a.at.size() == b.at.size() ? 0 : 2;
  for (std::size_t d = 0; differ < 2 && d < a.at.size(); ++d) differ += a.at[d] != b.at[d] ? 1 : 0;
  if (differ == 1) return {};
  const auto text = [](const NodeSpec& n) {
    std::string out;
    for (const int c : n.at) out += fmt::format("{}{}", out.empty() ? "" : ", ", c);
    return "[" + out + "]";
  };
  return fmt::format("{} is at {} and {} at {}; with routing order: dimensions, expected switches that differ in exactly one "
                     "coordinate",
                     a.name, text(a), b.name, text(b));
}

void check_order(const Draft& draft) {
  const Lab& lab = draft.lab;
  const PathOrder order = lab.routing.order.value_or(PathOrder::kAny);
  if (order == PathOrder::kAny) return;
  for (std::size_t i = 0; i < lab.links.size(); ++i) {
    const NodeSpec& a = lab.nodes[draft.node(lab.links[i].a.node, *draft.links[i])];
    const NodeSpec& b = lab.nodes[draft.node(lab.links[i].b.node, *draft.links[i])];
    if (a.kind != NodeSpec::Kind::kSwitch || b.kind != NodeSpec::Kind::kSwitch) continue;
    if (const std::string why = out_of_place(order, a, b); !why.empty()) draft.links[i]->fail(why);
  }
}

// Packets of BFD go on for ever.
void check_bfd(const Draft& draft) {
  const Lab& lab = draft.lab;
  if (!lab.routing.bfd || lab.run.clock != Clock::kVirtual || lab.run.duration) return;
  draft.sections.routing->at_or_self("bfd").fail("BFD never stops sending, and the run has no end; expected run.duration");
}

}  // namespace

void check_routing(const Draft& draft) {
  check_order(draft);
  check_bfd(draft);
}

}  // namespace railyard::spec
