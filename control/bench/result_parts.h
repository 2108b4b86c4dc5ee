// What results as text and as a page say in the same words.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/bench/result.h"

namespace railyard::bench {

std::string number_text(double x);
std::string cell(const Value& v);     // "97.9"; "-": it has none
std::string cv_text(const Value& v);  // "1.2 %"; "-": it has none
std::string head(const Kpi& k);       // "busbw Gb/s [c]"

const Value& primary_of(const ClauseResult& r, const CaseResult& c);

// A parameter's value; of a column without its settings: "roce/rc/sr/ecmp".
std::string short_name(const std::pair<std::string, std::string>& param);
// "path ECMP", without the parameter at `axis`.
std::vector<std::string> other_params(const Case& c, std::size_t axis);

std::string topology_text(const FabricFacts& f);
std::string transport_text(const Case& c);
// "all-reduce ring/1ch, chunks of 524288 bytes, n = 16, ...", each once.
std::vector<std::string> algorithms_of(const ClauseResult& r);

// What all cases agree in once, else the different ones.
template <class F>
std::string all_of(const ClauseResult& r, F text_of_case) {
  std::vector<std::string> seen;
  for (const Case& c : r.plan.cases)
    if (const std::string s = text_of_case(c); std::ranges::find(seen, s) == seen.end()) seen.push_back(s);
  constexpr std::size_t kMost = 3;
  const std::size_t more = seen.size() > kMost ? seen.size() - kMost : 0;
  seen.resize(seen.size() - more);
  return fmt::format("{}{}", fmt::join(seen, " | "), more > 0 ? fmt::format(" | {} more", more) : "");
}

}  // namespace railyard::bench
