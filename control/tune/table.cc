#include "control/tune/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/text_table.h"

namespace railyard::tune {
namespace {

using TuneJson = nlohmann::ordered_json;

const Point& kept(const Report& r) { return r.result.points[r.result.kept()]; }

// Outcomes that are compared: those of the check, if there was one.
const Outcome& before(const Report& r) {
  return r.result.checked_start ? *r.result.checked_start : r.result.points.front().outcome;
}
const Outcome& after(const Report& r) {
  if (r.result.kept() == 0) return before(r);
  return *r.result.checked_best;
}

std::vector<std::string> figures_to_show(const Report& r) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end() && before(r).mean(name)) names.push_back(name);
  };
  for (const Aim& a : r.plan.goal.aims) add(a.figure);
  for (const auto& term : r.plan.goal.conditions) add(term.what.figure);
  for (const std::string& name : shown_figures()) add(name);
  return names;
}

std::string text_of(const Outcome& o, const std::string& name) {
  const auto v = o.mean(name);
  const report::Unit unit = kind_of_figure(name).unit;
  if (!v) return "-";
  return report::figure_text(unit == report::Unit::kCount ? std::round(*v) : *v, unit);
}

std::string change_of(double a, double b) {
  if (a == b) return "";
  return a == 0 ? "from 0" : report::change_text((b - a) / a);
}

TuneJson figures_json(const Outcome& o) {
  TuneJson j = TuneJson::object();
  if (o.runs.empty()) return j;
  for (const auto& [name, value] : o.runs.front())
    if (const auto mean = o.mean(name)) j[name] = *mean;
  return j;
}

TuneJson point_json(const Report& r, const Point& p) {
  TuneJson j = {
      {"set", p.sets}, {"score", p.score}, {"meets_conditions", p.meets}, {"figures", figures_json(p.outcome)}};
  j["knobs"] = TuneJson::object();
  for (std::size_t i = 0; i < r.knobs.size(); ++i)
    j["knobs"][std::string(r.knobs[i].knob->name)] = r.knobs[i].text(p.values[i]);
  if (!p.outcome.failures.empty()) j["failures"] = p.outcome.failures;
  return j;
}

std::string seeds_text(const std::vector<std::uint64_t>& seeds) { return fmt::format("{}", fmt::join(seeds, ", ")); }

}  // namespace

const std::vector<std::string>& shown_figures() {
  static const std::vector<std::string> names{
      "goodput",         "jain",        "fct_p50",   "fct_p99",    "fct_p999",     "slowdown_p99", "makespan",
      "collective_time", "busbw",       "completed", "ecn_marked", "xoff_sent",    "paused",       "pause_share",
      "max_queue",       "latency_p99", "drops",     "trimmed",    "retransmitted"};
  return names;
}

Rows knob_rows(const Report& r) {
  Rows rows{{"knob", "before", "after", "bounds"}};
  for (std::size_t i = 0; i < r.knobs.size(); ++i) {
    const ChosenKnob& k = r.knobs[i];
    ChosenKnob plain = k;
    plain.start_text.clear();
    const auto bound = [&](double v) { return v == k.start && k.start_text != "auto" ? k.start_text : k.text(v); };
    const std::string now = k.text(kept(r).values[i]);
    rows.push_back({std::string(k.knob->name), k.start_text, now == k.start_text ? "=" : now,
                    fmt::format("{} .. {}", bound(k.low), bound(k.high))});
  }
  return rows;
}

Rows figure_rows(const Report& r) {
  Rows rows{{"figure", "before", "after", "change"}};
  for (const std::string& name : figures_to_show(r)) {
    const auto a = before(r).mean(name), b = after(r).mean(name);
    rows.push_back({name, text_of(before(r), name), text_of(after(r), name), a && b ? change_of(*a, *b) : ""});
  }
  return rows;
}

