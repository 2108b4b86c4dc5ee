// What came of a benchmark, for people and programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/bench/plan.h"

namespace railyard::bench {

struct CaseResult {
  std::size_t index = 0;      // in Plan::cases
  std::vector<Value> values;  // by KPI of the clause
  std::size_t attempted = 0;
  std::vector<std::pair<std::uint64_t, std::string>> excluded;  // seed, why
  std::string lab_digest;                                       // of the first trial
  nlohmann::ordered_json collective;  // its operation, algorithm, size, ranks, S_fabric; null: it has none
};

struct ClauseResult {
  const Clause* clause = nullptr;
  Plan plan;
  std::vector<CaseResult> cases;
  std::string not_run;     // why; empty: it ran
  bool own_fabric = true;  // false: the fabric is the user's
};

struct Result {
  Profile profile = Profile::kCi;
  std::string version;  // of Railyard
  std::string fabric;   // the user's file; empty: each clause has its own
  std::vector<ClauseResult> clauses;

  std::size_t attempted() const noexcept;
  std::size_t included() const noexcept;
};

// The values of a case from its trials; without those that failed.
CaseResult case_result(const Plan& plan, std::size_t index, const std::vector<Trial>& trials);
// Once all cases of the clause are there: KPIs that compare them.
void compare_cases(ClauseResult& clause);

// Of a clause that ran: those of its definition and profile, and what its trials lacked: the draft asks for 10,000
// samples of latency in each.
std::vector<std::string> deviations_of(const ClauseResult& clause);
// What the definition discloses. On a fabric of the user's, texts say that they are about the clause's own.
std::vector<std::string> disclosures_of(const ClauseResult& clause);

// Deviations of every result: the platform is software.
const std::vector<std::string>& standing_deviations();

std::string text(const Result& result);
// "fabric-bench/1": fabric-bench.schema.json.
nlohmann::ordered_json json(const Result& result);

}  // namespace railyard::bench
