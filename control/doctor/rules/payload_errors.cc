// Payload that changed although every link delivered it undamaged.
#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_payload_errors(const Case& c) {
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    const auto n = p.dropped("icrc_error");
    if (n == 0 || p.is_switch) continue;
    Diagnosis d{p.node, 0.7, {fmt::format("{} received {} packets with a right FCS and a wrong ICRC", p.name(), n)}};
    for (const auto& f : c.flows())
      if (sink_of(f) == p.node && count(f, "lost") > 0)
        d.evidence.push_back(fmt::format("flow {} lost {}", text(f, "name"), count(f, "lost")));
    constexpr std::size_t kMost = 6;
    if (d.evidence.size() > kMost) d.evidence.resize(kMost);
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace

const Rule rules::kPayloadErrors{
    "payload-errors", "Packets change inside a device: memory of a switch or NIC.",
    "Follow the flows that are hit; the device that they share and others do not is the one.",
    "FCS errors on a link of the path: then the link is damaged, not a device.", find_payload_errors, {Input::kPorts}};

}  // namespace railyard::doctor
