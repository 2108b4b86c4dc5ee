// Adaptive routing: members are graded by the time their queues take to drain (port_load.h), at the instant or as an
// average of samples (sampled_load.h), with what the next switches report if asked (remote_quality.h). The best take
// turns at random, in proportion to their rates.
#pragma once

#include <string_view>

#include "dataplane/switch/path/flowlet.h"
#include "dataplane/switch/path/policy.h"

namespace railyard::adaptive_policy {
using namespace path_parameter;

inline constexpr std::string_view kEach[] = {"packet", "flowlet"};
inline constexpr Range kIntervals{100'000, 1'000'000'000};

inline constexpr PathParameter kParameters[] = {
    word<&PathConfig::per_flowlet>("per", kEach, "how often a path is chosen"),
    duration<&PathConfig::gap>("gap", flowlet_policy::kGaps, flowlet_policy::kDrawnGaps, flowlet_policy::kGapHelp,
                               "per"),
    number<&PathConfig::bands>(
        "bands", {1, PathConfig::kMostBands}, {1, 8},
        "number of grades of a port's queue drain time; ports of equal grade share in proportion to their rates"),
    duration<&PathConfig::band>("band", {1'000, 1'000'000'000'000}, {50'000, 2'000'000},
                                "upper end of the best grade; each next grade is twice as long"),
    duration<&LoadSampling::every>("sample-every", kIntervals, {100'000, 5'000'000},
                                   "sampling interval of an average of queued and recently sent bytes (Broadcom's "
                                   "DLB); default: grade the present queue"),
    weight<&LoadSampling::shift>("average", LoadSampling::kMostShift,
                                 "weight of a new sample in the average; 1: the last sample only", "sample-every"),
    yes_no<&PathConfig::global>(
        "global",
        "global load balancing: next-hop switches report their queues, and a path has the worse grade of its two hops"),
    duration<&PathConfig::report_every>("report-every", kIntervals, {100'000, 20'000'000},
                                        "minimum interval of reports; the first change is reported at once", "global"),
};
constexpr PathUnit unit(const PathConfig& c) { return c.per_flowlet ? PathUnit::kFlowlet : PathUnit::kPacket; }

inline constexpr PathPolicyInfo kInfo{.policy = PathPolicy::kAdaptive,
                                      .name = "adaptive",
                                      .help = "least queued port; random among equals",
                                      .parameters = kParameters,
                                      .basis = always<PathBasis::kLoads>,
                                      .unit = unit};

}  // namespace railyard::adaptive_policy
