// Packets that were trimmed, and whose headers do not arrive.
#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_trim_lost(const Case& c) {
  constexpr std::uint64_t kLeast = 20;
  std::uint64_t trimmed = 0, arrived = 0, lost = 0, most_trimmed = 0, most_lost = 0;
  const PortCase *most = nullptr, *loses = nullptr;
  for (const PortCase& p : c.ports()) {
    std::uint64_t here = 0;
    for (const ClassCase& k : p.classes) here += k.trimmed;
    trimmed += here;
    const std::uint64_t full = p.dropped("trim_queue_full") + p.dropped("egress_full");
    lost += full;
    if (here > most_trimmed) most_trimmed = here, most = &p;
    if (full > most_lost) most_lost = full, loses = &p;
  }
  for (const auto& f : c.flows()) arrived += count(f, "trimmed");
  for (const auto& n : c.uet_nics()) arrived += count(below(n, "dropped"), "trimmed");
  constexpr double kPart = 0.2;
  std::uint64_t no_room = 0;  // for the header
  for (const PortCase& p : c.ports()) no_room += p.dropped("trim_queue_full");
  const bool are_missing = arrived * 2 < trimmed;
  const bool are_dropped = static_cast<double>(no_room) > kPart * static_cast<double>(trimmed + no_room);
  if (trimmed + no_room < kLeast || (!are_missing && !are_dropped)) return {};
  const PortCase* at = loses != nullptr ? loses : most;
  return {{at->node,
           0.8,
           {fmt::format("switches trimmed {} packets, receivers saw {} headers", trimmed, arrived),
            fmt::format("{} packets were dropped by full queues, most at {}", lost, at->name())}}};
}

}  // namespace

const Rule rules::kTrimLost{"trim-misclassified",
                            "Trimmed headers do not arrive: their DSCP leads into a class that drops or starves them.",
                            "A class with strict priority for the DSCP of trimmed packets at every switch "
                            "(`qos.NAME.classes.N.trim`).",
                            "Receivers count as many trimmed packets as switches.", find_trim_lost,
                            {Input::kPorts, Input::kFlows}};

}  // namespace railyard::doctor
