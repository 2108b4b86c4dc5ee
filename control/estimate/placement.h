// Where the ranks of a job, a trace or a collective should be: orders of hosts, and of a job's parallelism, tried one after the
// other.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "control/estimate/estimate.h"
#include "control/jobs/parallelism.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/spec.h"

namespace railyard::estimate {

// In which order its ranks are at the GPUs (or NICs) that `ranks` names. Hosts that share a scale-up network count as one.
enum class HostOrder { kAsSaid, kByLeaf, kAcrossLeaves };
std::string_view name(HostOrder order) noexcept;  // "as said", "leaf by leaf", "across leaves"

struct Placement {
  HostOrder hosts = HostOrder::kAsSaid;
  std::array<jobs::Axis, 4> order{};  // of a job
  std::vector<spec::RankAt> ranks;  // by rank
  Duration step{};                    // the time of a step of a job, of a repeat of the others
};

// The axes of `order` that have a degree above one: where the others are changes nothing.
std::vector<jobs::Axis> used_axes(const jobs::Parallelism& parallelism, const std::array<jobs::Axis, 4>& order);

// What racks cost: two placements that differ in nothing but the order of hosts.
struct Racks {
  static constexpr double kFinding = 0.3;  // a difference above this is worth acting on

  Duration same{};    // leaf by leaf
  Duration across{};  // across leaves

  // How much longer the slower one takes: 0.3 is 30 %.
  double difference() const noexcept;
  bool is_finding() const noexcept { return difference() > kFinding; }
};

struct Advice {
  // The quickest first. Of those of equal time: the axes in the lab's order first, then in the order in which they were tried.
  std::vector<Placement> tried;
  std::size_t now = 0;         // of `tried`: as the lab says it
  std::optional<Racks> racks;  // with the axes in the lab's order; nothing: all hosts are at one leaf
  jobs::Parallelism parallelism;

  const Placement& at_present() const noexcept { return tried[now]; }
  bool has_order_of_now(const Placement& placement) const { return used(placement) == used(at_present()); }
  std::vector<jobs::Axis> used(const Placement& placement) const { return used_axes(parallelism, placement.order); }
};

// Tries all orders of the axes of a job that have a degree above one, with each order of hosts; each placement once. A trace and
// a collective have no axes: the ranks of their files follow each other. Error: as estimate(). `work`: its place in
// lab.collectives; no job of inference.
std::expected<Advice, std::string> advise(const spec::Lab& lab, std::size_t work);

}  // namespace railyard::estimate
