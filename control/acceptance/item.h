// One line of the acceptance list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/acceptance/probe.h"
#include "control/acceptance/subject.h"

namespace railyard::acceptance {

enum class Answer : std::uint8_t {
  kPass,
  kWarn,  // passes, and somebody should look
  kFail,
  kReport,  // a figure without a threshold
  kNotRun,  // this fabric cannot have the probe
  kBroken,  // the probe did not come to its report
};

// "pass", "warn", "FAIL", "report", "not run", "broken"
const char* word(Answer answer) noexcept;

struct Finding {
  Answer answer = Answer::kNotRun;
  std::string found{};                  // "worst 391 Gb/s, 97.8 %: h3:1 -> h7:1"
  std::string threshold{};              // ">= 90 % of the NIC's rate"; empty: none
  std::vector<std::string> evidence{};  // lines, the worst first
  std::string remedy{};                 // what to look at next; empty: nothing
};

struct Item {
  const char* id;      // "bandwidth-alone"
  const char* asks;    // "Every pair alone reaches its NICs' rate"
  const char* source;  // of the question and its threshold
  std::vector<ProbeKind> probes;
  // All its probes came to a report.
  Finding (*judge)(const Subject&, const Runs&);
};

// What is validated: a file, or a lab that runs.
enum class Where : std::uint8_t { kFile, kLive };

// In the order of the report. `kept`: of only these ids; empty: all. Throws std::invalid_argument for an unknown id.
std::vector<const Item*> items(const std::vector<std::string>& kept = {}, Where where = Where::kFile);

// Judges, or says why not: a probe that this fabric cannot have, or that failed.
Finding judge(const Item& item, const Subject& subject, const Runs& runs);

namespace list {
extern const Item kBandwidthAlone, kBandwidthTogether, kRacks, kMtu, kIdleLatency, kLoadedLatency, kClasses,
    kEcnBeforePfc, kPauses, kLoss, kAllReduce, kAllGather, kAllToAll, kJob, kOwnWork, kFailover, kSoak, kScale;
// Of running labs alone.
extern const Item kOwnCollectives, kOwnJobs, kPace, kHostMtu, kHostLatency, kHostBandwidth, kHostClasses, kHostRdma,
    kHostLibfabric, kLiveFailover, kLiveSoak;
}  // namespace list

}  // namespace railyard::acceptance
