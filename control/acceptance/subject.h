// The fabric that is validated, and what it is held against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "control/spec/spec.h"
#include "dataplane/base/time.h"

namespace railyard::acceptance {

// Thresholds and sizes. docs/validate.md has the sources of the defaults.
struct Settings {
  double least_bandwidth = 0.9;   // of a pair, as a share of the slower NIC's rate; (0, 1]
  std::optional<Duration> p99{};  // of the latency of packets on the idle fabric; nothing: reported only
  std::optional<Duration> p999{};
  std::optional<Duration> loaded_p99{};       // the same, with every NIC sending at line rate
  double below_reference = 0.1;               // so far may a collective be below its reference
  double least_utilisation = 0.5;             // of the job, below which the network is said to bound it
  double rack_difference = 0.3;               // of latency or bandwidth, between pairs of one rack and of two
  std::size_t most_pairs = 5000;              // measured one at a time; more are drawn by the seed
  Duration soak{5'000'000'000};               // simulated time of the soak; 0: none
  std::optional<std::size_t> planned_gpus{};  // of the cluster that this one stands for
};

// Two NICs of different hosts, indices into Subject::nics.
struct Pair {
  std::size_t from = 0;
  std::size_t to = 0;
};

struct Subject {
  spec::Lab lab;  // of the file, under the virtual clock, all hosts built in
  Settings settings{};
  bool uet = false;                    // the transport of all probes: UET (RUD), else RoCEv2 (RC)
  spec::TrafficSpec like{};            // a traffic as probes have it: transport, DSCP, path MTU, QPs, service
  std::vector<spec::PortName> nics{};  // of hosts, linked, in the order of the file
  std::vector<std::int64_t> bps{};     // of their links
  std::vector<std::size_t> edge{};     // the switch next to each, a node of the lab
  // Ordered pairs of NICs of different hosts that reach each other through switches, all or `most_pairs` of them.
  std::vector<Pair> pairs{};
  std::size_t all_pairs = 0;
  Duration one_way{};  // at most, of a full packet between two NICs of the idle fabric: an upper estimate

  std::int64_t pair_bps(const Pair& p) const { return std::min(bps[p.from], bps[p.to]); }
  bool same_rack(const Pair& p) const { return edge[p.from] == edge[p.to]; }
};

// The subject of a lab. The transport is that of its RDMA work (UET, if it has no work over RoCEv2 and some over UET),
// or `transport` ("roce", "uet"). Throws InputError: fewer than two hosts, trunks, or speakers that only run live.
Subject subject_of(const spec::Lab& lab, const Settings& settings, const std::optional<std::string>& transport);

// The same of a running lab: its NICs that are built in; there may be no pair.
Subject live_subject_of(const spec::Lab& lab, const Settings& settings, const std::optional<std::string>& transport);

}  // namespace railyard::acceptance
