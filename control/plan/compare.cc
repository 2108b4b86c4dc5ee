#include "control/plan/compare.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "control/base/text_table.h"
#include "control/blast/element.h"
#include "control/estimate/estimate.h"
#include "control/plan/fabric_file.h"
#include "control/plan/job.h"
#include "control/report/units.h"
#include "control/spec/load.h"

namespace railyard::plan {
namespace {

struct Estimated {
  std::optional<Duration> time;
  std::string why_not{};
  std::map<std::string, double> load{};  // by port that sends
};

Estimated estimated(const spec::Lab& lab) {
  const auto e = estimate::estimate(lab);
  if (!e) return {.time = std::nullopt, .why_not = e.error()};
  Estimated out{.time = e->collectives.at(0).time};
  for (const estimate::LinkEstimate& l : e->links) out.load[l.name] = l.utilisation;
  return out;
}

// Of the links that fail with it, both directions.
double load_of(const spec::Lab& lab, const blast::Element& e, const Estimated& whole) {
  double sum = 0;
  for (const std::size_t l : e.links)
    for (const spec::PortName& end : {lab.links[l].a, lab.links[l].b})
      if (const auto found = whole.load.find(format(end)); found != whole.load.end()) sum += found->second;
  return sum;
}

// "leaf", "leaf - spine": parts of the same kind are alike.
std::string kind_of(const spec::Lab& lab, const blast::Element& e) {
  const auto role = [&](const std::string& node) {
    const spec::NodeSpec& n = *lab.find(node);
    return n.kind == spec::NodeSpec::Kind::kHost ? std::string("NIC") : n.role;
  };
  if (!e.nodes.empty()) return lab.nodes[e.nodes.front()].role;
  const spec::LinkSpec& link = lab.links[e.links.front()];
  std::string a = role(link.a.node), b = role(link.b.node);
  if (a == "NIC" || b == "NIC") return "link of a NIC";
  return fmt::format("link {} - {}", std::min(a, b), std::max(a, b));
}

FailureCost cost_of_failure(const spec::Lab& lab, const blast::Element& e, const Candidate& c, const Request& r,
                            const Estimated& whole) {
  FailureCost cost{.part = e.name, .kind = kind_of(lab, e), .stretch = {}};
  std::map<int, int> lost;  // NICs, by node
  for (const std::size_t l : e.links)
    for (const spec::PortName& end : {lab.links[l].a, lab.links[l].b}) {
      if (lab.find(end.node)->kind != spec::NodeSpec::Kind::kHost) continue;
      const int host = std::stoi(end.node.substr(1));
      ++lost[c.host_for_each_nic ? (host - 1) / r.nics() : host - 1];
    }
  cost.nodes_cut = static_cast<int>(lost.size());
  for (const auto& [node, nics] : lost)
    cost.capacity_lost = std::max(cost.capacity_lost, static_cast<double>(nics) / r.nics());
  cost.divides = lost.empty() && blast::divides(lab, e);
  if (load_of(lab, e, whole) == 0) {
    // The job does not use it.
    cost.stretch = 1;
    return cost;
  }
  // Hosts have one link for each NIC: without it their ranks are cut off.
  if (!lost.empty() || cost.divides) return cost;
  spec::Lab without = lab;
  std::size_t i = 0;
  const std::set<std::size_t> gone(e.links.begin(), e.links.end());
  std::erase_if(without.links, [&](const spec::LinkSpec&) { return gone.contains(i++); });
  if (const Estimated later = estimated(without); later.time)
    cost.stretch = static_cast<double>(later.time->ps) / static_cast<double>(whole.time->ps);
  return cost;
}

Compared compared(const Plan& plan, Candidate c) {
  Compared out{.design = std::move(c), .job = {}};
  const Candidate& d = out.design;
  if (!d.why_not.empty()) return out;
  const Request& r = plan.request;
  const PlannedJob job = planned_job(r, r.nodes(), d.hosts == d.job_hosts ? 0 : d.job_hosts);
  const spec::Lab lab = spec::parse("name: plan\n" + d.topology + switches_text(r, plan.chosen, plan.shape) +
                                        hosts_text(r, d.host_for_each_nic) + job.yaml,
                                    d.name);
  const Estimated whole = estimated(lab);
  out.job = whole.time;
  out.why_no_job = whole.why_not;
  if (!whole.time) return out;
  // Of each kind the part with the most load.
  std::map<std::string, std::pair<double, blast::Element>> worst;
  for (blast::Element& e : blast::elements(lab, {blast::Kind::kLink, blast::Kind::kNic, blast::Kind::kSwitch})) {
    const double load = load_of(lab, e, whole);
    const auto [known, is_new] = worst.try_emplace(kind_of(lab, e), load, e);
    if (!is_new && load > known->second.first) known->second = {load, std::move(e)};
  }
  for (const auto& [kind, part] : worst) out.failures.push_back(cost_of_failure(lab, part.second, d, r, whole));
  std::ranges::sort(out.failures, [](const FailureCost& a, const FailureCost& b) {
    if (a.stretch.has_value() != b.stretch.has_value()) return !a.stretch;
    if (a.divides != b.divides) return a.divides;
    if (!a.stretch) return a.nodes_cut * a.capacity_lost > b.nodes_cut * b.capacity_lost;
    return std::tuple(*b.stretch, a.kind) < std::tuple(*a.stretch, b.kind);
  });
  return out;
}

std::string cost_text(double cost, CostUnit unit, const Prices& prices) {
  return unit == CostUnit::kMoney ? money_text(cost, prices)
                                  : counted(static_cast<long long>(cost), "switch", "switches");
}

std::string stopping_text(const FailureCost& f) {
  if (f.divides) return fmt::format("{}: divides the nodes", f.kind);
  return fmt::format("{}: {} without {} of their NICs", f.kind, counted(f.nodes_cut, "node", "nodes"),
                     report::percent_text(f.capacity_lost));
}

}  // namespace

Comparison compare(const Plan& plan) {
  Candidates all = candidates(plan);
  const PlannedJob job = planned_job(plan.request, plan.request.nodes(), 0);
  Comparison out{.job = job.description, .unit = job.unit, .cost_unit = all.unit, .budget = all.budget, .rows = {}};
  // Beside each other: they share nothing.
  std::vector<std::future<Compared>> rows;
  for (Candidate& c : all.all)
    rows.push_back(
        std::async(std::launch::async, [&plan, c = std::move(c)]() mutable { return compared(plan, std::move(c)); }));
  for (std::future<Compared>& r : rows) out.rows.push_back(r.get());
  return out;
}

std::string text(const Comparison& c, const Prices& prices) {
  std::string out = fmt::format("Designs at the same cost: {}\n\n", c.job);
  std::vector<std::vector<std::string>> lines{{"design", "what", c.unit, "cost", "against plan", "power"}};
  std::optional<double> best;
  for (const Compared& r : c.rows)
    if (r.job && (!best || static_cast<double>(r.job->ps) < *best)) best = static_cast<double>(r.job->ps);
  for (const Compared& r : c.rows) {
    if (!r.design.why_not.empty()) {
      lines.push_back({r.design.name, "left out: " + r.design.why_not});
      continue;
    }
    lines.push_back({r.design.name, r.design.description, r.job ? report::time_text(*r.job) : "-",
                     cost_text(r.design.cost, c.cost_unit, prices),
                     fmt::format("{:+.1f} %", 100 * (r.design.cost / c.budget - 1)),
                     kilowatts(r.design.bill.fabric_watts)});
  }
  out += text_table(lines, 2, "  ") + "\nWorst single failure\n\n";
  std::vector<std::vector<std::string>> failures{{"design", "stops the job", "slows it down most"}};
  for (const Compared& r : c.rows) {
    if (!r.job) continue;
    const auto stops = std::ranges::find_if(r.failures, [](const FailureCost& f) { return !f.stretch; });
    const auto slows = std::ranges::find_if(r.failures, [](const FailureCost& f) { return f.stretch.has_value(); });
    failures.push_back(
        {r.design.name, stops != r.failures.end() ? stopping_text(*stops) : "none",
         slows == r.failures.end() ? "none" : fmt::format("{}: x {:.2f}", slows->kind, *slows->stretch)});
  }
  out += text_table(failures, 3, "  ");
  for (const Compared& r : c.rows)
    if (r.design.why_not.empty() && !r.job)
      out += fmt::format("\n{}: the job cannot run: {}.\n", r.design.name, r.why_no_job);
  out += fmt::format("\nTimes are estimates (`railyard estimate`), with and without a part. Cost: {}.\n",
                     c.cost_unit == CostUnit::kMoney ? "all but servers, by your prices"
                                                     : "number of switches; --prices FILE compares money");
  return out;
}

nlohmann::ordered_json json(const Comparison& c) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const Compared& r : c.rows) {
    Json failures = Json::array();
    for (const FailureCost& f : r.failures)
      failures.push_back({{"part", f.part},
                          {"kind", f.kind},
                          {"nodes_cut", f.nodes_cut},
                          {"capacity_lost", f.capacity_lost},
                          {"divides", f.divides},
                          {"stretch", f.stretch ? Json(*f.stretch) : Json(nullptr)}});
    rows.push_back({{"design", r.design.name},
                    {"what", r.design.description},
                    {"left_out", r.design.why_not.empty() ? Json(nullptr) : Json(r.design.why_not)},
                    {"job_ps", r.job ? Json(r.job->ps) : Json(nullptr)},
                    {"cost", r.design.cost},
                    {"against_plan",
                     c.budget > 0 && r.design.why_not.empty() ? Json(r.design.cost / c.budget - 1) : Json(nullptr)},
                    {"switches", r.design.bill.count(Item::kSwitch)},
                    {"fabric_watts", r.design.bill.fabric_watts},
                    {"failures", std::move(failures)}});
  }
  return {{"job", c.job},
          {"time_of", c.unit},
          {"cost_unit", c.cost_unit == CostUnit::kMoney ? "money" : "switches"},
          {"budget", c.budget},
          {"designs", std::move(rows)}};
}

}  // namespace railyard::plan
