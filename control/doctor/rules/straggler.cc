// A rank that is slower than the others; an emulator that is.
#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_straggler(const Case& c) {
  constexpr double kSlow = 1.15;
  std::vector<Diagnosis> out;
  for (const auto& collective : c.collectives()) {
    const auto& s = below(below(collective, "job"), "straggler");
    const double factor = number(s, "factor");
    if (factor < kSlow) continue;
    const std::string rank = text(s, "rank");
    out.push_back({rank,
                   0.85,
                   {fmt::format("{} computes {:.2f} times as long as the other ranks of {}", rank, factor,
                                text(collective, "name"))}});
  }
  return out;
}

std::vector<Diagnosis> find_emulator_late(const Case& c) {
  constexpr double kLate = 1e6;  // ns
  const double late = number(below(c.engine(), "lateness_ns"), "p99");
  if (late < kLate) return {};
  return {{"emulator",
           0.95,
           {fmt::format("the engine is late by {:.1f} ms (p99): figures of time are not those of the lab",
                        late / 1e6)}}};
}

}  // namespace

const Rule rules::kStraggler{"straggler", "One rank computes more slowly, and all others wait for it.",
                             "Clocks, temperature and other work of that GPU or host.",
                             "The rank waits for messages: then its network is slow.", find_straggler, {Input::kJobs}};
const Rule rules::kEmulatorLate{"emulator-late", "The machine is too slow for this lab in real time.",
                                "Fewer or slower links, `run.scale: 1/10`, processors of its own (`run.cores`).",
                                "Lateness is below 1 ms.", find_emulator_late, {Input::kEngine}};

}  // namespace railyard::doctor
