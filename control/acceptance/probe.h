// Labs that are run to validate a fabric: its own switches, hosts and faults, with one kind of traffic.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/acceptance/subject.h"

namespace railyard::acceptance {

enum class ProbeKind {
  kPairsAlone,     // every pair, one after the other
  kPairsTogether,  // rounds in which every NIC sends to another one
  kIdleLatency,    // single packets, one at a time
  kSteady,         // every NIC sends to one far away at line rate
  kIncast,         // up to 32 NICs send to one
  kAllReduce,      // collectives of all ranks
  kAllGather,
  kAllToAll,
  kJob,             // computing and an all-reduce, in turns
  kWithoutFailure,  // finite messages between all NICs ...
  kFailover,        // ... while a link between switches fails and comes back
  kSoak,            // every NIC at 80 % for long
  kOwnWork,         // what the file itself runs
  // Of running labs alone.
  kOwnCollectives,  // the lab's own collectives and jobs, watched or started
  kPace,           // the daemon's own figures meanwhile
  kHostMtu,        // attached hosts: ping with DF ...
  kHostLatency,    // ... many pings
  kHostBandwidth,  // ... iperf3
  kHostClasses,    // ... pings with a DSCP, and counters on their way
  kHostRdma,       // ... programs of RDMA
  kHostLibfabric,  // ... and of libfabric
  kLiveFailover,   // a link is taken down by hand
  kLiveSoak,       // for long, of wall time
};

// "pairs-alone": also the name of its file.
const char* name(ProbeKind kind) noexcept;

struct Probe {
  ProbeKind kind = ProbeKind::kPairsAlone;
  spec::Lab lab{};
  std::string flows{};                 // CSV for its traffic of pattern `file`; empty: it has none
  std::vector<std::string> options{};  // of `railyard run`
};

// Nothing: this fabric cannot have it.
std::optional<Probe> probe_of(const Subject& subject, ProbeKind kind);
// What is missing then.
const char* why_not(ProbeKind kind) noexcept;

// The pairs of kPairsTogether, round by round. Each NIC sends to one and receives from one in a round.
std::vector<std::vector<Pair>> rounds_of(const Subject& subject);

// Of a soak in simulated time, unless the user says otherwise: an interval of up to 2 million packets, 5 ms at most, and
// that 20 times, each with a seed of its own (as many runs as draft-calabria-bmwg-ai-fabric-training-bench T5.2 has).
Duration soak_interval(const Subject& subject);
inline constexpr int kSoakRuns = 20;

// When the link of kFailover fails, and for how long.
Duration failure_at(const Subject& subject);
Duration failure_lasts(const Subject& subject);

// Of kJob, kAllReduce, ...: octets per rank.
std::int64_t collective_octets(const Subject& subject);
inline constexpr int kJobSteps = 3;
// How much longer a step of the job computes than an all-reduce of the estimate takes.
inline constexpr int kComputeRatio = 4;

// What came of a probe.
struct Run {
  std::string not_run{};                 // why it was not begun; empty: it was
  std::string failure{};                 // why there is no report
  nlohmann::ordered_json report{};       // null: none
  std::optional<double> reference_ns{};  // of a collective: the estimate's time
  std::string file{};                    // of the probe, for the user to run again; empty: it was not kept
};

using Runs = std::map<ProbeKind, Run>;

}  // namespace railyard::acceptance
