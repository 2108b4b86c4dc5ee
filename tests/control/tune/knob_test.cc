#include "control/tune/knob.h"

#include <stdexcept>

#include <gmock/gmock.h>

#include "tests/control/tune/small_lab.h"

namespace railyard::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<ChosenKnob>& knobs) {
  std::vector<std::string> names;
  for (const ChosenKnob& k : knobs) names.emplace_back(k.knob->name);
  return names;
}

std::string refusal(const spec::Lab& lab, const std::vector<std::string>& names,
                    const std::vector<std::string>& ranges = {}, const std::vector<int>& classes = {}) {
  try {
    choose_knobs(lab, names, ranges, classes);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Knobs, ThoseThatApplyAreChosenByDefault) {
  EXPECT_THAT(names_of(choose_knobs(small_lab(), {}, {}, {})),
              ElementsAre("ecn.kmin", "ecn.kmax", "ecn.pmax", "pfc.alpha"));
  EXPECT_THAT(names_of(choose_knobs(small_lab({"qos.default.classes.3.alpha=", "qos.default.classes.3.xoff=100KB", "qos.default.classes.3.ecn=off"}),
                                    {}, {}, {})),
              ElementsAre("pfc.xoff"));
  EXPECT_THAT(
      names_of(choose_knobs(small_lab({"traffic.incast.transport=uet", "qos.default.classes.3={}"}), {}, {}, {})),
      ElementsAre("queue.alpha", "uet.target", "uet.max-window"));
}

TEST(Knobs, TheStartIsWhatTheFileSays) {
  const auto knobs = choose_knobs(small_lab(), {"ecn.kmin", "pfc.alpha", "roce.window"}, {}, {});
  EXPECT_EQ(knobs[0].start, 400e3);
  EXPECT_EQ(knobs[0].start_text, "400KB");
  EXPECT_EQ(knobs[1].start, -3);
  EXPECT_EQ(knobs[2].start_text, "unlimited");
  EXPECT_EQ(knobs[2].start, knobs[2].high);
}

TEST(Knobs, OfAutomaticThresholdsTheStartIsThatOfTheLink) {
  const auto knobs = choose_knobs(small_lab({"qos.default.classes.3.ecn=auto"}), {"ecn.kmin", "ecn.kmax"}, {}, {});
  EXPECT_EQ(knobs[0].start, 400e3) << "4 KB per Gb/s of 100";
  EXPECT_EQ(knobs[1].start, 1600e3);
}

TEST(Knobs, ThePositionOfAValueHasThatValue) {
  for (const ChosenKnob& k : choose_knobs(small_lab(), {}, {}, {})) {
    EXPECT_EQ(k.value(k.position(k.start)), k.start) << k.knob->name;
    EXPECT_GE(k.value(0), k.low);
    EXPECT_LE(k.value(1), k.high);
  }
}

TEST(Knobs, SettingsAreThoseThatDifferAndThresholdsStayInOrder) {
  const spec::Lab lab = small_lab();
  const auto knobs = choose_knobs(lab, {}, {}, {});
  const auto sets = [&](std::vector<double> values) {
    std::vector<double> at;
    for (std::size_t i = 0; i < knobs.size(); ++i) at.push_back(knobs[i].position(values[i]));
    return knob_sets(lab, knobs, knob_values(knobs, at));
  };
  EXPECT_THAT(sets({400e3, 1600e3, 0.2, -3}), ElementsAre());
  // kmax below kmin is raised; what the class says otherwise stays.
  EXPECT_THAT(sets({600e3, 100e3, 0.5, 0}),
              ElementsAre("qos.default.classes.3.alpha=1",
                          "qos.default.classes.3.ecn={ kmin: 600KB, kmax: 600KB, pmax: 50%, mark: dequeue }"));
  // Any of them can be loaded.
  for (const double p : {0.0, 0.37, 1.0}) {
    const std::vector<double> at(knobs.size(), p);
    EXPECT_NO_THROW(small_lab(knob_sets(lab, knobs, knob_values(knobs, at)))) << p;
  }
}

TEST(Knobs, OnesThatDoNotApplyAreRefusedWithTheReason) {
  EXPECT_THAT(refusal(small_lab(), {"ecn.kmn"}), HasSubstr("did you mean 'ecn.kmin'"));
  EXPECT_THAT(refusal(small_lab(), {"ecn.kmin", "ecn.kmin"}), HasSubstr("given twice"));
  EXPECT_THAT(refusal(small_lab(), {"queue.alpha"}), HasSubstr("class 3 is lossless"));
  EXPECT_THAT(refusal(small_lab(), {"uet.target"}), HasSubstr("no traffic with transport: uet"));
  EXPECT_THAT(refusal(small_lab({"hosts.default.roce.congestion=none"}), {"dcqcn.g"}),
              HasSubstr("congestion is not dcqcn"));
  EXPECT_THAT(refusal(small_lab(), {}, {}, {4}), HasSubstr("--class: no traffic is in class 4; expected one of 3"));
}

TEST(Knobs, RangesReplaceBoundsAndIncludeTheStart) {
  const auto knobs = choose_knobs(small_lab(), {"ecn.kmin"}, {"ecn.kmin=10KB..100KB"}, {});
  EXPECT_EQ(knobs[0].low, 10e3);
  EXPECT_EQ(knobs[0].high, 400e3);
  for (const char* range : {"ecn.kmin", "ecn.kmin=10KB", "ecn.kmin=2MB..10KB", "ecn.kmin=10..20", "ecn.kmin=0..1MB"})
    EXPECT_THAT(refusal(small_lab(), {}, {range}), HasSubstr("--range: '")) << range;
  EXPECT_THAT(refusal(small_lab(), {"ecn.kmin"}, {"ecn.kmax=1KB..2MB"}), HasSubstr("is not among the knobs"));
}

}  // namespace
}  // namespace railyard::tune
