// What all failures of a fabric cost, for people and programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/blast/cost.h"
#include "control/spec/spec.h"

namespace railyard::blast {

// Of one fabric file.
struct Result {
  std::string file;
  std::string name;     // of the lab
  std::string routing;  // "bgp"
  Duration at{};        // when things fail
  Duration lasts{};     // and for how long; 0: for ever
  std::optional<double> job_ns{};  // job time without a failure
  std::vector<Cost> costs{};       // sorted

  std::size_t single_points() const noexcept;
  std::size_t failed_runs() const noexcept;
  // Over all runs that came to a report. Nothing: there is no such figure.
  std::optional<double> worst_stretch() const;
  std::optional<double> median_stretch() const;
  std::optional<double> median_repair_ns() const;
};

// A table of all elements, or of the `most` costliest and what was left out.
std::string text(const Result& result, std::size_t most);
// A row for each file.
std::string comparison_text(const std::vector<Result>& results);
nlohmann::ordered_json json(const std::vector<Result>& results);
std::string csv(const std::vector<Result>& results);
// One page: for each file its picture, coloured by cost, and its table. `labs`: those of `results`.
std::string page(const std::vector<Result>& results, const std::vector<spec::Lab>& labs);

// Rows as the text and the page have them; the first is the head. Of each the first columns are text.
inline constexpr std::size_t kTextColumns = 4;
std::vector<std::vector<std::string>> rows(const Result& result, std::size_t most);
std::vector<std::vector<std::string>> comparison_rows(const std::vector<Result>& results);
// "Without a failure the job takes 11.1 ms. Each part fails at 3.7 ms, for 17 ms."
std::string heading(const Result& result);

}  // namespace railyard::blast
