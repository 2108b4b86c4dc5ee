#include "control/plan/candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "control/plan/dragonfly_sizing.h"
#include "control/plan/fabric_file.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

// Room for whole switches.
constexpr double kTolerance = 1.02;
// Tried for leaves, the most capacity first. Below 1 there is more than all NICs can send: fewer collisions, and
// reserve for failures.
constexpr std::array kRatios{Ratio{1, 2}, Ratio{2, 3}, Ratio{3, 4}, Ratio{4, 5}, Ratio{8, 9}, Ratio{1},    Ratio{9, 8},
                             Ratio{5, 4}, Ratio{4, 3}, Ratio{3, 2}, Ratio{5, 3}, Ratio{2},    Ratio{5, 2}, Ratio{3},
                             Ratio{4},    Ratio{5},    Ratio{6},    Ratio{8},    Ratio{12},   Ratio{16}};

// Infinite: a price is missing.
double cost_of(const Bill& b, CostUnit unit) {
  return unit == CostUnit::kMoney ? b.fabric_cost.value_or(std::numeric_limits<double>::infinity())
                                  : static_cast<double>(b.count(Item::kSwitch));
}

void refuse_missing_prices(Candidate& c) {
  if (!std::isinf(c.cost)) return;
  c.why_not = fmt::format("the prices file has no price of: {}", fmt::join(c.bill.unpriced, ", "));
}

Candidate of_shape(const char* name, const Request& r, const Plan& plan, const Shape& s, CostUnit unit) {
  Candidate c{.name = name};
  const std::vector<CableRow> rows = cables(r, s);
  c.bill = bill(parts_of(s, s.now, plan.chosen, rows, false), plan.prices);
  c.cost = cost_of(c.bill, unit);
  c.topology = topology_text(s, s.now, rows);
  c.host_for_each_nic = has_host_for_each_nic(s);
  c.hosts = hosts_in_topology(s, s.now);
  c.job_hosts = s.now.nodes * (c.host_for_each_nic ? s.nics_per_node : 1);
  c.description = counted_switches(s.now);
  if (s.tiers > 1) c.description += "; " + ratio_text(s.leaf_oversubscription());
  refuse_missing_prices(c);
  return c;
}

// Leaves below spines, with as few uplinks as the budget demands.
Candidate clos(const char* name, Request r, Design design, const Plan& plan, CostUnit unit, double budget) {
  r.design = design;
  r.rails_per_leaf = design == plan.request.design ? plan.request.rails_per_leaf : std::nullopt;
  std::optional<Candidate> best;
  std::string why;
  for (const Ratio ratio : kRatios) {
    r.oversubscription = ratio;
    try {
      Candidate c = of_shape(name, r, plan, size(r, plan.chosen), unit);
      if (c.cost <= budget * kTolerance) return c;
      if (!best || c.cost < best->cost) best = std::move(c);
    } catch (const spec::SpecError& e) {
      why = e.message();
    }
  }
  if (best) return *best;
  Candidate none{.name = name};
  none.why_not = why;
  return none;
}

// Each rail is a switch, or several rails share one; nothing joins them.
Candidate rail_only(Request r, const Plan& plan, CostUnit unit) {
  r.design = Design::kRailOptimized;
  const int split = std::max(1, static_cast<int>(plan.chosen.port_rate.bps / r.nic_rate().bps));
  const int rails = std::min(plan.chosen.radix * split / r.nodes(), r.nics());
  if (rails == 0) {
    Candidate none{.name = "rail-only"};
    none.why_not =
        fmt::format("a rail of {} nodes does not fit one switch of {} ports", r.nodes(), plan.chosen.radix * split);
    return none;
  }
  Shape s{.design = r.design,
          .tiers = 1,
          .radix = plan.chosen.radix,
          .nics_per_node = r.nics(),
          .split = split,
          .nic_rate = r.nic_rate(),
          .port_rate = plan.chosen.port_rate,
          .leaves_per_group = (r.nics() + rails - 1) / rails,
          .nodes_per_group = r.nodes()};
  s.rails_per_leaf = (r.nics() + s.leaves_per_group - 1) / s.leaves_per_group;
  s.down = (r.nodes() * s.rails_per_leaf + split - 1) / split;
  s.now = s.later = level_of(s, r.nodes());
  Candidate c = of_shape("rail-only", r, plan, s, unit);
  c.description = counted_switches(s.now) + ", no spines";
  return c;
}

Candidate dragonfly_plus(const Request& r, const Plan& plan, CostUnit unit, double budget) {
  Request near = r;
  near.design = Design::kFatTree;  // all NICs of a node at one leaf
  const auto price = [&](const DragonflyShape& s) {
    return cost_of(bill(parts_of(s, near, plan.chosen), plan.prices), unit);
  };
  const auto s = size_dragonfly(
      near, plan.chosen, [&](const DragonflyShape& tried) { return price(tried) <= budget * kTolerance; }, price);
  Candidate c{.name = "dragonfly+"};
  if (!s) {
    c.why_not = fmt::format("no groups of {} ports hold {} NICs", plan.chosen.radix, r.nodes() * r.nics());
    return c;
  }
  c.bill = bill(parts_of(*s, near, plan.chosen), plan.prices);
  c.cost = cost_of(c.bill, unit);
  c.topology = topology_text(*s, near);
  c.host_for_each_nic = r.nics() > 1;
  c.hosts = s->hosts();
  c.job_hosts = r.nodes() * r.nics();
  c.description = fmt::format("{} groups of {}, {}; {}, {} between groups", s->groups,
                              counted(s->leaves, "leaf", "leaves"), counted(s->spines, "spine", "spines"),
                              ratio_text(1 / s->leaf_share), ratio_text(1 / s->global_share));
  refuse_missing_prices(c);
  return c;
}

}  // namespace

Candidates candidates(const Plan& plan) {
  Request now = plan.request;
  now.gpus_later.reset();
  const Shape own = size(now, plan.chosen);
  const Bill own_bill = bill(parts_of(own, own.now, plan.chosen, cables(now, own), false), plan.prices);
  Candidates out{.unit = own_bill.fabric_cost ? CostUnit::kMoney : CostUnit::kSwitches};
  out.budget = cost_of(own_bill, out.unit);
  const bool rails = now.design == Design::kRailOptimized;
  const auto one = [&](bool is_own, const char* name, Design design) {
    return is_own ? of_shape(name, now, plan, own, out.unit) : clos(name, now, design, plan, out.unit, out.budget);
  };
  out.all.push_back(one(rails, "rail-optimized", Design::kRailOptimized));
  out.all.push_back(one(!rails, "fat tree", Design::kFatTree));
  out.all.push_back(dragonfly_plus(now, plan, out.unit, out.budget));
  out.all.push_back(rail_only(now, plan, out.unit));
  return out;
}

}  // namespace railyard::plan
