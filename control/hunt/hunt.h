// The search for the case that hurts most, after Collie (Kong et al., "Collie: Finding Performance Anomalies in RDMA
// Subsystems", NSDI 2022): simulated annealing over workloads, led by counters; then the minimal feature set.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/hunt/damage.h"
#include "control/hunt/space.h"
#include "dataplane/base/rng.h"

namespace railyard::hunt {

struct Trial {
  Case what;
  std::optional<Damage> damage;  // nothing: it cannot be run, or came to no report
};

// Runs cases beside each other; what comes of each, in their order.
using Try = std::function<std::vector<std::optional<Damage>>(const std::vector<Case>&)>;

struct HuntPlan {
  std::size_t runs = 200;   // at most, all told
  double kept_share = 0.9;  // of the damage that a smaller case must still do
  Seed seed{1};
};

// A feature of the smallest case, and what it does to the damage that it has its value.
struct Need {
  bool of_fault = false;
  std::size_t item = 0;  // from 0
  std::size_t feature = 0;
  double without = 0;  // damage with its simplest choice instead
};

struct Found {
  std::vector<Trial> trials;  // of the search, in order
  std::size_t worst = 0;      // of the trials
  Case smallest;
  Damage damage;            // of the smallest
  std::vector<Need> needs;  // features whose simplest choice does less than kept_share of the damage
  bool complete = true;     // false: the budget ended before all features were tried
  std::size_t runs = 0;

  bool hurts() const noexcept;  // the worst trial does at least kLeastDamage
};
// Less is within what the ideal is exact to.
inline constexpr double kLeastDamage = 0.03;

// The search: a quarter of the budget for cases at random, as much as to 65 % for annealing from the worst of them, in
// rounds of kRound neighbours that are tried beside each other; so the result does not depend on how many processors
// there are. The rest: items of the worst case are left out (delta debugging, control/swarm/shrink.h), then the
// features of those that remain get simpler choices, as long as kept_share of the damage remains.
inline constexpr std::size_t kRound = 4;
Found hunt(const Space& space, const HuntPlan& plan, const Try& tries);
// The second part alone. `spent`: runs so far; `damage`: of `from`.
void minimise(const Space& space, const HuntPlan& plan, const Try& tries, const Case& from, const Damage& damage,
              Found& into);

}  // namespace railyard::hunt
