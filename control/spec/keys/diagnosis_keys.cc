// The keys of what a file shows, and what heals it.
#include "control/spec/keys/keys.h"

namespace railyard::spec {

const Table<DiagnosisSpec>& diagnosis_keys() {
  static const Table<DiagnosisSpec> table{
      "diagnosis",
      "The failure that this lab shows. Reports include it only if the run's counters match its signature",
      {key("signature", &DiagnosisSpec::signature, one_or_list_of(condition_form()),
           "conditions on the run's counters that all hold when the failure is present, e.g. drops(too_big) at spine1 "
           "> 0")
           .require(),
       key("symptom", &DiagnosisSpec::symptom, any_text(), "symptom that users see").require(),
       key("cause", &DiagnosisSpec::cause, any_text(), "why, as the report's counters show it").require(),
       key("fix", &DiagnosisSpec::fix, any_text(), "remedy").require(),
       key("set", &DiagnosisSpec::set, one_or_list_of(any_text()),
           "the remedy as a --set argument of railyard run, e.g. traffic.large.path-mtu=1024"),
       key("settings", &DiagnosisSpec::settings, one_or_list_of(any_text()),
           "settings that the text is about, as --set arguments; a run with other values prints no diagnosis, e.g. "
           "hosts.default.pfc=auto")}};
  return table;
}

}  // namespace railyard::spec
