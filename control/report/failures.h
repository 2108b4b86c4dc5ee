// What a run did not carry as it was asked to, and whether somebody expected that: the rule behind exit code 5.
#pragma once

#include <string>
#include <vector>

namespace railyard::report {

struct Report;

struct Failure {
  enum class Kind {
    kFlowFailed,            // a QP or PDC went into error, or an rping client failed
    kFlowIncomplete,        // a flow with an end did not complete
    kFlowCorrupted,         // some of its data arrived corrupted
    kCollectiveIncomplete,  // an iteration did not complete
    kCollectiveWrong,       // a rank has a wrong result
    kDeadlock
  };
  Kind kind = Kind::kFlowFailed;
  std::string name;     // of the flow or collective; of a deadlock, of its first queue
  std::string traffic;  // of the flow
  bool has_end = true;  // the flow has
};

// Behind the verdicts completion, data and deadlock: each of these fails if there is one of its own. A flow over UC or
// UUD may end without the packets that were lost, and one that was never offered is none.
std::vector<Failure> failures(const Report& report);

// "flow t/h1->h2 failed", "collective c did not complete".
std::string failure_text(const Failure& failure);
// A line for them: "flow t/h1->h2 failed; collective c did not complete; and 3 more". Empty: there are none.
std::string failures_text(const std::vector<Failure>& failures);

// Those that no condition asks for that was met: an expectation, or one of the signature of the report's diagnosis. A
// condition asks for a failure if it names its figure (failed_flows, completed, missing, corrupted, wrong_bytes,
// deadlocks) of the whole run or of this flow, traffic or collective, and would be missed without any failure.
std::vector<Failure> unexpected_failures(const Report& report);

}  // namespace railyard::report
