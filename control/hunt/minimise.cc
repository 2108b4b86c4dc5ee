// From the worst case to the minimal feature set (Collie, section 5): what it needs to do its damage.
#include <algorithm>
#include <map>
#include <string>

#include "control/hunt/hunt.h"
#include "control/swarm/shrink.h"

namespace railyard::hunt {
namespace {

class Minimising {
 public:
  Minimising(const Space& space, const HuntPlan& plan, const Try& tries, const Damage& damage, Found& into)
      : space_(space), plan_(plan), tries_(tries), least_(plan.kept_share * damage.value), found_(into) {}

  void run(const Case& from) {
    found_.smallest = from;
    known_[space_.sets(from)] = found_.damage;
    drop_items();
    // With one feature simpler, another may do as well.
    std::vector<Need> needs;
    for (bool again = true; again;) {
      again = false;
      needs.clear();
      for (const bool of_fault : {true, false})
        for (std::size_t i = 0; i < items(of_fault).size(); ++i)
          for (std::size_t f = 0; f < features(of_fault).size(); ++f) again = simplify(of_fault, i, f, needs) || again;
      if (!found_.complete) break;
    }
    found_.needs = std::move(needs);
  }

 private:
  std::vector<Item>& items(bool of_fault) { return of_fault ? found_.smallest.faults : found_.smallest.traffic; }
  const std::vector<Feature>& features(bool of_fault) const {
    return of_fault ? space_.fault_features() : space_.traffic_features();
  }

  // The damage of a case; 0: it cannot be run. The budget bounds how often it is asked.
  double damage(const Case& c) {
    // Some features make no difference to others: the same text has the same damage.
    const std::vector<std::string> sets = space_.sets(c);
    if (const auto known = known_.find(sets); known != known_.end()) {
      last_ = known->second;
      return last_.value;
    }
    if (found_.runs >= plan_.runs) {
      found_.complete = false;
      return 0;
    }
    ++found_.runs;
    const std::optional<Damage> d = tries_({c}).front();
    last_ = known_[sets] = d.value_or(Damage{});
    return last_.value;
  }
  // Whether it will do; then it is the smallest so far.
  bool keep(const Case& c) {
    if (damage(c) < least_) return false;
    found_.smallest = c;
    found_.damage = last_;
    return true;
  }

  void drop_items() {
    const Case whole = found_.smallest;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < whole.faults.size(); ++i) names.push_back("f" + std::to_string(i));
    for (std::size_t i = 0; i < whole.traffic.size(); ++i) names.push_back("t" + std::to_string(i));
    const auto with = [&](const std::vector<std::string>& some) {
      Case c;
      for (const std::string& n : some)
        (n[0] == 'f' ? c.faults : c.traffic)
            .push_back((n[0] == 'f' ? whole.faults : whole.traffic)[std::stoul(n.substr(1))]);
      return c;
    };
    const int most = static_cast<int>(plan_.runs - std::min(plan_.runs, found_.runs));
    swarm::shrink(
        names,
        [&](const std::vector<std::string>& some) {
          const Case c = with(some);
          return !c.traffic.empty() && keep(c);
        },
        most);
  }

  // Tries the simplest choice, then those from it on; true: the feature has got simpler.
  bool simplify(bool of_fault, std::size_t item, std::size_t feature, std::vector<Need>& needs) {
    const std::size_t now = items(of_fault)[item][feature];
    if (now == 0) return false;
    double without = 0;
    // All of a short list; of a long one its ends and halves: places and hosts have many.
    constexpr std::size_t kMostTries = 3;
    for (std::size_t tried = 0, choice = 0; tried < kMostTries && choice < now; ++tried) {
      Case c = found_.smallest;
      (of_fault ? c.faults : c.traffic)[item][feature] = choice;
      if (keep(c)) {
        if (choice > 0) needs.push_back({of_fault, item, feature, without});
        return true;
      }
      if (!found_.complete) return false;
      if (choice == 0) without = last_.value;
      choice = choice + std::max<std::size_t>(1, (now - choice) / 2);
    }
    needs.push_back({of_fault, item, feature, without});
    return false;
  }

  const Space& space_;
  const HuntPlan& plan_;
  const Try& tries_;
  double least_;
  Found& found_;
  Damage last_;
  std::map<std::vector<std::string>, Damage> known_;  // by the text of a case
};

}  // namespace

void minimise(const Space& space, const HuntPlan& plan, const Try& tries, const Case& from, const Damage& damage,
              Found& into) {
  into.damage = damage;
  Minimising(space, plan, tries, damage, into).run(from);
}

}  // namespace railyard::hunt
