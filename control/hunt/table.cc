#include "control/hunt/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/report/summary.h"

namespace railyard::hunt {
namespace {

using HuntJson = nlohmann::ordered_json;

std::string word(Hurt hurt) { return std::ranges::find(hurt_words(), hurt, &HurtWord::hurt)->word; }

const Feature& feature_of(const Space& space, const Need& n) {
  return (n.of_fault ? space.fault_features() : space.traffic_features())[n.feature];
}

std::string choice_of(const Report& r, const Space& space, const Need& n) {
  const auto& items = n.of_fault ? r.found.smallest.faults : r.found.smallest.traffic;
  return feature_of(space, n).choices[items[n.item][n.feature]];
}

std::string need_text(const Report& r, const Space& space, const Need& n) {
  const Feature& f = feature_of(space, n);
  return fmt::format("{}{}: {} {} (damage {:.3f} with {})", n.of_fault ? 'f' : 't', n.item + 1, f.name,
                     choice_of(r, space, n), n.without, f.choices[0]);
}

std::string damage_text(const Report& r) {
  const Damage& d = r.found.damage;
  if (r.hurt == Hurt::kPause)
    return fmt::format("damage {:.3f}: PFC pauses a class of a port for {:.1f} % of the time", d.value, d.value * 100);
  return fmt::format("damage {:.3f} ({}); {} takes {} instead of {}", d.value, word(r.hurt),
                     r.hurt == Hurt::kJct ? "all of it" : d.worst_flow,
                     report::figure_text(d.measured_ns, report::Unit::kNanoseconds),
                     report::figure_text(d.ideal_ns, report::Unit::kNanoseconds));
}

std::string signs_text(const Damage& d) {
  std::string out;
  for (const auto& [name, share] : d.signs)
    out += fmt::format("{}{} {:.1f} %", out.empty() ? "" : ", ", name, share * 100);
  return out;
}

std::string case_text(const Report& r, const Space& space) {
  const Case& c = r.found.smallest;
  std::string out = damage_text(r) + "\n" + signs_text(r.found.damage) + "\n\n";
  for (std::size_t i = 0; i < c.traffic.size(); ++i) out += "  " + space.traffic_text(c.traffic[i], i + 1) + "\n";
  for (std::size_t i = 0; i < c.faults.size(); ++i) out += "  " + space.fault_text(c.faults[i], i + 1) + "\n";
  if (c.faults.empty()) out += "  no fault\n";
  return out;
}

}  // namespace

std::string summary(const Report& r, const Space& space) {
  std::string out = damage_text(r) + "\n";
  for (const Need& n : r.found.needs) out += "needs " + need_text(r, space, n) + "\n";
  return out;
}

std::string text(const Report& r, const Space& space) {
  std::string out = fmt::format("{}: the worst of {} cases for {}, {} runs with those that made it smaller\n\n", r.lab,
                                r.found.trials.size(), word(r.hurt), r.found.runs);
  if (!r.found.hurts())
    return out + fmt::format("No case does damage of {:g} or more. The worst:\n\n", kLeastDamage) + case_text(r, space);
  out += case_text(r, space);
  out += fmt::format("\nIt needs (with the simplest value instead, less than {:.0f} % of the damage remains):\n",
                     100 * r.plan.kept_share);
  for (const Need& n : r.found.needs) out += "  " + need_text(r, space, n) + "\n";
  if (r.found.needs.empty()) out += "  nothing else: the simplest values of all features do it\n";
  if (!r.found.complete) out += "The budget ended before all features were made simpler.\n";
  out += fmt::format("\ndigest {}\n", r.digest);
  if (!r.written.empty())
    out += fmt::format("again: railyard run {0} --digest; causes: railyard doctor {0}\n", r.written);
  return out;
}

HuntJson json(const Report& r, const Space& space) {
  const Case& c = r.found.smallest;
  HuntJson j = {{"file", r.file},
                {"lab", r.lab},
                {"hurt", word(r.hurt)},
                {"seed", r.plan.seed.value},
                {"cases", r.found.trials.size()},
                {"runs", r.found.runs},
                {"complete", r.found.complete}};
  const auto& worst = r.found.trials[r.found.worst].damage;
  j["damage_found"] = worst ? HuntJson(worst->value) : HuntJson(nullptr);
  j["damage"] = r.found.damage.value;
  j["worst_flow"] = r.found.damage.worst_flow;
  j["measured_ns"] = r.found.damage.measured_ns;
  j["ideal_ns"] = r.found.damage.ideal_ns;
  j["signs"] = r.found.damage.signs;
  j["traffic"] = HuntJson::array();
  j["faults"] = HuntJson::array();
  for (std::size_t i = 0; i < c.traffic.size(); ++i) j["traffic"].push_back(space.traffic_text(c.traffic[i], i + 1));
  for (std::size_t i = 0; i < c.faults.size(); ++i) j["faults"].push_back(space.fault_text(c.faults[i], i + 1));
  j["needs"] = HuntJson::array();
  for (const Need& n : r.found.needs)
    j["needs"].push_back({{"item", fmt::format("{}{}", n.of_fault ? 'f' : 't', n.item + 1)},
                          {"feature", feature_of(space, n).name},
                          {"value", choice_of(r, space, n)},
                          {"simplest", feature_of(space, n).choices[0]},
                          {"damage_without", n.without}});
  j["set"] = space.sets(c);
  j["digest"] = r.digest;
  j["damages"] = HuntJson::array();
  for (const Trial& t : r.found.trials)
    j["damages"].push_back(t.damage ? HuntJson(t.damage->value) : HuntJson(nullptr));
  return j;
}

}  // namespace railyard::hunt
