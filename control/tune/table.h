// What a search has found: as text, JSON, and a page.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/tune/search.h"

namespace railyard::tune {

struct Report {
  std::string file;
  std::string lab;
  std::vector<ChosenKnob> knobs;
  SearchPlan plan;
  Result result;
};

// Figures of the table "before, after", beside those of the goal.
const std::vector<std::string>& shown_figures();

std::string text(const Report& report);
nlohmann::ordered_json json(const Report& report);
// One page that needs nothing else, with the trade-off curve.
std::string page(const Report& report);

// Tables that text and page share; the first row is the heading.
using Rows = std::vector<std::vector<std::string>>;
Rows knob_rows(const Report& report);
// On the seeds of the check, or, without one, on those of the search.
Rows figure_rows(const Report& report);
Rows front_rows(const Report& report);
// What came of it, in a sentence or two.
std::string conclusion(const Report& report);

}  // namespace railyard::tune
