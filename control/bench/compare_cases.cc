// KPIs of one case against others of the same clause.
#include <algorithm>
#include <cstdlib>

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

// What a ratio or a deviation is against.
std::optional<double> base_of(const Kpi& kpi, std::size_t of, const CaseValues& c, const std::vector<CaseValues>& cases) {
  const auto& [param, value] = kpi.against;
  if (kpi.function == "deviation") {
    const std::string* const said = param_of(c, param);
    if (said == nullptr) return std::nullopt;
    const auto size = spec::parse_size(*said);
    return size ? std::optional(static_cast<double>(size->n)) : std::nullopt;
  }
  const auto other = std::ranges::find(cases, with(c.params, param, value), &CaseValues::params);
  return other == cases.end() ? std::nullopt : other->values[of].value;
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
      if (kpi.function == "largest") {
        if (const auto most = largest(kpi, of, c, cases)) c.values[k] = {*most * kpi.scale, {}, here.samples, here.pooled};
        continue;
      }
      const std::optional<double> base = base_of(kpi, of, c, cases);
      if (!here.value || !base || *base == 0) continue;
      const double shift = kpi.function == "deviation" ? 1 : 0;
      c.values[k] = {(*here.value / *base - shift) * kpi.scale, {}, here.samples, here.pooled};
    }
  }
}

}  // namespace railyard::bench
