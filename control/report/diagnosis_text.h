// What a file shows, and what heals it, for people.
#pragma once

#include <string>

#include "control/report/report.h"

namespace railyard::report {

// Symptom, cause and fix, the evidence, and the command that runs the lab with the fix. Only with a diagnosis.
std::string diagnosis_text(const Report& report);
// That command; empty: no value of the file is the fix.
std::string healed_command(const RunInfo& run);

}  // namespace railyard::report
