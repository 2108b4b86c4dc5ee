// Expectations and signatures of diagnoses, held against a run.
#pragma once

#include <string>
#include <vector>

#include "control/report/expectation.h"
#include "control/spec/condition_spec.h"
#include "control/spec/spec.h"

namespace railyard::report {

struct Report;

// Whether what the conditions of a lab (expect, diagnosis.signature) name is there, and is compared with values in its
// unit; and whether the settings of a diagnosis are keys. Throws spec::SpecError at the first that is wrong.
// `as_in_file`: nothing was changed by --set; else a signature may name what is not there any more, and does not hold
// then.
void check_conditions(const spec::Lab& lab, bool as_in_file);

// Whether all settings of its diagnosis (diagnosis.settings) are what the lab has.
bool has_settings(const spec::Lab& lab);

// `condition` is one that check_conditions() took.
Expectation hold(const Report& report, const spec::ConditionSpec& condition);

// Fills in `expectations`, of which an interrupted run meets none; and `run.diagnosis` with its evidence if the
// counters have its signature and the lab its settings, else empties it.
void judge(Report& report, const spec::Lab& lab);

// "found 97.9 Gb/s (flat), expected busbw >= 380Gbps [lab.yaml:7:3]"
std::string miss_text(const Expectation& e);
// "met     drops == 0: 0"; "MISSED  busbw >= 380Gbps: 97.9 Gb/s (flat)".
std::string expectation_text(const Expectation& e);

}  // namespace railyard::report
