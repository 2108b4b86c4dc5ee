// Faults of the state of links: they are down, or slow.
#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {

FaultKind Down::kind() {
  return described({.key = "down",
                    .help = "of a link: no carrier at either end",
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = {FaultEffect::kBreaksLink, FaultEffect::kReorders, FaultEffect::kLosesPauseState},
                    .explains = {{DropReason::kLinkDown, ExplainedDrop::Where::kPort}},
                    .reference = {{"true", "no carrier: both ends drop what they have to send"}}},
                   so<Down>());
}

FaultKind Flap::kind() {
  static const Table<Flap> table{
      "flap",
      "A link that goes down and up in turn",
      {key("down", &Flap::down, duration(Duration{1}, kAnyTime), "how long it is down").require(),
       key("up", &Flap::up, duration(Duration{1}, kAnyTime), "how long it is up").require()}};
  return described(
      {.key = "flap",
       .help = "of a link: down and up in turn",
       .own_times = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(Text{"{{ down: {}ns, up: {}ns }}", f.nanoseconds / f.draw.between(40, 200),
                                     f.nanoseconds / f.draw.between(20, 100)});
           },
       .effects = {FaultEffect::kBreaksLink, FaultEffect::kReorders, FaultEffect::kLosesPauseState},
       .explains = {{DropReason::kLinkDown, ExplainedDrop::Where::kPort}},
       .reference = {{"{ down: 10us, up: 1ms }",
                      "down and up in turn; `for`: how long it goes on, `count`: how often"}}},
      map_of(table), table);
}

FaultKind Rate::kind() {
  return described({.key = "rate",
                    .help = "of a link, or of one direction: only this share of its rate",
                    .one_direction = true,
                    .store_and_forward = true,
                    .draw = [](FaultDraw& f) { return std::string(f.draw.of({"1/2", "1/4", "1/10", "9/10"})); },
                    .effects = {FaultEffect::kSlowsLink, FaultEffect::kHindersPauses},
                    .reference = {{"1/4", "this share of its rate; not of a link to a cut-through switch"}}},
                   only(&Rate::share, share_below_one()));
}

}  // namespace railyard::spec::fault
