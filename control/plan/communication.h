// What a job sends by the fabric against what it computes: whether NICs are fast enough.
#pragma once

#include <string>

#include "control/plan/request.h"
#include "dataplane/base/units.h"

namespace railyard::plan {

// Of one GPU in one step; of serving: in the prefill of one prompt.
struct Communication {
  std::string what;         // "gradients and parameters"
  std::string hidden_what;  // what it overlaps: "a microbatch"
  double octets = 0;        // that cross the NICs
  double hidden = 0;        // seconds of computing that it overlaps
  double compute = 0;       // seconds, > 0

  // Time of communication that computing does not hide, as a share of computing. `of_gpu`: of the NICs, for each GPU.
  double exposed(BitRate of_gpu) const;
  // The least rate for each GPU at which no more than `share` of computing is exposed.
  BitRate rate_for(double share) const;
};

// Training: 2 octets of each parameter's gradient out and as much of the parameter in, by rings over the data-parallel
// copies, overlapped with the passes of one microbatch; fine-tuning the same of its adapters. Serving: the KV cache of a
// prompt from prefill to decode, layer by layer during prefill (Patel et al., "Splitwise", ISCA '24, section IV-C).
Communication communication(const Request& request);

inline constexpr double kWorthIt = 0.1;  // exposed share above which faster NICs are worth it: our choice
inline constexpr double kMfu = 0.4;      // of a GPU's peak that computing reaches: default of jobs

}  // namespace railyard::plan
