#include "control/bench/result.h"

#include <algorithm>

#include <fmt/format.h>

namespace railyard::bench {

std::size_t Result::attempted() const noexcept {
  std::size_t n = 0;
  for (const ClauseResult& r : clauses)
    for (const CaseResult& c : r.cases) n += c.attempted;
  return n;
}

std::size_t Result::included() const noexcept {
  std::size_t n = 0;
  for (const ClauseResult& r : clauses)
    for (const CaseResult& c : r.cases) n += c.attempted - c.excluded.size();
  return n;
}

CaseResult case_result(const Plan& plan, std::size_t index, const std::vector<Trial>& trials) {
  CaseResult r;
  r.index = index;
  for (const Kpi& k : plan.clause->kpis)
    r.values.push_back(evaluate(k, trials, static_cast<double>(plan.cases[index].fabric.b_acc_bps)));
  if (trials.empty()) return r;
  const auto& report = trials.front().report;
  r.lab_digest = report["run"]["lab_digest"].get<std::string>();
  if (report["collectives"].empty()) return r;
  const auto& c = report["collectives"][0];
  const std::size_t ranks = c["ranks"].size();
  const auto done = std::ranges::count_if(c["iterations"], [](const auto& i) { return !i["time_ns"].is_null(); });
  const auto shares = static_cast<double>(ranks) * static_cast<double>(done);
  r.collective = {{"collective", c["collective"]},
                  {"n", ranks},
                  {"bytes", c["bytes"]},
                  {"algo_factor", c["busbw_factor"]},
                  {"algorithm", fmt::format("{}/{}ch, chunks of {} bytes", c["algorithm"].get<std::string>(),
                                            c["channels"].dump(), c["chunk"].dump())},
                  {"s_fabric", shares > 0 ? c["fabric_bytes"].get<double>() / shares : 0}};
  return r;
}

void compare_cases(ClauseResult& clause) {
  std::vector<CaseValues> all;
  for (CaseResult& c : clause.cases) all.push_back({clause.plan.cases[c.index].params, std::move(c.values)});
  compare_cases(clause.clause->kpis, all);
  for (std::size_t i = 0; i < all.size(); ++i) clause.cases[i].values = std::move(all[i].values);
}

namespace {

std::vector<std::string> about_fabric(const ClauseResult& clause, std::vector<std::string> texts) {
  if (!clause.own_fabric)
    for (std::string& t : texts) t = "of the clause's own fabric: " + t;
  return texts;
}

}  // namespace

std::vector<std::string> disclosures_of(const ClauseResult& clause) {
  return about_fabric(clause, clause.clause->disclosures);
}

std::vector<std::string> deviations_of(const ClauseResult& clause) {
  constexpr double kLeastSamples = 10'000;
  std::vector<std::string> all = about_fabric(clause, deviations_of(*clause.clause, clause.plan.profile));
  const std::vector<Kpi>& kpis = clause.clause->kpis;
  for (std::size_t k = 0; k < kpis.size(); ++k) {
    if (kpis[k].at != "samples") continue;
    std::optional<double> fewest;
    for (const CaseResult& c : clause.cases)
      if (!c.values[k].by_trial.empty()) fewest = std::min(fewest.value_or(c.values[k].min()), c.values[k].min());
    if (fewest && *fewest < kLeastSamples)
      all.push_back(fmt::format("{:.0f} samples in the trial with the fewest instead of 10000", *fewest));
  }
  return all;
}

const std::vector<std::string>& standing_deviations() {
  static const std::vector<std::string> all{
      "the platform is software: no hardware traffic generator, no accelerators; switches and NICs are models",
      "endpoints are not certified implementations; UET security (TSS) is not modelled",
      "no cross-check with an accelerator cluster; docs/fidelity.md has the comparisons with closed forms and "
      "simulators",
  };
  return all;
}

}  // namespace railyard::bench
