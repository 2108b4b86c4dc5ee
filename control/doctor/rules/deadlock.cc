// Queues that wait for each other.
#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_deadlock(const Case& c) {
  std::vector<Diagnosis> out;
  for (const auto& d : c.deadlocks()) {
    const std::string text = d.dump();
    constexpr std::size_t kMost = 300;
    out.push_back({"fabric", 0.99, {fmt::format("queues that waited for each other in a circle: {}", text.substr(0, kMost))}});
    break;
  }
  return out;
}

}  // namespace

const Rule rules::kDeadlock{"deadlock", "Paused queues wait for each other in a circle, and nothing moves.",
                            "Routes without a turn from down to up, or the PFC watchdog (`pfc-watchdog`); `railyard check` names the circle.",
                            "A pause storm of a host holds queues as well, without a circle.", find_deadlock};

}  // namespace railyard::doctor
