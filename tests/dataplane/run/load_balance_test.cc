// Devices go to other workers by what they have cost.
#include "dataplane/run/load_balance.h"

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/run/engine.h"
#include "dataplane/run/virtual_clock.h"
#include "tests/dataplane/run/juggler.h"

namespace railyard {
namespace {

using namespace literals;

// Pairs of devices with a link in each, and nothing between pairs.
Fabric pairs(std::uint16_t n, unsigned balls = 0) {
  Fabric fabric;
  for (std::uint16_t p = 0; p < n; ++p) {
    const DeviceId a = fabric.add<Juggler>("a" + std::to_string(p), 1, balls).id();
    const DeviceId b = fabric.add<Juggler>("b" + std::to_string(p), 1, balls).id();
    fabric.connect({{a, PortIndex{0}}, {b, PortIndex{0}}, 100_Gbps, 500_ns});
  }
  return fabric;
}

constexpr std::uint16_t kPairs = 8;
constexpr LoadBalance::Pace kPace{.first = 2, .measured = 3, .later = 4};
using Workers = std::vector<std::uint8_t>;

// The first half of the pairs on worker 0, the others on worker 1.
Workers halves() {
  Workers worker_of(2 * kPairs, 0);
  std::fill(worker_of.begin() + kPairs, worker_of.end(), std::uint8_t{1});
  return worker_of;
}

// Windows in which device d costs cycles[d], up to the end of the first measurement.
std::optional<Workers> after_first(LoadBalance& balance, const std::vector<std::uint64_t>& cycles) {
  std::optional<Workers> said;
  for (std::uint64_t w = 0; w < kPace.first + kPace.measured; ++w) {
    EXPECT_FALSE(said);
    EXPECT_EQ(balance.measures(), w >= kPace.first) << w;
    if (balance.measures())
      for (std::size_t d = 0; d < cycles.size(); ++d) balance.add(d, cycles[d]);
    said = balance.after_window(halves());
  }
  return said;
}

TEST(LoadBalance, WhoHasMostGivesDevicesToOthers) {
  const Fabric fabric = pairs(kPairs);
  LoadBalance balance(fabric, 2, kPace);
  std::vector<std::uint64_t> cycles(2 * kPairs, 1'000);
  for (std::size_t d = 0; d < 4; ++d) cycles[d] = 7'000;
  const auto placed = after_first(balance, cycles);
  ASSERT_TRUE(placed);
  std::vector<std::uint64_t> busy(2, 0);
  for (std::size_t d = 0; d < placed->size(); ++d) busy.at((*placed)[d]) += cycles[d];
  EXPECT_EQ(busy[0], busy[1]);
  for (std::size_t p = 0; p < kPairs; ++p) EXPECT_EQ((*placed)[2 * p], (*placed)[2 * p + 1]) << "a pair stays together";
}

TEST(LoadBalance, EvenLoadsStayWhereTheyAre) {
  const Fabric fabric = pairs(kPairs);
  LoadBalance balance(fabric, 2, kPace);
  EXPECT_FALSE(after_first(balance, std::vector<std::uint64_t>(2 * kPairs, 1'000)));
}

TEST(LoadBalance, ItIsMeasuredAgainLaterAndMoreSeldom) {
  const Fabric fabric = pairs(kPairs);
  LoadBalance balance(fabric, 2, kPace);
  std::vector<std::uint64_t> measured;
  for (std::uint64_t w = 1; w <= 200; ++w) {
    if (balance.measures()) measured.push_back(w);
    balance.after_window(halves());
  }
  EXPECT_EQ(measured, (std::vector<std::uint64_t>{3, 4, 5, 9, 10, 11, 33, 34, 35, 129, 130, 131}));
}

// In an engine: a fabric whose load is all in one half is shared out, and does the same.
TEST(LoadBalance, AnEngineMovesDevicesAndNothingElseChanges) {
  const auto run = [](std::size_t workers, Workers* placed) {
    Fabric fabric = pairs(16, 3);
    EngineConfig config;
    config.workers = workers;
    config.digest = true;
    config.pools.anywhere = true;
    config.variation.always_parallel = true;
    Engine engine(fabric, config);
    run_virtual(engine, Instant{} + 300_us);
    if (placed != nullptr)
      for (const auto& d : fabric.devices()) placed->push_back(engine.pool_of(d->id()).owner().value);
    std::vector<Caught> all;
    for (const auto& d : fabric.devices()) {
      const std::vector<Caught>& caught = dynamic_cast<const Juggler&>(*d).caught;
      all.insert(all.end(), caught.begin(), caught.end());
    }
    return all;
  };
  Workers placed;
  const std::vector<Caught> caught = run(2, &placed);
  EXPECT_GT(caught.size(), 1'000u);
  EXPECT_EQ(caught, run(1, nullptr));
  const auto second = std::accumulate(placed.begin(), placed.end(), 0);
  EXPECT_GT(second, 0);
  EXPECT_LT(second, static_cast<int>(placed.size()));
}

}  // namespace
}  // namespace railyard
