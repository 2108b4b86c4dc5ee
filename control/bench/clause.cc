#include "control/bench/clause.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/bench/shipped.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"
#include "control/sweep/plan.h"

namespace railyard::bench {
namespace {

// "T6.5a" -> (6, 5, "a"): the order of the draft.
std::tuple<int, int, std::string> order(const Clause& c) {
  const std::size_t dot = c.id.find('.');
  const std::string rest = dot == std::string::npos ? "" : c.id.substr(dot + 1);
  const std::size_t letters = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return {std::atoi(c.id.substr(1).c_str()), std::atoi(rest.c_str()), rest.substr(letters)};
}

}  // namespace

const char* word(Profile profile) noexcept { return profile == Profile::kCi ? "ci" : "lab"; }

const char* label(Profile profile) noexcept {
  return profile == Profile::kCi ? "smoke, not a draft result" : "reduced: parameters listed";
}

const char* word(Status status) noexcept {
  switch (status) {
    case Status::kImplemented:
      return "implemented";
    case Status::kDeviation:
      return "deviation";
    case Status::kNotApplicable:
      return "not applicable";
  }
  return "";
}

std::vector<std::string> Sweep::sets(const SweepValue& value) const {
  if (iteration) return {};
  if (key != "settings") return sweep::Dimension{key, {value.value}}.sets(0);
  std::vector<std::string> out;
  const spec::Tree map = spec::parse_yaml(value.value, name);
  for (const spec::Tree::Entry& e : map.as_map("a map of keys and values")) {
    std::string text = spec::print_yaml_line(e.value);
    while (text.ends_with('\n')) text.pop_back();
    out.push_back(fmt::format("{}={}", e.key, text));
  }
  return out;
}

const std::vector<Clause>& clauses() {
  static const std::vector<Clause> all = [] {
    std::vector<Clause> read;
    for (const spec::ShippedFile& f : definitions())
      read.push_back(read_clause(std::string(f.text), fmt::format("control/bench/tests/{}.yaml", f.name)));
    std::ranges::sort(read, {}, order);
    return read;
  }();
  return all;
}

std::vector<const Clause*> clauses(const std::vector<std::string>& ids) {
  std::vector<std::string> known;
  for (const Clause& c : clauses()) known.push_back(c.id);
  for (const std::string& id : ids)
    if (std::ranges::find(known, id) == known.end())
      throw std::invalid_argument(
          fmt::format("'{}' is no clause of the draft; expected one of {}", id, fmt::join(known, ", ")));
  std::vector<const Clause*> out;
  for (const Clause& c : clauses())
    if (ids.empty() || std::ranges::find(ids, c.id) != ids.end()) out.push_back(&c);
  return out;
}

std::vector<std::string> deviations_of(const Clause& clause, Profile profile) {
  std::vector<std::string> out = clause.deviations;
  const Reduction& r = clause.reduction(profile);
  out.insert(out.end(), r.deviations.begin(), r.deviations.end());
  for (const Sweep& s : clause.sweep) {
    std::vector<std::string> values;
    for (const SweepValue& v : s.values(profile)) values.push_back(v.name);
    if (s.draft.empty() || values == s.draft) continue;
    const std::set<std::string> asked(s.draft.begin(), s.draft.end());
    const auto same = std::ranges::count_if(values, [&](const std::string& v) { return asked.contains(v); });
    out.push_back(fmt::format("{}: {} of the draft's {} values ({} instead of {})", s.name, same, s.draft.size(),
                              fmt::join(values, ", "), fmt::join(s.draft, ", ")));
  }
  return out;
}

}  // namespace railyard::bench
