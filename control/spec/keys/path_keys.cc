// The keys of a class's path selection, and its form: ecmp, or { policy: flowlet, gap: 50us }.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

const std::vector<std::pair<std::string, PathPolicy>>& policies() {
  static const std::vector<std::pair<std::string, PathPolicy>> words{{"ecmp", PathPolicy::kEcmp},
                                                                     {"wcmp", PathPolicy::kWcmp},
                                                                     {"flowlet", PathPolicy::kFlowlet},
                                                                     {"spray", PathPolicy::kSpray},
                                                                     {"adaptive", PathPolicy::kAdaptive}};
  return words;
}

// Keys that say something under some policies only.
void check_path(const Tree& map, const PathSpec& path) {
  const auto only = [&](const char* key, bool has_meaning, const char* where) {
    if (const Tree* value = map.find(key); value != nullptr && !has_meaning)
      value->fail(fmt::format("has no meaning here; expected it under {}", where));
  };
  const bool adaptive = path.policy == PathPolicy::kAdaptive;
  only("order", path.policy == PathPolicy::kSpray, "policy: spray");
  only("per", adaptive, "policy: adaptive");
  only("bands", adaptive, "policy: adaptive");
  only("band", adaptive, "policy: adaptive");
  only("sample-every", adaptive, "policy: adaptive");
  only("average", adaptive && path.sample_every, "policy: adaptive with sample-every");
  only("global", adaptive, "policy: adaptive");
  only("report-every", adaptive && path.global, "policy: adaptive with global: true");
  only("gap", path.policy == PathPolicy::kFlowlet || (adaptive && path.per_flowlet),
       "policy: flowlet, or policy: adaptive with per: flowlet");
}

constexpr Duration kMostTime{kPicosecondsPerSecond};
constexpr Duration kLeastInterval{100'000};
constexpr Duration kMostInterval{kPicosecondsPerSecond / 1000};

}  // namespace

const Table<PathSpec>& path_keys() {
  static const Table<PathSpec> table{
      "path",
      "How one of several equal paths is chosen",
      {key("policy", &PathSpec::policy, choice<PathPolicy>(policies()),
           "ecmp: by hash of the flow; wcmp: the same in proportion to weights; flowlet: at random, anew after each "
           "gap; "
           "spray: per packet; adaptive: by what waits in the ports")
           .require(),
       key("order", &PathSpec::order,
           choice<SprayOrder>({{"round-robin", SprayOrder::kRoundRobin},
                               {"random", SprayOrder::kRandom},
                               {"least-loaded", SprayOrder::kLeastLoaded}}),
           "spray: which path the next packet takes"),
       key("per", &PathSpec::per_flowlet, choice<bool>({{"packet", false}, {"flowlet", true}}),
           "adaptive: how often it is chosen"),
       key("gap", &PathSpec::gap, duration(Duration{1'000}, kMostTime),
           "a flow that is silent for longer may take another path; no reordering if above the paths' differences"),
       key("bands", &PathSpec::bands, integer(1, 32),
           "adaptive: grades of the time that a port's queues take to drain; equals share in proportion to their "
           "rates"),
       key("band", &PathSpec::band, duration(Duration{1'000}, kMostTime),
           "adaptive: where the best band ends; each next is twice as long"),
       key("sample-every", &PathSpec::sample_every, duration(kLeastInterval, kMostInterval),
           "adaptive: what is graded is an average of samples so far apart, of what waits and of what has left since "
           "the "
           "sample before (Broadcom's DLB); without, what waits at the instant"),
       key("average", &PathSpec::average,
           checked<int>(power_of_two(),
                        [](int exponent) -> std::optional<std::string> {
                          if (exponent <= 0) return std::nullopt;
                          return fmt::format("{} is above 1; expected the weight of a sample in the average, 1/256..1",
                                             format_power_of_two(exponent));
                        }),
           "sample-every: the weight of a new sample in the average; 1: none but the last one counts"),
       key("global", &PathSpec::global, boolean(),
           "adaptive: global load balancing; the next switches report what waits in their ports, and a path is as bad "
           "as "
           "the worse of its two hops"),
       key("report-every", &PathSpec::report_every, duration(kLeastInterval, kMostInterval),
           "global: a change is reported at once, the next one not before")},
      check_path};
  return table;
}

Form<PathSpec> path_form() {
  std::vector<std::string> words;
  for (const auto& [word, policy] : policies()) words.push_back(word);
  const Form<PathPolicy> word = choice<PathPolicy>(policies());
  return {[word](const Tree& tree) {
            PathSpec path;
            if (tree.kind == Tree::Kind::kMap)
              path_keys().read(tree, path);
            else if (tree.kind == Tree::Kind::kScalar)
              path.policy = word.read(tree);
            else
              tree.fail(
                  fmt::format("found {}; expected ecmp, wcmp, flowlet, spray or adaptive, or a map such as {{ policy: "
                              "flowlet, gap: 50us }}",
                              tree.described()));
            return path;
          },
          [word](const PathSpec& path) {
            PathSpec plain;
            plain.policy = path.policy;
            return path == plain ? word.write(path.policy) : path_keys().write(path);
          },
          any_of_schemas({word.schema, reference(path_keys().name())})};
}

}  // namespace railyard::spec
