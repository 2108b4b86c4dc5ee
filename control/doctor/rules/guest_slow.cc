// Software behind a port that is slower than the fabric.
#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_guest_slow(const Case& c) {
  constexpr double kPart = 0.001;
  std::vector<Diagnosis> out;
  for (const auto& a : c.attachments()) {
    const std::uint64_t refused = count(a, "not_sent"), ring = count(a, "host_ring_full"), memory = count(a, "no_memory");
    const double all = number(a, "sent") + number(a, "received") + static_cast<double>(refused + ring + memory);
    if (static_cast<double>(refused + ring + memory) <= kPart * all) continue;
    out.push_back({text(a, "node"),
                   0.9,
                   {fmt::format("{} ({}): {} frames were not taken from the fabric, {} found the host's ring full, {} found "
                                "no memory",
                                text(a, "node"), text(a, "device"), refused, ring, memory)}});
  }
  return out;
}

}  // namespace

const Rule rules::kGuestSlow{"guest-slow", "Software in a guest or on a host does not keep up with the fabric.",
                             "Processors of its own for it, larger rings, a lower rate or `run.scale`.",
                             "The losses are at its start, before its program listened.", find_guest_slow,
                             {Input::kEngine}};

}  // namespace railyard::doctor
