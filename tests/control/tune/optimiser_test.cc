#include "control/tune/optimiser.h"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace railyard::tune {
namespace {

// A bowl with its least at (0.3, 0.7).
double bowl(const std::vector<double>& x) { return std::pow(x[0] - 0.3, 2) + std::pow(x[1] - 0.7, 2); }

// Two valleys: the deeper one, at 0.85, is far from the start.
double two_valleys(const std::vector<double>& x) { return std::min(std::abs(x[0] - 0.1) + 0.3, std::abs(x[0] - 0.85)); }

std::vector<double> least_of(Method method, const std::vector<double>& start, std::size_t calls,
                             double (*f)(const std::vector<double>&)) {
  std::vector<double> best = start;
  minimise(method, start, calls, [&](const std::vector<double>& x) {
    if (f(x) < f(best)) best = x;
    return f(x);
  });
  return best;
}

TEST(Optimiser, FindsTheLeastOfABowl) {
  for (const Method m : {Method::kGlobal, Method::kLocal}) {
    const std::vector<double> found = least_of(m, {0.9, 0.1}, 200, bowl);
    EXPECT_NEAR(found[0], 0.3, 0.02);
    EXPECT_NEAR(found[1], 0.7, 0.02);
  }
}

TEST(Optimiser, TheGlobalMethodLeavesAValley) {
  EXPECT_NEAR(least_of(Method::kGlobal, {0.1}, 60, two_valleys)[0], 0.85, 0.02);
}

TEST(Optimiser, TheLocalMethodBeginsAtTheStart) {
  std::vector<double> first;
  minimise(Method::kLocal, {0.25, 0.5}, 10, [&](const std::vector<double>& x) {
    if (first.empty()) first = x;
    return bowl(x);
  });
  EXPECT_EQ(first, (std::vector<double>{0.25, 0.5}));
}

TEST(Optimiser, StaysInTheCubeAndRepeats) {
  for (const Method m : {Method::kGlobal, Method::kLocal}) {
    std::vector<std::vector<double>> once, twice;
    for (auto* calls : {&once, &twice})
      minimise(m, {0, 1}, 50, [&](const std::vector<double>& x) {
        for (const double v : x) EXPECT_TRUE(v >= 0 && v <= 1) << v;
        calls->push_back(x);
        return bowl(x);
      });
    EXPECT_EQ(once, twice);
  }
}

TEST(Optimiser, ASpentBudgetIsAnEndAndOtherExceptionsPassThrough) {
  int calls = 0;
  minimise(Method::kLocal, {0.5}, 100, [&](const std::vector<double>&) -> double {
    if (++calls == 3) throw BudgetSpent{};
    return calls;
  });
  EXPECT_EQ(calls, 3);
  EXPECT_THROW(minimise(Method::kGlobal, {0.5}, 10,
                        [](const std::vector<double>&) -> double { throw std::runtime_error("no machine left"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace railyard::tune
