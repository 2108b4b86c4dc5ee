#include "control/report/judge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/report/check_measure.h"
#include "control/report/measure.h"
#include "control/report/report.h"
#include "control/spec/condition.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"

namespace railyard::report {
namespace {

using ValueUnit = spec::Condition::ValueUnit;
using Term = spec::Condition::Term;

constexpr double kNanosecondsPerSecond = 1e9;

// "a rate; expected a value such as 380Gbps"
struct UnitWords {
  Unit unit;
  ValueUnit written;
  const char* expected;
};
constexpr UnitWords kUnits[] = {{Unit::kNanoseconds, ValueUnit::kTime, "a time; expected a value such as 2ms"},
                                {Unit::kBitsPerSecond, ValueUnit::kRate, "a rate; expected a value such as 380Gbps"},
                                {Unit::kBytes, ValueUnit::kSize, "a size; expected a value such as 64KiB"},
                                {Unit::kCount, ValueUnit::kNumber, "a count; expected a number such as 0"},
                                {Unit::kRatio, ValueUnit::kPercent, "a ratio; expected a value such as 0.95 or 95%"},
                                {Unit::kShare, ValueUnit::kPercent, "a share; expected a value such as 0.95 or 95%"},
                                {Unit::kSeconds, ValueUnit::kTime, "a time; expected a value such as 30s"}};

const UnitWords& words_of(Unit unit) { return *std::ranges::find(kUnits, unit, &UnitWords::unit); }

// Ratios and shares take the same values.
Unit kind_of_unit(Unit unit) { return unit == Unit::kShare ? Unit::kRatio : unit; }

bool fits(Unit unit, const Term& term) {
  if (term.unit == words_of(unit).written) return true;
  if (term.unit != ValueUnit::kNumber) return false;
  // The names of fields say their unit: fct_ns, goodput_bps.
  return term.value == 0 || unit == Unit::kCount || unit == Unit::kRatio || unit == Unit::kShare || term.what.is_path();
}

void check_condition(const spec::Lab& lab, const spec::ConditionSpec& c) {
  const auto condition = spec::parse_condition(c.text);
  if (!condition) throw spec::SpecError(c.place, condition.error());
  for (const Term& term : condition->terms) {
    const std::optional<Unit> unit = check_measure(lab, term.what, c.place, c.text);
    if (term.other) {
      const std::optional<Unit> other = check_measure(lab, *term.other, c.place, c.text);
      if (unit && other && kind_of_unit(*unit) != kind_of_unit(*other))
        throw spec::SpecError(
            c.place, fmt::format("'{}': {} is {}, and {} is {}", c.text, format(term.what), words_of(*unit).expected,
                                 format(*term.other), words_of(*other).expected));
    } else if (unit && !fits(*unit, term)) {
      throw spec::SpecError(c.place,
                            fmt::format("'{}': {} is {}", c.text, format(term.what), words_of(*unit).expected));
    }
  }
}

// The lab with `setting` ("path=value"). Throws spec::SpecError if it has no such key, or that takes no such value.
spec::Lab with(const spec::Lab& lab, const std::string& setting) {
  return spec::parse(spec::to_yaml(lab), "diagnosis.settings", {setting});
}

struct HeldTerm {
  bool met = false;
  Measured found;
  std::string text;
};

HeldTerm hold_term(const Report& report, const Term& term) {
  HeldTerm h;
  h.found = measure(report, term.what);
  h.text = h.found.value ? figure_text(*h.found.value, h.found.unit) : "not measured";
  double bound = term.value;
  if (h.found.unit == Unit::kSeconds && term.unit == ValueUnit::kTime) bound /= kNanosecondsPerSecond;
  if (term.other) {
    const Measured other = measure(report, *term.other);
    h.text += fmt::format(" against {} ({})", other.value ? figure_text(*other.value, other.unit) : "not measured",
                          format(*term.other));
    if (!other.value) return h;
    bound = term.value * *other.value;
  }
  h.met = h.found.value && term.holds(*h.found.value, bound);
  return h;
}

}  // namespace

void check_conditions(const spec::Lab& lab, bool as_in_file) {
  for (const spec::ConditionSpec& c : lab.expect) check_condition(lab, c);
  if (!as_in_file) return;
  for (const spec::ConditionSpec& c : lab.diagnosis.signature) check_condition(lab, c);
  for (const std::string& setting : lab.diagnosis.settings) static_cast<void>(with(lab, setting));
}

bool has_settings(const spec::Lab& lab) {
  return std::ranges::all_of(lab.diagnosis.settings, [&](const std::string& setting) {
    try {
      return with(lab, setting) == lab;
    } catch (const spec::SpecError&) {
      return false;
    }
  });
}

Expectation hold(const Report& report, const spec::ConditionSpec& condition) {
  const auto parsed = spec::parse_condition(condition.text);
  Expectation e{condition.text, parsed.has_value(), std::nullopt, "", "", condition.place};
  if (!parsed) return e;
  std::vector<HeldTerm> held;
  for (const Term& term : parsed->terms) held.push_back(hold_term(report, term));
  e.met = std::ranges::all_of(held, &HeldTerm::met);
  std::size_t named = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const HeldTerm& h = held[i];
    if (h.met && !e.met) continue;
    if (++named == 1) {
      e.found = h.found.value;
      e.where = h.found.where;
    }
    if (held.size() == 1) {
      e.found_text = h.text;
      break;
    }
    // Of several terms, all that are missed, each with its figure; if none is, all.
    e.found_text += fmt::format("{}{} {}{}", named == 1 ? "" : " and ", format(parsed->terms[i].what), h.text,
                                h.found.where.empty() ? "" : fmt::format(" ({})", h.found.where));
    e.where.clear();
  }
  return e;
}

void judge(Report& report, const spec::Lab& lab) {
  report.expectations.clear();
  report.evidence.clear();
  for (const spec::ConditionSpec& c : lab.expect) {
    Expectation& e = report.expectations.emplace_back(hold(report, c));
    if (!report.run.interrupted) continue;
    // What has not happened yet may happen still.
    e.met = false;
    e.found_text += " when the run was interrupted";
  }
  report.run.diagnosis = lab.diagnosis;
  for (const spec::ConditionSpec& c : lab.diagnosis.signature) report.evidence.push_back(hold(report, c));
  if (!report.evidence.empty() && std::ranges::all_of(report.evidence, &Expectation::met) && has_settings(lab)) return;
  report.run.diagnosis = {};
  report.evidence.clear();
}

std::string miss_text(const Expectation& e) {
  return fmt::format("found {}{}, expected {}{}", e.found_text, e.where.empty() ? "" : fmt::format(" ({})", e.where),
                     e.text, e.place.file.empty() ? "" : fmt::format(" [{}]", to_string(e.place)));
}

std::string expectation_text(const Expectation& e) {
  return fmt::format("{:<6}  {}: {}{}", e.met ? "met" : "MISSED", e.text, e.found_text,
                     e.where.empty() ? "" : fmt::format(" ({})", e.where));
}

}  // namespace railyard::report
