// A fault of the spec as parts of devices: stages of links, and changes of states.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/state_fault.h"
#include "control/spec/spec.h"
#include "dataplane/fault/frame_fault.h"

namespace railyard::fault {

// A direction of a link, by the port that receives.
struct FaultyDirection {
  PortRef receiver;
  std::string where;
  std::shared_ptr<FrameFault> fault;
  Duration longest{};  // for how long it may hold a frame back
  std::optional<PortRef> retried_by = {};  // the port that sends, if LLR mends what the fault does
};

// When it is active: `added` is when it came to be there. `listed`: exactly then.
ActivityConfig activity_of(const spec::FaultSpec& fault, Instant added,
                           const std::optional<std::vector<Interval>>& listed);

// Of a fault that acts on frames: the directions that it names, each once. Throws spec::SpecError for a flow that is
// none.
std::vector<FaultyDirection> frame_faults(build::BuiltLab& lab, const spec::FaultSpec& fault,
                                          const ActivityConfig& when);

// Of one that acts on states: each device that it touches once. `id`: names the fault to them. `window`: that of the
// engine. Throws spec::SpecError for a rate that is too low, or that the engine's window is too large for.
std::vector<std::shared_ptr<StateFault>> state_faults(build::BuiltLab& lab, const spec::FaultSpec& fault,
                                                      std::uint32_t id, const ActivityConfig& when, Duration window);

// The ports that send in the directions of links that it names, each once.
std::vector<PortRef> senders_of(build::BuiltLab& lab, const spec::FaultSpec& fault);

}  // namespace railyard::fault
