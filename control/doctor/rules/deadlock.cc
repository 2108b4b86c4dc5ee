// Queues that wait for each other.
#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_deadlock(const Case& c) {
  std::vector<Diagnosis> out;
  for (const auto& d : c.deadlocks()) {
    std::string ring;
    const auto& queues = items(d, "ring");
    for (const auto& queue : queues) ring += (ring.empty() ? "" : ", ") + queue.get<std::string>();
    // "s1:1 class 3"
    const std::string first = queues.empty() ? std::string("fabric") : queues[0].get<std::string>();
    out.push_back(
        {first.substr(0, first.find(' ')), 0.99, {fmt::format("these queues waited for each other: {}", ring)}});
  }
  return out;
}

}  // namespace

const Rule rules::kDeadlock{
    "deadlock", "Paused queues wait for each other in a circle, and nothing moves.",
    "Routes without a turn from down to up, or the PFC watchdog (`pfc-watchdog`); `railyard check` names the circle.",
    "A pause storm of a host holds queues as well, without a circle.", find_deadlock, {Input::kDeadlocks}};

}  // namespace railyard::doctor
