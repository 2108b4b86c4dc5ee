// Faults that change frames, or copy them.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {

FaultKind Corrupt::kind() {
  return described({.key = "corrupt",
                    .help = "of a link: corrupt payload with a valid FCS; an ICRC finds it",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .explains = {{DropReason::kIcrcError, ExplainedDrop::Where::kAnyHost}},
                    .reference = {{"true",
                                   "corrupt payload, valid FCS: found by RoCEv2's ICRC or UET's CRC (icrc_error); UET "
                                   "with crc: false finds it only by verifying data"}}},
                   so<Corrupt>());
}

FaultKind Duplicate::kind() {
  return described({.key = "duplicate",
                    .help = "of a link: duplicate frames",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = {FaultEffect::kDuplicates, FaultEffect::kBunches},
                    .reference = {{"true", "duplicate frames"}}},
                   so<Duplicate>());
}

FaultKind Mark::kind() {
  return described({.key = "mark",
                    .help = "of a link: mark ECN-capable packets CE",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .reference = {{"true", "mark ECN-capable packets CE"}}},
                   so<Mark>());
}

FaultKind Truncate::kind() {
  return described({.key = "truncate",
                    .help = "of a link: cut frames to this size, FCS included; the next MAC drops them",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw& f) { return fmt::format("{}B", f.draw.between(64, 1000)); },
                    .effects = {FaultEffect::kMakesFcsWrong, FaultEffect::kRepeatsForLong},
                    .reference = {{"128B", "cut frames, wrong FCS: the next MAC drops them"}}},
                   only(&Truncate::octets, spec::octets(1, 9216)));
}

FaultKind TrimPackets::kind() {
  static const Table<TrimPackets> table{
      "fault-trim",
      "Trims packets to their headers, as a switch with a full queue does",
      {key("keep", &TrimPackets::keep, octets(96, 9216),
           "remaining bytes of the frame, from the Ethernet header, without FCS"),
       key("dscp", &TrimPackets::dscp, integer(0, 63), "DSCP of the trimmed packet").require()}};
  return described(
      {.key = "trim",
       .help = "of a link: trim IP packets to their headers",
       .one_direction = true,
       .one_class = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(
                 Text{"{{ keep: {}B, dscp: {} }}", f.draw.between(96, 400), f.draw.between(0, 63)});
           },
       .effects = {FaultEffect::kReorders, FaultEffect::kChangesClass},
       .reference = {{"{ keep: 128B, dscp: 40 }",
                      "trim packets to their headers, as a switch with a full queue does"}}},
      map_of(table), table);
}

}  // namespace railyard::spec::fault
