// What a fabric file says of collective operations and jobs: collectives.<n>, jobs.<n>.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/collectives/operation.h"
#include "control/collectives/protocol.h"
#include "control/jobs/eras.h"
#include "control/jobs/job_graph.h"
#include "control/spec/fault_spec.h"
#include "control/spec/job_spec.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::collectives {
struct Algorithm;
}

namespace railyard::spec {

using CollectiveOperation = collectives::Operation;
// One of the list (control/collectives/registry.h).
using CollectiveAlgorithm = const collectives::Algorithm*;
// What carries its messages: QPs of RoCEv2 NICs, or PDCs of Ultra Ethernet NICs.
enum class CollectiveTransport { kRoce, kUet };
// Of UET: in any order over many paths, or in order over one.
enum class CollectiveService { kRud, kRod };
// Integers: sums are the same in any order, and are compared octet by octet.
enum class CollectiveDatatype { kUint32, kUint64 };

// Ranks that compute more slowly than the others.
struct StragglerSpec {
  std::vector<int> ranks;
  Ratio factor{1, 1};  // how many times as long; at least 1

  bool operator==(const StragglerSpec&) const = default;
};

// A trace as it was read: what the ranks do, and which ends of messages belong together.
struct TraceSpec {
  std::shared_ptr<const jobs::JobGraph> graph;
  std::shared_ptr<const jobs::Matches> matches;
  // Of a job that shrinks (control/jobs/eras.h): its eras, and what goes in all of them. `graph` is of the first one.
  std::vector<jobs::Era> eras{};
  std::shared_ptr<const jobs::JobGraph> of_eras{};
  std::shared_ptr<const jobs::Matches> matches_of_eras{};

  // What ranks carry out.
  const jobs::JobGraph& whole() const noexcept { return of_eras != nullptr ? *of_eras : *graph; }
  const jobs::Matches& whole_matches() const noexcept { return of_eras != nullptr ? *matches_of_eras : *matches; }

  bool operator==(const TraceSpec& o) const {
    return graph == o.graph || (graph != nullptr && o.graph != nullptr && *graph == *o.graph);
  }
};

// Where a placement puts a rank.
struct PlacedRank {
  std::string host;
  int rail = 1;  // its NIC
  int gpu = 0;   // its GPU, from 1; 0: the host's profile has none

  bool operator==(const PlacedRank&) const = default;
};

// Over RoCEv2 NICs (hosts.<name>.roce) or UET NICs (hosts.<name>.uet), rank by rank; `ranks` are selectors over hosts as
// those of traffic. Each GPU is a rank, or each NIC of hosts without GPUs.
struct CollectiveSpec {
  std::string name;
  // A file of what the ranks do, or a training job, instead of an operation; and what follows from it, once the lab is read.
  std::string trace;
  std::optional<JobSpec> job;
  TraceSpec traced;
  CollectiveOperation collective = CollectiveOperation::kAllReduce;
  std::optional<CollectiveAlgorithm> algorithm;  // nothing: the usual one
  CollectiveTransport transport = CollectiveTransport::kRoce;
  CollectiveService service = CollectiveService::kRud;  // of kUet
  Bytes size{};                                  // as nccl-tests counts it (control/collectives/collective_plan.h)
  std::uint32_t chunk = 524'288;                 // the most octets of a message
  // Parts that go at once, each over QPs or PDCs of its own. Nothing in a file: Algorithm::channels_by_nic says how many;
  // in a lab that was read there always are some.
  std::optional<int> channels;
  std::vector<std::string> ranks{"*"};
  std::string placement;           // a file that says where each rank is, in the place of `ranks`
  std::vector<PlacedRank> placed;  // what it says, by rank, once the lab is read
  // All-to-all of unequal parts: a file of what each rank sends to each, or the exponent of Zipf's law by which ranks are
  // sent to (MoE: how unequally experts are chosen). 0: all parts are equal.
  std::string matrix;
  Ratio skew{0, 1};
  std::vector<std::uint64_t> octets;  // what `matrix` says, row by row, once the lab is read
  bool pxn = false;  // to another host and rail by way of the rank at that rail of the own host
  int root = 0;  // of operations that have one
  CollectiveDatatype datatype = CollectiveDatatype::kUint32;
  int repeats = 1;
  Duration start{};
  Duration gap{};       // between a rank's end of one and its start of the next
  BitRate reduce_rate{};  // of adding what came to what is there, of each rank; 0: at once
  // NCCL's protocol, and of kAuto what NCCL chooses, once the lab is read (of graphs: for each collective, as they are planned).
  collectives::Protocol protocol = collectives::Protocol::kNone;
  collectives::ProtocolChoice chosen{};
  // Nothing: what the protocol says; else of each rank's start of a repeat, and of each message that a rank receives.
  std::optional<Duration> launch_cost;
  std::optional<Duration> step_cost;
  // A step of data-parallel training: computing before the backward pass and in it, where gradients are there in so
  // many buckets one after the other; how much longer it takes a rank in a repeat, at most.
  Duration forward{};
  Duration backward{};
  int buckets = 1;
  std::uint32_t jitter_ppm = 0;
  std::vector<StragglerSpec> stragglers;
  int path_mtu = 4096;
  int ip_version = 4;
  int dscp = 26;
  bool ect = true;
  std::optional<int> priority;  // class at the sending NIC; nothing: what its QoS profile makes of the DSCP

  CollectiveAlgorithm used_algorithm() const;
  collectives::Protocol used_protocol() const noexcept {
    return protocol == collectives::Protocol::kAuto ? chosen.protocol : protocol;
  }
  int channel_count() const noexcept { return channels.value_or(1); }
  bool is_uet() const noexcept { return transport == CollectiveTransport::kUet; }
  bool has_unequal_parts() const noexcept { return !matrix.empty() || skew.numerator > 0; }
  bool is_job() const noexcept { return job.has_value(); }
  // Its ranks do what a graph says: a trace, or a job.
  bool is_graph() const noexcept { return !trace.empty() || is_job(); }
  // Where the fabric file says it: "collectives.<name>", "jobs.<name>".
  std::string path() const;
  // What people call it: "all-reduce", "trace", "job"; and its algorithm, the trace's file, or the job's model.
  std::string operation_name() const;
  std::string algorithm_name() const;
  // Its ranks compute, and not only communicate.
  bool computes() const noexcept;
  // The longest time that a rank computes in a repeat, without jitter and stragglers.
  Duration computing() const noexcept;
  std::uint32_t element_octets() const { return datatype == CollectiveDatatype::kUint32 ? 4 : 8; }

  bool operator==(const CollectiveSpec&) const = default;
};

}  // namespace railyard::spec
