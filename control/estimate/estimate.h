// How long collectives and jobs take if their messages are fluid: in seconds of computing where a run of packets takes hours.
//
// Every message is a flow that has its max-min fair share of the links on its way at every instant, and arrives a path's
// latency after its last octet has left. Ranks do what their programs say (transports/base/rank_program.h), as they do in a
// run. Left out is what packets do: queues, marks, pauses, losses, and what congestion control makes of them. So the times are
// those of a network that shares its links perfectly: a run is slower, the more so the more it is congested
// (docs/jobs.md has measured differences). Traffic and faults of the lab are left out as well.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "control/report/job_figures.h"
#include "control/report/storage_figures.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/spec.h"

namespace railyard::estimate {

struct Options {
  // Messages are never split into smaller ones than this. 0: as the lab says (`chunk`). Larger messages are fewer flows.
  std::uint32_t least_chunk = spec::kLeastEstimatedChunk;
};

struct CollectiveEstimate {
  std::string name;
  std::string collective;  // "job", "all-reduce"
  std::string algorithm;
  std::string transport;   // "roce", "uet"
  std::size_t ranks = 0;
  std::uint64_t bytes = 0;
  Duration time{};         // of one repeat, of a job an ordinary step: from its start until all ranks have their results
  double busbw_bps = 0;    // 0: it has none
  double limit_bps = 0;    // of busbw, as reports define it (report/collective_limit.h), of full packets
  std::optional<report::JobFigures> figures;
  std::optional<report::StorageFigures> storage;
  double computed = 0;     // share of the time that ranks compute, all together
  double scale_up = 0;     // share of the time that the busiest rank sends in its scale-up network
};

// What went over a link in one direction.
struct LinkEstimate {
  std::string name;        // the port that sends, or the uplink of PCI Express that NICs share (FlowNetwork::name)
  double bytes = 0;        // framing included
  double utilisation = 0;  // over the time from the first start to the last end
  bool between_switches = false;
  bool is_uplink = false;  // of PCI Express
};

struct Estimate {
  std::vector<CollectiveEstimate> collectives;
  std::vector<LinkEstimate> links;  // those that carry anything, the busiest first
  Duration time{};                  // until all have ended
  std::uint64_t messages = 0;       // flows over the fabric, and messages over scale-up networks
};

// Error: a rank has no path to another; the text says which.
std::expected<Estimate, std::string> estimate(const spec::Lab& lab, const Options& options = {});

}  // namespace railyard::estimate