Rows front_rows(const Report& r) {
  const auto& [first, second] = r.plan.trade_off;
  Rows rows{{first.figure, second.figure}};
  for (const ChosenKnob& k : r.knobs) rows[0].emplace_back(k.knob->name);
  rows[0].emplace_back("");
  for (const std::size_t i : r.result.front) {
    const Point& p = r.result.points[i];
    std::vector<std::string> row{text_of(p.outcome, first.figure), text_of(p.outcome, second.figure)};
    for (std::size_t k = 0; k < r.knobs.size(); ++k) row.push_back(r.knobs[k].text(p.values[k]));
    std::string note = i == 0 ? "start" : i == r.result.best ? "best" : "";
    if (!p.meets) note += note.empty() ? "misses a condition" : ", misses a condition";
    row.push_back(note);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string conclusion(const Report& r) {
  if (r.result.best == 0)
    return fmt::format("No better settings were found in {} points. The start is kept.", r.result.points.size());
  const double found = r.result.points[r.result.best].score / r.result.points.front().score;
  if (r.result.worse_in_check())
    return fmt::format(
        "The best point (score {:.3f} of the start's) was worse than the start on other seeds ({}): score {:.3f}. The "
        "start "
        "is kept. Expected more --seeds or a larger --budget.",
        found, seeds_text(r.plan.check_seeds), r.result.checked_score / r.result.checked_start_score);
  std::string out = fmt::format(
      "Better: score {:.3f} of the start's on the seeds of the search ({}), {:.3f} on others ({}).", found,
      seeds_text(r.plan.seeds), r.result.checked_score / r.result.checked_start_score, seeds_text(r.plan.check_seeds));
  if (!kept(r).meets) out += " A condition is still missed.";
  return out;
}

std::string text(const Report& r) {
  std::string out = fmt::format("{}: {}\n", r.lab, r.plan.goal.text());
  out += fmt::format("{} points, {} runs, {} seeds each\n\n{}\n\n", r.result.points.size(), r.result.runs,
                     r.plan.seeds.size(), conclusion(r));
  out += text_table(knob_rows(r), 1) + "\n";
  out += fmt::format("Means over seeds {}\n\n", seeds_text(r.result.checked_start ? r.plan.check_seeds : r.plan.seeds));
  out += text_table(figure_rows(r), 1);
  out += fmt::format("\nTrade-off: {} against {} (no other point is better in both; means over seeds {})\n\n",
                     r.plan.trade_off[0].figure, r.plan.trade_off[1].figure, seeds_text(r.plan.seeds));
  out += text_table(front_rows(r), 0);
  if (!kept(r).sets.empty()) {
    out += "\nTo use it:\n";
    for (const std::string& set : kept(r).sets) out += fmt::format("  --set '{}'\n", set);
  }
  return out;
}

nlohmann::ordered_json json(const Report& r) {
  TuneJson j = {{"file", r.file}, {"lab", r.lab}, {"goal", r.plan.goal.text()}};
  j["knobs"] = TuneJson::array();
  for (const ChosenKnob& k : r.knobs)
    j["knobs"].push_back({{"name", k.knob->name}, {"before", k.start_text}, {"low", k.low}, {"high", k.high}});
  j["seeds"] = r.plan.seeds;
  j["check_seeds"] = r.plan.check_seeds;
  j["runs"] = r.result.runs;
  j["start"] = point_json(r, r.result.points.front());
  j["best"] = point_json(r, r.result.points[r.result.best]);
  j["check"] = nullptr;
  if (r.result.checked_best)
    j["check"] = {{"start", figures_json(*r.result.checked_start)},
                  {"best", figures_json(*r.result.checked_best)},
                  {"start_score", r.result.checked_start_score},
                  {"best_score", r.result.checked_score},
                  {"worse", r.result.worse_in_check()}};
  j["kept"] = r.result.kept() == 0 ? "start" : "best";
  j["set"] = kept(r).sets;
  j["trade_off"] = {{"figures", {r.plan.trade_off[0].figure, r.plan.trade_off[1].figure}},
                    {"front", TuneJson::array()}};
  for (const std::size_t i : r.result.front) j["trade_off"]["front"].push_back(point_json(r, r.result.points[i]));
  j["points"] = TuneJson::array();
  for (const Point& p : r.result.points) j["points"].push_back(point_json(r, p));
  return j;
}

}  // namespace railyard::tune
