// Why collectives are far from their limit: what `railyard check` warns of, where it explains that.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/estimate/estimate.h"
#include "control/report/collective_report.h"

namespace railyard::tools {

// Collectives below this share of their limit are slow.
inline constexpr double kSlowCollective = 0.5;

// Lines as check prints them; empty: no collective of the report is slow, or check says nothing of it. `file`, `sets`: what
// `lab` was made of.
std::string slow_collectives_text(build::BuiltLab& lab, const std::string& file, const std::vector<std::string>& sets,
                                  std::span<const report::CollectiveReport> collectives);

// The same for estimates.
std::string slow_estimates_text(const std::string& file, const std::vector<std::string>& sets,
                                std::span<const estimate::CollectiveEstimate> estimates);

}  // namespace railyard::tools
