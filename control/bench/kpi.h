// A KPI of a clause: how it is computed from the reports of a case, and where it is observed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::bench {

// Where a value is observed. Values of different points are never merged.
enum class Observed : char {
  kBoundary = 'a',  // the fabric's boundary: NIC ports
  kDevice = 'b',    // counters that a switch reports
  kEndpoint = 'c',  // software at the endpoints: completions
  kModel = 'x',     // only an emulator sees it
};

struct Kpi {
  std::string name;      // "busbw_p99"
  std::string unit;      // "Gb/s"
  std::string figure;    // of a report (report::figure_of()); empty: a function
  std::string function;  // kpi_functions(); empty: a figure
  std::string of;        // what the function is of: a figure, a list of a report, or another KPI
  std::string at;        // of distributions: "mean", "p50", "p95", "p99", "p999", "min", "max", "samples"
  std::pair<std::string, std::string> against{};  // of ratios and deviations: a parameter, and its value or nothing
  double scale = 1;                               // value x scale is in `unit`
  Observed observed = Observed::kBoundary;
  bool primary = false;   // the coefficient of variation of the clause is of this one
  std::string reference;  // of the draft, an annotation: ">= 0.90"; empty: none
};

// What a function takes besides the reports.
struct KpiFunction {
  const char* name;
  const char* meaning;
  bool needs_of;
  bool needs_at;
  bool needs_against;
};
const std::vector<KpiFunction>& kpi_functions();
const KpiFunction* find_function(std::string_view name) noexcept;

// One run of a case.
struct Trial {
  std::uint64_t seed = 0;
  nlohmann::ordered_json report{};
  std::optional<double> searched{};  // in the unit of the search's figure
};

// What came of a KPI in one case.
struct Value {
  std::optional<double> value{};   // the headline: the mean of the trials, or of all their samples together
  std::vector<double> by_trial{};  // of the trials that have it
  std::uint64_t samples = 0;       // behind the headline
  bool pooled = false;             // the headline is of all samples together

  double min() const;
  double max() const;
  // Standard deviation (n - 1) / mean. Nothing: fewer than two trials, or the mean is 0.
  std::optional<double> cv() const;
};

// `b_acc_bps`: the rate of one accelerator's NICs, for figures against the line rate. Functions that compare cases
// (ratio, deviation) have no value here; compare_cases() gives it.
Value evaluate(const Kpi& kpi, const std::vector<Trial>& trials, double b_acc_bps);

// A case as compare_cases() sees it.
struct CaseValues {
  std::vector<std::pair<std::string, std::string>> params;  // name, value
  std::vector<Value> values;                                // by KPI
};
// Fills in ratios (of a KPI to itself in the case that differs in one parameter) and deviations (of a KPI from the size
// or number that a parameter has).
void compare_cases(const std::vector<Kpi>& kpis, std::vector<CaseValues>& cases);

}  // namespace railyard::bench
