#include "control/hunt/hunt.h"

#include <algorithm>
#include <cmath>

#include "control/spec/draw.h"

namespace railyard::hunt {
namespace {

constexpr double kRandomPart = 0.25, kSearchPart = 0.65;  // of the budget, up to there
constexpr double kHot = 0.15, kCold = 0.01;               // temperatures, in units of damage
constexpr std::size_t kPatience = 5;                      // rounds without a new worst case until it is gone back to

class Annealing {
 public:
  Annealing(const Space& space, const HuntPlan& plan, const Try& tries, Found& found)
      : space_(space),
        tries_(tries),
        found_(found),
        draw_(plan.seed, "hunt"),
        random_(part(plan, kRandomPart)),
        search_(part(plan, kSearchPart)) {}

  void run() {
    while (found_.runs < random_) {
      std::vector<Case> round;
      for (std::size_t i = 0; i < std::min(kRound, random_ - found_.runs); ++i) round.push_back(space_.draw(draw_));
      take(round);
    }
    std::size_t at = found_.worst, idle = 0;
    while (found_.runs < search_) {
      std::vector<Case> round;
      for (std::size_t i = 0; i < std::min(kRound, search_ - found_.runs); ++i)
        round.push_back(space_.neighbour(found_.trials[at].what, draw_));
      const std::size_t before = found_.worst;
      const std::size_t next = take(round);
      if (accepts(energy(at), energy(next))) at = next;
      idle = found_.worst == before ? idle + 1 : 0;
      if (idle >= kPatience) {
        at = found_.worst;
        idle = 0;
      }
    }
  }

 private:
  static std::size_t part(const HuntPlan& plan, double share) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(plan.runs) * share));
  }
  double energy(std::size_t trial) const {
    const auto& d = found_.trials[trial].damage;
    return d ? d->energy() : -1;
  }
  // The index of the one with most energy.
  std::size_t take(const std::vector<Case>& round) {
    const std::size_t first = found_.trials.size();
    const std::vector<std::optional<Damage>> damages = tries_(round);
    std::size_t best = first;
    for (std::size_t i = 0; i < round.size(); ++i) {
      found_.trials.push_back({round[i], damages[i]});
      if (energy(first + i) > energy(best)) best = first + i;
      const auto damage = [&](std::size_t t) { return found_.trials[t].damage ? found_.trials[t].damage->value : -1; };
      if (damage(first + i) > damage(found_.worst)) found_.worst = first + i;
    }
    found_.runs += round.size();
    return best;
  }
  // Metropolis. The temperature falls geometrically with the runs.
  bool accepts(double now, double next) {
    const double gone =
        static_cast<double>(found_.runs - random_) / static_cast<double>(std::max<std::size_t>(1, search_ - random_));
    const double temperature = kHot * std::pow(kCold / kHot, gone);
    constexpr std::size_t kSteps = 1'000'000;
    const double chance = static_cast<double>(draw_.below(kSteps)) / static_cast<double>(kSteps);
    return next >= now || chance < std::exp((next - now) / temperature);
  }

  const Space& space_;
  const Try& tries_;
  Found& found_;
  spec::Draw draw_;
  std::size_t random_, search_;
};

}  // namespace

bool Found::hurts() const noexcept {
  const auto& damage_found = trials[worst].damage;
  return damage_found && damage_found->value >= kLeastDamage;
}

Found hunt(const Space& space, const HuntPlan& plan, const Try& tries) {
  Found found;
  Annealing(space, plan, tries, found).run();
  const Trial& worst = found.trials[found.worst];
  found.smallest = worst.what;
  if (worst.damage) found.damage = *worst.damage;
  if (found.hurts()) minimise(space, plan, tries, worst.what, *worst.damage, found);
  return found;
}

}  // namespace railyard::hunt
