// Faults that make frames late: delay with jitter, reordering.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {
namespace {

void check_delay(const Tree& map, const Delay& d) {
  if (d.jitter > Duration{} && d.jitter_up > Duration{})
    map.at_or_self("jitter-up").fail("found with jitter; expected one of the two");
}

}  // namespace

FaultKind Delay::kind() {
  static const Table<Delay> table{
      "delay",
      "Delays frames by `time` and uniformly distributed jitter",
      {key("time", &Delay::time, duration({}, kLongestDelay), "mean delay, added to the link's").require(),
       key("jitter", &Delay::jitter, duration({}, kLongestDelay),
           "time +- jitter, as in netem: mean and median stay `time`; a sum below 0 counts as 0"),
       key("jitter-up", &Delay::jitter_up, duration({}, kLongestDelay),
           "one-sided: from time to time + jitter-up; instead of jitter"),
       key("in-order", &Delay::in_order, boolean(),
           "keep the order of frames; false: each frame draws its own delay, as in netem, and frames are reordered")},
      check_delay};
  return described(
      {.key = "delay",
       .help = "of a link, or of one direction: delay all frames in order, or only those that match",
       .one_direction = true,
       .one_class = true,
       .draw =
           [](FaultDraw& f) {
             if (f.draw.percent(50)) return fmt::format("{}ns", f.draw.between(50, 8000));
             std::string text = Text{"{{ time: {}ns, {}: {}ns", f.draw.between(0, 4000),
                                     f.draw.of({"jitter", "jitter", "jitter-up"}), f.draw.between(50, 4000)};
             if (f.draw.percent(25)) text += ", in-order: false";
             return text + " }";
           },
       .effects = {FaultEffect::kHindersPauses, FaultEffect::kBunches},
       .more_effects = [](const FaultSpec& f) -> std::vector<FaultEffect> {
         if (picks_frames(f) || !std::get<Delay>(f.action).in_order) return {FaultEffect::kReorders};
         return {};
       },
       .reference = {{"5us", "delay frames, in order; with match or probability: only these frames"},
                     {"{ time: 50us, jitter: 10us }",
                      "uniform over 40..60 us, as in netem: mean and median stay 50 us. A sum below 0 counts as 0. "
                      "Frames stay in order; `in-order: false` reorders them, as netem does"},
                     {"{ time: 50us, jitter-up: 10us }", "one-sided: uniform over 50..60 us"}}},
      only_or_map(&Delay::time, duration({}, kLongestDelay), table), table);
}

FaultKind Reorder::kind() {
  static const Table<Reorder> table{
      "reorder",
      "Reorders a frame behind later ones",
      {key("behind", &Reorder::behind, integer(1, 100'000), "number of later frames that overtake it").require(),
       key("within", &Reorder::within, duration(Duration{1}, kLongestDelay), "maximum time that it is held")
           .require()}};
  return described(
      {.key = "reorder",
       .help = "of a link: reorder frames",
       .one_direction = true,
       .one_class = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(
                 Text{"{{ behind: {}, within: {}ns }}", f.draw.between(1, 8), f.draw.between(100, 20'000)});
           },
       .effects = {FaultEffect::kReorders, FaultEffect::kBunches},
       .reference = {{"{ behind: 3, within: 10us }", "3 later frames overtake it, or 10 us pass"}}},
      map_of(table), table);
}

}  // namespace railyard::spec::fault
