// KPIs of one case against others of the same clause.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "control/bench/kpi.h"
#include "control/spec/value.h"

namespace railyard::bench {
namespace {

using Params = std::vector<std::pair<std::string, std::string>>;

const std::string* param_of(const CaseValues& c, const std::string& name) {
  const auto at = std::ranges::find(c.params, name, &Params::value_type::first);
  return at == c.params.end() ? nullptr : &at->second;
}

Params with(Params params, const std::string& name, const std::string& value) {
  for (auto& p : params)
    if (p.first == name) p.second = value;
  return params;
}

// The same KPI in the case that a ratio is against; nullptr: there is none.
const Value* other_of(const Kpi& kpi, std::size_t of, const CaseValues& c, const std::vector<CaseValues>& cases) {
  const auto other = std::ranges::find(cases, with(c.params, kpi.against.first, kpi.against.second), &CaseValues::params);
  return other == cases.end() ? nullptr : &other->values[of];
}

// Trial by trial, too, where both have as many: their seeds are the same.
std::optional<Value> ratio(const Kpi& kpi, const Value& here, const Value* base) {
  if (base == nullptr || !here.value || !base->value || *base->value == 0) return std::nullopt;
  Value v{*here.value / *base->value * kpi.scale, {}, here.samples, here.pooled};
  if (here.by_trial.size() != base->by_trial.size()) return v;
  for (std::size_t t = 0; t < here.by_trial.size() && base->by_trial[t] != 0; ++t)
    v.by_trial.push_back(here.by_trial[t] / base->by_trial[t] * kpi.scale);
  if (v.by_trial.size() < here.by_trial.size()) v.by_trial.clear();
  return v;
}

std::optional<Value> deviation(const Kpi& kpi, const CaseValues& c, const Value& here) {
  const std::string* const said = param_of(c, kpi.against.first);
  if (said == nullptr || !here.value) return std::nullopt;
  const auto size = spec::parse_size(*said);
  if (!size || size->n == 0) return std::nullopt;
  return Value{(*here.value / static_cast<double>(size->n) - 1) * kpi.scale, {}, here.samples, here.pooled};
}

// The largest number that the parameter has in the cases which differ from this one in it only, and in which the KPI is at
// least `against`.
std::optional<double> largest(const Kpi& kpi, std::size_t of, const CaseValues& c, const std::vector<CaseValues>& cases) {
  const auto& [param, least] = kpi.against;
  std::optional<double> best;
  for (const CaseValues& other : cases) {
    const std::string* const said = param_of(other, param);
    if (said == nullptr || with(c.params, param, *said) != other.params) continue;
    const auto& value = other.values[of].value;
    if (value && *value >= std::strtod(least.c_str(), nullptr))
      best = std::max(best.value_or(0), std::strtod(said->c_str(), nullptr));
  }
  return best;
}

}  // namespace

void compare_cases(const std::vector<Kpi>& kpis, std::vector<CaseValues>& cases) {
  for (std::size_t k = 0; k < kpis.size(); ++k) {
    const Kpi& kpi = kpis[k];
    if (kpi.function != "ratio" && kpi.function != "deviation" && kpi.function != "largest") continue;
    const auto of = static_cast<std::size_t>(std::ranges::find(kpis, kpi.of, &Kpi::name) - kpis.begin());
    if (of == kpis.size()) continue;
    for (CaseValues& c : cases) {
      const Value& here = c.values[of];
      std::optional<Value> v;
      if (kpi.function == "ratio") v = ratio(kpi, here, other_of(kpi, of, c, cases));
      if (kpi.function == "deviation") v = deviation(kpi, c, here);
      if (kpi.function == "largest")
        if (const auto most = largest(kpi, of, c, cases)) v = Value{*most * kpi.scale, {}, here.samples, here.pooled};
      if (v) c.values[k] = std::move(*v);
    }
  }
}

}  // namespace railyard::bench
