// Faults that change frames, or copy them.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {

FaultKind Corrupt::kind() {
  return described({.key = "corrupt",
                    .help = "of a link: payload is wrong and the FCS right; an ICRC finds it",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .explains = {{DropReason::kIcrcError, ExplainedDrop::Where::kAnyHost}},
                    .reference = {{"true", "payload is wrong and the FCS right: the ICRC of RoCEv2 or the CRC of UET "
                                           "finds it (icrc_error); UET with crc: false only when it verifies data"}}},
                   so<Corrupt>());
}

FaultKind Duplicate::kind() {
  return described({.key = "duplicate",
                    .help = "of a link: frames arrive twice",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = {FaultEffect::kDuplicates, FaultEffect::kBunches},
                    .reference = {{"true", "frames arrive twice"}}},
                   so<Duplicate>());
}

FaultKind Mark::kind() {
  return described({.key = "mark",
                    .help = "of a link: ECN-capable packets get CE",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .reference = {{"true", "ECN-capable packets get CE"}}},
                   so<Mark>());
}

FaultKind Truncate::kind() {
  return described({.key = "truncate",
                    .help = "of a link: frames are cut to this size, with FCS, and the next MAC drops them",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw& f) { return fmt::format("{}B", f.draw.between(64, 1000)); },
                    .effects = {FaultEffect::kMakesFcsWrong, FaultEffect::kRepeatsForLong},
                    .reference = {{"128B", "frames are cut, and their FCS is wrong: the next MAC drops them"}}},
                   only(&Truncate::octets, spec::octets(1, 9216)));
}

FaultKind TrimPackets::kind() {
  static const Table<TrimPackets> table{
      "fault-trim",
      "A packet cut to its headers, as by a switch without room for it",
      {key("keep", &TrimPackets::keep, octets(96, 9216),
           "what is left of the frame, from the Ethernet header on, without FCS"),
       key("dscp", &TrimPackets::dscp, integer(0, 63), "of what is left").require()}};
  return described(
      {.key = "trim",
       .help = "of a link: IP packets are cut to their headers",
       .one_direction = true,
       .one_class = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(
                 Text{"{{ keep: {}B, dscp: {} }}", f.draw.between(96, 400), f.draw.between(0, 63)});
           },
       .effects = {FaultEffect::kReorders, FaultEffect::kChangesClass},
       .reference = {{"{ keep: 128B, dscp: 40 }", "cut to the headers, as a switch without room does"}}},
      map_of(table), table);
}

}  // namespace railyard::spec::fault
