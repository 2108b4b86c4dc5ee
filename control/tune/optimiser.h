// Derivative-free minimisation in the unit cube, by NLopt (Johnson, "The NLopt nonlinear-optimization package").
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace railyard::tune {

enum class Method {
  // DIRECT-L (Gablonsky and Kelley, "A locally-biased form of the DIRECT algorithm", 2001): divides the cube into
  // boxes,
  // the best and the largest first. Begins in the middle, not at `start`.
  kGlobal,
  // SBPLX, NLopt's variant of Subplex (Rowan, "Functional stability analysis of numerical algorithms", 1990):
  // Nelder-Mead
  // in subspaces, made for noisy objectives. Begins at `start`.
  kLocal,
};

// What the objective says when the budget is spent.
struct BudgetSpent {};

// Calls `objective` until it throws BudgetSpent, or the method sees no progress within a step of 1/500 (local), or
// `most_calls` are made. Deterministic. `start`: 0..1 each, at least one. Other exceptions of the objective pass
// through. Throws std::runtime_error if NLopt refuses.
void minimise(Method method, const std::vector<double>& start, std::size_t most_calls,
              const std::function<double(const std::vector<double>&)>& objective);

}  // namespace railyard::tune
