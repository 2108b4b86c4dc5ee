// What became of a collective operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/report/job_figures.h"
#include "control/report/percentiles.h"
#include "control/report/storage_figures.h"
#include "control/report/timeline_report.h"
#include "dataplane/base/framing.h"

namespace railyard::report {

struct CollectiveReport {
  // All of its ranks: from the first that starts to the last that has its result. Nothing: one has not.
  struct Repeat {
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> time_ns;
  };

  std::string name;
  std::string collective;
  std::string algorithm;
  std::string transport = "roce";  // or uet/rud, uet/rod
  std::vector<std::string> ranks;  // NICs
  std::uint64_t bytes = 0;         // `size`, as nccl-tests counts it
  std::uint64_t chunk = 0;
  int channels = 1;
  int repeats = 1;  // asked for
  std::vector<Repeat> iterations;
  // Of those that were completed; percentiles by the nearest rank.
  std::optional<std::int64_t> min_ns, median_ns, p99_ns, max_ns;
  double factor = 1;               // of busbw: nccl-tests, doc/PERFORMANCE.md
  double algbw_bps = 0;            // bytes over the median time
  double busbw_bps = 0;            // algbw x factor
  // What headers, preambles and gaps leave of the slowest rank's link. Where part of the data takes scale-up networks:
  // the busbw at which the busiest NIC, or rank in such a network, would have no time left.
  double limit_bps = 0;
  std::uint64_t fabric_bytes = 0;  // of payload that all ranks received, each octet once

  // Of steps of training: times are those of steps, and rates are 0.
  struct Job {
    std::int64_t compute_ns = 0;  // of a rank in a repeat, without jitter
    int buckets = 1;  // 0: of a trace
    // compute / (compute + wait), of all ranks together. A rank waits until it has its results; of a trace until all ranks
    // are done.
    double utilisation = 0;
    // What of communicating was hidden behind computing: 1 - (time - compute) / (bytes x factor / link), of all repeats
    // together (draft-calabria-bmwg-ai-fabric-training-bench: Overlap_Fraction). Below 0: it took longer than the link
    // needs.
    // Nothing: a trace, or nothing goes through the fabric.
    std::optional<double> overlap;
    // A rank that computed longer than all others: the one that the others wait for.
    struct Straggler {
      std::string rank;
      double factor = 1;  // against the median rank
    };
    std::optional<Straggler> straggler;
    // Of all ranks in an hour of such steps, at run.gpu-hour.
    std::optional<double> idle_cost_per_hour;
  };
  std::optional<Job> job;
  std::optional<JobFigures> figures;  // of a job or a trace

  std::optional<StorageFigures> storage;  // of a job that stores, or of which a rank fails

  // Nothing: steps were not recorded (run.timeline).
  std::optional<TimelineReport> timeline;

  // What went over the hosts' scale-up networks: none of it is in fabric_bytes.
  struct ScaleUp {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t busy_ns = 0;  // of the busiest rank: its octets over the rate
    Percentiles latency_ns;    // of messages' first octets
  };
  std::optional<ScaleUp> scale_up;

  // From handing a message to a NIC until it is acknowledged; of all of all ranks.
  struct Messages {
    std::uint64_t count = 0;
    double mean_ns = 0;
    Percentiles ns;
    // Of each rank, as `ranks` has them. Nothing: it sent none.
    std::vector<std::optional<std::int64_t>> median_ns_by_rank;
  };
  Messages messages;

  bool completed = false;
  std::string stalled;   // if not: where, and who is waited for
  bool verified = false;  // completed, and all data were right
  std::uint64_t wrong_bytes = 0;
  std::uint64_t wrong_messages = 0;
  std::string wrong;  // the first of it

  std::uint64_t packets = 0;  // of payload, sent
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t packet_seq_err = 0;
  std::uint64_t local_ack_timeout_err = 0;
  std::uint64_t ecn_marked = 0;
  std::uint64_t cnp_sent = 0;
  std::uint64_t cnp_handled = 0;

  // Steps of training, traces and barriers have a time only, and what never completed has none.
  bool has_bandwidth() const noexcept { return median_ns && !job && factor > 0; }
  std::optional<double> share_of_limit() const noexcept {
    return has_bandwidth() && limit_bps > 0 ? std::optional(std::min(1.0, busbw_bps / limit_bps)) : std::nullopt;
  }
};

CollectiveReport collective_report(const build::BuiltLab& lab, const build::Collective& collective);

// What a rank's messages took of the network comes to what is there.
void add(CollectiveReport& r, const RankTraffic& t) noexcept;

// From how long its messages took, in ps.
void set_messages(CollectiveReport& r, const Histogram& times);

// From how long each complete repeat took, if any: percentiles, algbw, busbw.
void summarise(CollectiveReport& r, std::vector<Duration> times);

// What headers, preambles and gaps leave of a link's rate for the payload of all messages of a collective. `selective`,
// `uet`, `framing`: as in framing.h.
double framing_share(const std::vector<const RankProgram*>& programs, const spec::CollectiveSpec& spec, bool selective,
                     const spec::UetNicSpec& uet, Framing framing);

// From when the time of a repeat counts. Of a collective: from its first rank's start. Steps of training and traces overlap where
// the first ranks go on while the last ones still have to do, so that a step counts from the end of the one before it, and
// `gap` later, if that is later: steps and gaps together take as long as all of it. `end_before`: nothing before the first.
constexpr Instant counts_from(Instant first_start, std::optional<Instant> end_before, Duration gap, bool steps) noexcept {
  return steps && end_before ? std::max(first_start, *end_before + gap) : first_start;
}

// Its size, for people.
std::string size_of(const CollectiveReport& collective);

// For people: a table, and what went wrong. Empty without collectives.
std::string collective_text(const std::vector<CollectiveReport>& collectives);

}  // namespace railyard::report
