#include <algorithm>

#include "control/bench/result.h"

namespace railyard::bench {
namespace {

using BenchJson = nlohmann::ordered_json;

BenchJson or_nothing(const std::optional<double>& x) { return x ? BenchJson(*x) : BenchJson(nullptr); }

BenchJson kpi_json(const Kpi& k, const Value& v) {
  BenchJson j = {{"name", k.name},
                 {"unit", k.unit},
                 {"obs", std::string(1, static_cast<char>(k.observed))},
                 {"primary", k.primary},
                 {"value", or_nothing(v.value)},
                 {"pooled", v.pooled},
                 {"samples", v.samples}};
  j["min"] = v.by_trial.empty() ? BenchJson(nullptr) : BenchJson(v.min());
  j["max"] = v.by_trial.empty() ? BenchJson(nullptr) : BenchJson(v.max());
  j["cv"] = or_nothing(v.cv());
  j["n"] = v.by_trial.size();
  return j;
}

BenchJson params_json(const Case& c) {
  BenchJson j = BenchJson::object();
  for (const auto& [name, value] : c.params) j[name] = value;
  return j;
}

// In all of these two results must agree to be compared.
BenchJson comparability_json(const Case& c, const BenchJson& collective) {
  const bool any = !collective.is_null();
  return {{"N", any ? collective["n"] : BenchJson(c.fabric.accelerators)},
          {"acc_per_node", c.fabric.accelerators_per_host},
          {"placement", "rank i at the i-th NIC or GPU, in the order of the hosts"},
          {"b_acc_gbps", static_cast<double>(c.fabric.b_acc_bps) / 1e9},
          {"oversub", or_nothing(c.fabric.oversubscription)},
          {"collective", any ? collective["collective"] : BenchJson(nullptr)},
          {"S", any ? collective["bytes"] : BenchJson(nullptr)},
          {"algo_factor", any ? collective["algo_factor"] : BenchJson(nullptr)},
          {"transport", c.transport.transport},
          {"lb", c.transport.path}};
}

BenchJson case_json(const ClauseResult& of, const CaseResult& r) {
  const Case& c = of.plan.cases[r.index];
  BenchJson kpis = BenchJson::array();
  for (std::size_t k = 0; k < r.values.size(); ++k) kpis.push_back(kpi_json(of.clause->kpis[k], r.values[k]));
  BenchJson excluded = BenchJson::array();
  for (const auto& [seed, why] : r.excluded) excluded.push_back({{"seed", seed}, {"reason", why}});
  const bool any = !r.collective.is_null();
  BenchJson algorithm = nullptr;
  BenchJson fabric_bytes = nullptr;
  if (any) {
    algorithm = r.collective["algorithm"];
    fabric_bytes = {{"bytes", r.collective["s_fabric"]}, {"method", "counted"}};
  }
  return {
      {"params", params_json(c)},
      {"dut",
       {{"model", "emulated"},
        {"config_digest", r.lab_digest},
        {"topology", topology_json(c.fabric)},
        {"congestion", c.transport.congestion},
        {"recovery", c.transport.recovery},
        {"traffic_class", c.transport.traffic_class}}},
      {"comparability", comparability_json(c, r.collective)},
      {"algorithm_verified", std::move(algorithm)},
      {"s_fabric", std::move(fabric_bytes)},
      {"settings", c.sets},
      {"kpi", std::move(kpis)},
      {"trials",
       {{"attempted", r.attempted}, {"included", r.attempted - r.excluded.size()}, {"excluded", std::move(excluded)}}}};
}

BenchJson clause_json(const ClauseResult& r) {
  BenchJson cases = BenchJson::array();
  for (const CaseResult& c : r.cases) cases.push_back(case_json(r, c));
  BenchJson reference = BenchJson::array();
  for (const Kpi& k : r.clause->kpis)
    if (!k.reference.empty()) reference.push_back({{"kpi", k.name}, {"note", k.reference + ", non-normative"}});
  return {{"test", r.clause->id},
          {"title", r.clause->title},
          {"section", r.clause->section},
          {"status", word(r.clause->status)},
          {"not_run", r.not_run.empty() ? BenchJson(nullptr) : BenchJson(r.not_run)},
          {"deviations", r.not_run.empty() ? deviations_of(r) : std::vector<std::string>{}},
          {"disclosures", disclosures_of(r)},
          {"seeds", r.plan.seeds},
          {"cases", std::move(cases)},
          {"reference", std::move(reference)},
          {"verdict", nullptr}};
}

}  // namespace

nlohmann::ordered_json json(const Result& a) {
  BenchJson results = BenchJson::array();
  for (const ClauseResult& r : a.clauses) results.push_back(clause_json(r));
  return {{"schema", "fabric-bench/1"},
          {"methodology", {{"doc", kDraft}, {"rev", kDraftRevision}, {"terminology_rev", kTerminologyRevision}}},
          {"platform",
           {{"class", "software"},
            {"version", a.version},
            {"clock", "virtual"},
            {"rate_scale", 1},
            {"deviations", standing_deviations()}}},
          {"profile", word(a.profile)},
          {"label", label(a.profile)},
          {"fabric", a.fabric.empty() ? BenchJson(nullptr) : BenchJson(a.fabric)},
          {"trials", {{"attempted", a.attempted()}, {"included", a.included()}}},
          {"results", std::move(results)}};
}

}  // namespace railyard::bench
