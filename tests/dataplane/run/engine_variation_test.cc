// However the engine runs, the result is one: order of devices, portions of time, workers, windows.
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/run/engine.h"
#include "dataplane/run/virtual_clock.h"
#include "tests/dataplane/run/juggler.h"

namespace railyard {
namespace {

using namespace literals;

constexpr std::size_t kJugglers = 20;
constexpr unsigned kBalls = 3;
constexpr Instant kEnd = Instant{} + 30_us;

std::vector<Caught> run(const EngineVariation& variation, std::size_t workers = 1) {
  const auto fabric = circle_of_jugglers(kJugglers, kBalls);
  EngineConfig config;
  config.workers = workers;
  config.variation = variation;
  Engine engine(*fabric, config);
  run_virtual(engine, kEnd);
  EXPECT_EQ(engine.pools().in_use(), kJugglers * kBalls);
  return all_caught(*fabric);
}

EngineVariation windows_of(Duration window) {
  EngineVariation v;
  v.window = window;
  return v;
}
EngineVariation in_any_order(std::uint64_t seed) {
  EngineVariation v;
  v.shuffle = Seed{seed};
  return v;
}
EngineVariation in_portions(std::uint64_t seed) {
  EngineVariation v;
  v.slices = Seed{seed};
  return v;
}
EngineVariation always_parallel(EngineVariation v = {}) {
  v.always_parallel = true;
  return v;
}

const std::vector<Caught>& reference() {
  static const std::vector<Caught> caught = run(windows_of(1_ps));
  return caught;
}

TEST(EngineVariation, TheReferenceIsBusy) { EXPECT_GT(reference().size(), 2000u); }

TEST(EngineVariation, WholeWindows) { EXPECT_EQ(run({}), reference()); }

TEST(EngineVariation, SmallerWindows) { EXPECT_EQ(run(windows_of(77_ns)), reference()); }

TEST(EngineVariation, DevicesInAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_EQ(run(in_any_order(seed)), reference()) << seed;
}

TEST(EngineVariation, TimeInRandomPortions) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_EQ(run(in_portions(seed)), reference()) << seed;
}

TEST(EngineVariation, SeveralWorkersAndDevicesAnywhere) {
  for (std::size_t workers = 1; workers <= 4; ++workers) {
    EXPECT_EQ(run({}, workers), reference()) << workers << " workers, thin windows done by one";
    EXPECT_EQ(run(always_parallel(), workers), reference()) << workers << " workers";
    EngineVariation anywhere = in_any_order(workers);
    anywhere.slices = Seed{workers};
    EXPECT_EQ(run(always_parallel(anywhere), workers), reference())
        << workers << " workers, random placement and portions";
  }
}

// A device that has been done up to the instant of a stop may have been thrown something since.
TEST(EngineVariation, StopsOnTheWay) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto fabric = circle_of_jugglers(kJugglers, kBalls);
    EngineConfig config;
    config.variation = in_any_order(seed);
    Engine engine(*fabric, config);
    RngStream stops(Seed{seed}, "engine_variation_test/stops");
    for (Instant t{}; t < kEnd; t = t + Duration{static_cast<std::int64_t>(stops.below(2'000'000))}) {
      run_virtual(engine, t);
      for (const auto& d : fabric->devices()) ASSERT_EQ(d->done(), t);
    }
    run_virtual(engine, kEnd);
    EXPECT_EQ(all_caught(*fabric), reference()) << seed;
  }
}

// What is thrown within a window arrives within it when the window is too large; then the order of devices decides,
// which must never go unnoticed.
TEST(EngineVariationDeathTest, AWindowThatIsTooLargeIsCaughtInEveryOrderOfDevices) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Duration window = circle_of_jugglers(kJugglers, kBalls)->window().size;
  EXPECT_EQ(window, 500_ns + 10_ns);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EngineVariation v = seed > 0 ? in_any_order(seed) : EngineVariation{};
    v.window = Duration{(window + Juggler::kFrame).ps * 12 / 10};
    EXPECT_DEATH(run(v), "causality") << seed;
  }
}

}  // namespace
}  // namespace railyard
