// A congestion control plugs in by its own code and a place in a list of kinds: here two that no fabric file knows, one
// by windows and one by pacing.
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "transports/roce/congestion/congestion_control.h"

namespace railyard::roce {
namespace {

using namespace literals;

// As many packets as were acknowledged last, and none less than `least`.
class Echo {
 public:
  struct Settings {
    int least = 2;
    bool operator==(const Settings&) const = default;
  };
  explicit Echo(const Settings& settings) noexcept : settings_(settings) {}
  std::uint32_t on_heard(Instant, const Heard& heard) noexcept {
    return std::max(static_cast<std::uint32_t>(settings_.least), heard.packets);
  }

 private:
  Settings settings_;
};

// A packet a microsecond; half as often after each CNP.
class Metronome {
 public:
  struct Settings {
    Duration period{1'000'000};
    bool operator==(const Settings&) const = default;
  };
  explicit Metronome(const Settings& settings) noexcept : period_(settings.period) {}
  void on_cnp(Instant) noexcept { period_ = period_ * 2; }
  Instant pace(Instant now, Instant, std::uint32_t) noexcept { return now + period_; }

 private:
  Duration period_;
};

using Control = BasicCongestionControl<std::tuple<Dcqcn, Echo, Metronome>>;

TEST(CongestionPlug, AnotherWindowBasedKindIsHeard) {
  Control control(Control::Config{Echo::Settings{.least = 3}});
  EXPECT_TRUE(control.wants_to_hear());
  EXPECT_EQ(control.on_heard({}, {.packets = 7}), 7u);
  EXPECT_EQ(control.on_heard({}, {.packets = 1}), 3u);
  EXPECT_FALSE(control.on_cnp({})) << "it takes none";
  EXPECT_EQ(control.on_sent(Instant{} + 5_us, {}, 1000), Instant{} + 5_us) << "nor does it pace";
  EXPECT_NE(control.get<Echo>(), nullptr);
  EXPECT_EQ(control.get<Dcqcn>(), nullptr);
}

TEST(CongestionPlug, AnotherPacingKindIsAskedAndToldOfCnps) {
  Control control(Control::Config{Metronome::Settings{.period = 2_us}});
  EXPECT_FALSE(control.wants_to_hear());
  EXPECT_EQ(control.on_sent(Instant{} + 5_us, {}, 1000), Instant{} + 7_us);
  EXPECT_TRUE(control.on_cnp({}));
  EXPECT_EQ(control.on_sent(Instant{} + 5_us, {}, 1000), Instant{} + 9_us);
}

TEST(CongestionPlug, NoneHoldsNothingBack) {
  Control control;
  EXPECT_FALSE(control.wants_to_hear());
  EXPECT_FALSE(control.on_cnp({}));
  EXPECT_EQ(control.on_sent(Instant{} + 5_us, Instant{} + 9_us, 1000), Instant{} + 5_us);
}

// Every kind of the list describes itself.
TEST(CongestionPlug, EveryKindHasANameAndATable) {
  std::size_t kinds = 0;
  for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t number) {
    ++kinds;
    EXPECT_EQ(number, kinds);
    EXPECT_EQ(congestion_number<K>(), kinds);
    EXPECT_FALSE(K::kName.empty() || K::kTitle.empty() || K::kHelp.empty());
    const auto parameters = K::parameters();
    EXPECT_FALSE(parameters.empty()) << K::kName;
    for (const auto& p : parameters) EXPECT_FALSE(p.name.empty() || p.help.empty()) << K::kName << " " << p.name;
    EXPECT_EQ(K::conflict(typename K::Settings{}, [](std::string_view) { return false; }), std::nullopt);
  });
  EXPECT_EQ(kinds, std::tuple_size_v<CongestionKinds>);
}

}  // namespace
}  // namespace railyard::roce
