// The clauses as tables: which are there, and what a profile makes of them.
#pragma once

#include <string>

#include "control/bench/clause.h"

namespace railyard::bench {

// A line for each clause of the draft: id, status, title, and the reason of the status.
std::string clause_table();
// The row of docs/bench.md: "| `T5.1` | Title | implemented | |".
std::string markdown_row(const Clause& clause);
// Of the clauses that run: cases, runs, KPIs with their units.
std::string run_table(Profile profile);

}  // namespace railyard::bench
