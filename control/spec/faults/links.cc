// Faults of the state of links: they are down, or slow.
#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {

FaultKind Down::kind() {
  return described({.key = "down",
                    .help = "of a link: no carrier at either end",
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = {FaultEffect::kBreaksLink, FaultEffect::kReorders, FaultEffect::kLosesPauseState},
                    .explains = {{DropReason::kLinkDown, ExplainedDrop::Where::kPort}},
                    .reference = {{"true", "no carrier: both ends drop the frames that they send"}}},
                   so<Down>());
}

FaultKind Flap::kind() {
  static const Table<Flap> table{"flap",
                                 "A flapping link",
                                 {key("down", &Flap::down, duration(Duration{1}, kAnyTime), "down time").require(),
                                  key("up", &Flap::up, duration(Duration{1}, kAnyTime), "up time").require()}};
  return described(
      {.key = "flap",
       .help = "of a link: flap",
       .own_times = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(Text{"{{ down: {}ns, up: {}ns }}", f.nanoseconds / f.draw.between(40, 200),
                                     f.nanoseconds / f.draw.between(20, 100)});
           },
       .effects = {FaultEffect::kBreaksLink, FaultEffect::kReorders, FaultEffect::kLosesPauseState},
       .explains = {{DropReason::kLinkDown, ExplainedDrop::Where::kPort}},
       .reference = {{"{ down: 10us, up: 1ms }", "flap for `for`, or `count` times"}}},
      map_of(table), table);
}

FaultKind Rate::kind() {
  return described({.key = "rate",
                    .help = "of a link, or of one direction: reduce the rate to this share",
                    .one_direction = true,
                    .store_and_forward = true,
                    .draw =
                        [](FaultDraw& f) {
                          return std::string(f.draw.of({"1/2", "1/4", "1/10", "9/10"}));
                        },
                    .effects = {FaultEffect::kSlowsLink, FaultEffect::kHindersPauses},
                    .reference = {{"1/4", "reduce the rate to this share; not for links of a cut-through switch"}}},
                   only(&Rate::share, share_below_one()));
}

}  // namespace railyard::spec::fault
