// Faults of ports of switches and hosts.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {

FaultKind PfcStorm::kind() {
  return described({.key = "pfc-storm",
                    .help = "of a port: pause its peer's classes permanently (pause storm)",
                    .scope = FaultScope::kPort,
                    .endless_work = true,
                    .draw =
                        [](FaultDraw& f) {
                          return f.draw.percent(70) ? std::to_string(f.draw.of(f.classes)) : std::string("[3, 4]");
                        },
                    .reference = {{"3", "pause its peer's class 3 (or [3, 4]) permanently"}}},
                   only(&PfcStorm::classes, one_or_list_of(integer(0, 7))));
}

FaultKind IgnorePause::kind() {
  return described({.key = "ignore-pause",
                    .help = "of a port: ignore received pauses",
                    .scope = FaultScope::kPort,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = {FaultEffect::kIgnoresPauses, FaultEffect::kLosesPauseState},
                    .reference = {{"true", "ignore received pauses"}}},
                   so<IgnorePause>());
}

FaultKind Mtu::kind() {
  using Where = ExplainedDrop::Where;
  return described({.key = "mtu",
                    .help = "of a port: drop longer IP packets, sent or received",
                    .scope = FaultScope::kPort,
                    .draw = [](FaultDraw& f) { return fmt::format("{}", f.draw.between(576, 3000)); },
                    // A packet that is too big is counted where it came in, whatever port was too small for it. The
                    // ICMP error about it reaches a host that does not expect one, and has no guaranteed memory.
                    .explains = {{DropReason::kTooBig, Where::kDevice},
                                 {DropReason::kGiant, Where::kPort},
                                 {DropReason::kNotUnderstood, Where::kAnyHost},
                                 {DropReason::kIngressFull, Where::kDevice}},
                    .reference = {{"1500", "drop longer IP packets, sent or received"}}},
                   only(&Mtu::octets, integer(576, 9216)));
}

}  // namespace railyard::spec::fault
