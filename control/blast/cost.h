// What a failure costs, from the reports of a run with it and of the same run without it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/blast/element.h"

namespace railyard::blast {

// docs/blast.md has the definitions.
struct Cost {
  Element element;
  std::string failure;  // of the run; empty: it came to its report, and the figures below are there
  std::uint64_t lost = 0;                                        // packets, beyond those of the run without the failure
  std::vector<std::pair<std::string, std::uint64_t>> reasons{};  // of them, most first
  // In nanoseconds. Nothing: no table changed.
  std::optional<std::int64_t> first_change_ns{};  // of a table, after the failure
  std::optional<std::int64_t> repaired_ns{};      // the last one
  std::optional<std::int64_t> restored_ns{};      // the last one after the return
  std::optional<double> stretch{};  // job time, by that without the failure. Of open-ended traffic: what was delivered
                                    // without it, by what was delivered with it
  std::size_t hit = 0;                        // flows that lost packets
  std::vector<std::string> gone{};            // flows and collectives that never came back
  bool divided = false;                       // hosts do not reach each other while it lasts
  bool single_point() const noexcept { return divided || !gone.empty(); }
};

// How long the job took: until the last flow with an end and the last iteration of collectives completed, in
// nanoseconds. Nothing: there is no such work, or some of it did not complete.
std::optional<double> job_time(const nlohmann::ordered_json& report);

// `duration`: of open-ended traffic; 0: all has an end.
Cost cost_of(Element element, const nlohmann::ordered_json& report, const nlohmann::ordered_json& without, Duration at,
             Duration lasts, Duration duration);

// Single points of failure first, then by stretch, then by packets lost; equal ones as they stand in the file.
void sort_by_cost(std::vector<Cost>& costs);

}  // namespace railyard::blast
