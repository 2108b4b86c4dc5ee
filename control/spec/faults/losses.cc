// Faults that lose frames on a link.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {
namespace {

const std::vector<FaultEffect> kLoses{FaultEffect::kLosesFrames, FaultEffect::kHindersPauses,
                                      FaultEffect::kLosesPauseState};

void check_burst_loss(const Tree& map, const BurstLoss& b) {
  if (b.in_good.numerator == 0 && b.in_bad.numerator == 0)
    map.at_or_self("in-bad").fail("no loss in either state; expected in-good or in-bad above 0");
}

}  // namespace

FaultKind Loss::kind() {
  return described({.key = "loss",
                    .help = "of a link: lose each frame with this probability; or bursts (Gilbert-Elliott)",
                    .one_direction = true,
                    .one_class = true,
                    .own_chance = true,
                    .check =
                        [](const Tree& map, const FaultSpec& f) {
                          if (f.probability)
                            map.at_or_self("probability").fail("loss is a probability, too; expected one of the two");
                        },
                    .draw = [](FaultDraw& f) { return fmt::format("{}%", f.draw.between(1, 20)); },
                    .effects = kLoses,
                    .reference = {{"1%", "lose each frame with this probability"}}},
                   only(&Loss::share, probability()));
}

FaultKind BurstLoss::kind() {
  static const Table<BurstLoss> table{
      "burst-loss",
      "Bursty loss: Gilbert-Elliott chain of a good and a bad state, one step per frame",
      {key("good-to-bad", &BurstLoss::good_to_bad, chance_above_zero(), "probability p").require(),
       key("bad-to-good", &BurstLoss::bad_to_good, chance_above_zero(), "probability r").require(),
       key("in-good", &BurstLoss::in_good, probability(), "probability of loss in the good state, 1 - k"),
       key("in-bad", &BurstLoss::in_bad, probability(), "probability of loss in the bad state, 1 - h")},
      check_burst_loss};
  FaultKind kind = described(
      {.name = "burst-loss",
       .key = "loss",
       .one_direction = true,
       .one_class = true,
       .own_chance = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(Text{"{{ good-to-bad: {}%, bad-to-good: {}%, in-good: {}, in-bad: {}% }}",
                                     f.draw.between(1, 10), f.draw.between(5, 50), f.draw.of({"0", "0", "1%"}),
                                     f.draw.between(20, 100)});
           },
       .effects = kLoses,
       .reference = {{"{ good-to-bad: 0.1%, bad-to-good: 10%, in-good: 0, in-bad: 1 }", "bursts: Gilbert-Elliott"}}},
      map_of(table), table);
  kind.is_meant_by = [](const Tree& value) { return value.kind == Tree::Kind::kMap; };
  return kind;
}

FaultKind BitErrorRate::kind() {
  return described(
      {.key = "bit-errors",
       .help = "of a link: bit error rate; the next MAC drops damaged frames",
       .one_direction = true,
       .one_class = true,
       .own_chance = true,
       .draw = [](FaultDraw& f) { return fmt::format("{}e-6", f.draw.between(1, 20)); },
       .effects = {FaultEffect::kMakesFcsWrong, FaultEffect::kHindersPauses, FaultEffect::kLosesPauseState},
       .reference = {{"1e-9", "the next MAC drops damaged frames (fcs_error); a link with llr retransmits them"}}},
      only(&BitErrorRate::rate, chance_above_zero()));
}

FaultKind Drop::kind() {
  return described({.key = "drop",
                    .help = "of a link: drop frames",
                    .one_direction = true,
                    .one_class = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = kLoses,
                    .reference = {{"true", "drop all frames, or those that match"}}},
                   so<Drop>());
}

FaultKind LosePause::kind() {
  return described({.key = "lose-pause",
                    .help = "of a link: lose PFC frames and credit messages (cbfc)",
                    .one_direction = true,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = kLoses,
                    .reference = {{"true", "lose PFC frames"}}},
                   so<LosePause>());
}

}  // namespace railyard::spec::fault
