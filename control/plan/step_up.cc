#include "control/plan/step_up.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/plan/arithmetic.h"
#include "control/plan/job.h"
#include "control/plan/memory_need.h"
#include "control/report/units.h"
#include "control/spec/pcie.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

constexpr double kWorthIt = 0.1;  // of the time that GPUs compute
constexpr double kMfu = 0.4;      // of a GPU's peak that computing reaches; default of jobs

std::string ms(double seconds) { return report::nanoseconds_text(static_cast<std::uint64_t>(seconds * 1e9)); }

// Gradients out, parameters in, of one step, less what hides behind the passes of one microbatch; or the KV cache of a
// prompt.
Trigger communication(const Request& r, const NicCheck& nic) {
  const double rate = static_cast<double>(nic.for_gpu.bps) / 8;
  const double flops = gpu_named(r.gpu).flops * kMfu;
  const auto parameters = static_cast<double>(r.model.parameters());
  double octets = 0, compute = 0, hidden = 0;
  std::string what;
  if (r.workload == Workload::kInferenceRag) {
    constexpr double kPrompt = 512;
    octets = kPrompt * 4 * r.model.layers * static_cast<double>(r.model.kv_width()) / r.gpus_per_node;
    compute = kPrompt * 2 * parameters / flops / r.gpus_per_node;
    what = "KV cache of a prompt / its prefill";
  } else {
    const Degrees d = degrees(r, r.gpus);
    const int parts = d.tensor * d.pipeline;
    const int microbatches = std::max(4, 2 * d.pipeline);
    // Ring: 2 (n - 1) / n times what there is, 2 octets for each parameter.
    octets = 2.0 * (d.data - 1) / d.data * 2 * parameters / parts;
    if (r.workload == Workload::kFineTuning) octets /= kAdapterShare;
    hidden = 6 * parameters * static_cast<double>(r.model.sequence) / parts / flops;
    compute = hidden * microbatches;
    what = "exposed communication / computing";
  }
  const double share = std::max(0.0, octets / rate - hidden) / compute;
  return {what,
          fmt::format("({} / {}{}) / {}", report::size_text(static_cast<std::uint64_t>(octets)),
                      report::rate_text(static_cast<double>(nic.for_gpu.bps)),
                      hidden > 0 ? fmt::format(" - {} of a microbatch", ms(hidden)) : "", ms(compute)),
          report::percent_text(share), fmt::format("threshold: {:.0f} %", kWorthIt * 100), share > kWorthIt};
}

Trigger slot(const Request& r, BitRate twice) {
  const BitRate carried = spec::rate_of(r.pcie);
  return {fmt::format("slot of a NIC of {}", report::rate_text(static_cast<double>(twice.bps))),
          fmt::format("gen{}x{}", r.pcie.generation, r.pcie.lanes), report::rate_text(static_cast<double>(carried.bps)),
          fmt::format("threshold: {}", report::rate_text(static_cast<double>(twice.bps))), carried >= twice};
}

// The same nodes and NICs, everything twice as fast, with chips of the same capacity: half as many ports.
Trigger switches(const Request& r, const Shape& s, const SwitchChoice& chosen, BitRate twice) {
  Request faster = r;
  faster.nic_rate = twice;
  faster.asic.clear();
  faster.capacity.reset();
  faster.port_rate = BitRate{std::max(twice.bps, chosen.port_rate.bps)};
  faster.radix = static_cast<int>(chosen.capacity().bps / faster.port_rate->bps);
  Trigger t{fmt::format("switches at {}", report::rate_text(static_cast<double>(twice.bps))),
            fmt::format("{} ports of {} a switch", *faster.radix,
                        report::rate_text(static_cast<double>(faster.port_rate->bps))),
            "",
            fmt::format("threshold: no more than {} tiers, as at this rate ({} switches)", s.tiers, s.later.switches()),
            false};
  try {
    const Shape f = size(faster, choose_switch(faster));
    t.result = fmt::format("{} in {} tiers", f.later.switches(), f.tiers);
    t.reached = f.tiers <= s.tiers;
  } catch (const spec::SpecError&) {
    t.result = "not in three tiers";
  }
  return t;
}

}  // namespace

std::vector<Trigger> step_up_triggers(const Request& r, const Shape& s, const SwitchChoice& chosen) {
  const BitRate twice = r.nic_rate * 2;
  return {communication(r, check_nics(r)), slot(r, twice), switches(r, s, chosen, twice)};
}

}  // namespace railyard::plan
