// Collectives whose ranks do not use what their hosts have, and jobs whose ranks have it at the same time.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/collectives/registry.h"
#include "control/lint/rules/rules.h"
#include "control/spec/collective_ranks.h"

namespace railyard::lint {
namespace {

// Ranks by host. Neither reducers nor those that only store, which send each other nothing.
std::map<std::string, int> ranks_of_hosts(const build::Collective& c, const spec::CollectiveSpec& said) {
  const std::size_t storage = said.is_job() ? static_cast<std::size_t>(said.job->training.storage.ranks) : 0;
  std::map<std::string, int> count;
  for (std::size_t r = 0; r + storage < c.rank_count(); ++r) ++count[c.nics[r].node];
  return count;
}

void find_ranks_without_scale_up(const Facts& facts, Findings& findings) {
  for (const build::Collective& c : facts.built().collectives()) {
    const auto count = ranks_of_hosts(c, facts.lab().collectives[c.spec]);
    const auto crowded = std::ranges::find_if(count, [&](const auto& host) {
      return host.second > 1 && !facts.host(host.first).scale_up;
    });
    if (crowded == count.end() || count.size() < 2) continue;
    findings.add(Facts::collective_path(facts.lab(), c.spec) + ".ranks",
                 fmt::format("{} has {} ranks in {}, whose profile has no scale-up network: what they send each other "
                             "crosses the fabric.",
                             facts.lab().collectives[c.spec].name, crowded->second, crowded->first),
                 fmt::format("Give the hosts one, e.g. hosts.{}.scale-up: {{ rate: 3600Gbps }}, or choose one NIC of each "
                             "host, e.g. ranks: \"h*:1\".",
                             facts.lab().find(crowded->first)->profile));
  }
}

void find_rails_unused(const Facts& facts, Findings& findings) {
  for (const build::Collective& c : facts.built().collectives()) {
    const spec::CollectiveSpec& said = facts.lab().collectives[c.spec];
    if (!said.used_algorithm()->channels_by_nic) continue;
    const spec::RankPlaces where = spec::places(facts.lab(), c.nics);
    if (where.host.empty()) continue;
    std::map<std::uint32_t, std::set<std::pair<std::uint32_t, std::uint32_t>>> rails;  // by network
    for (std::size_t r = 0; r < where.host.size(); ++r)
      rails[where.host[r]].insert({where.tray.empty() ? 0 : where.tray[r], where.rail[r]});
    if (rails.size() < 2) continue;
    std::size_t most = 1;
    for (const auto& [host, own] : rails) most = std::max(most, own.size());
    if (static_cast<std::size_t>(said.channel_count()) >= most) continue;
    findings.add(Facts::collective_path(facts.lab(), c.spec) + ".channels",
                 fmt::format("{} has {} channel{}, and each leaves a {} by one of its {} NICs: the others are idle.",
                             said.name, said.channel_count(), said.channel_count() == 1 ? "" : "s",
                             where.tray.empty() ? "host" : "scale-up network", most),
                 fmt::format("Set channels to a multiple of {}.", most));
  }
}

// Where a job or a trace computes. It takes `least` from its start, if not more.
struct Computing {
  const build::Collective* collective = nullptr;
  const spec::CollectiveSpec* said = nullptr;
  Duration least{};

  bool during(const Computing& other) const noexcept {
    return said->start < other.said->start + other.least && other.said->start < said->start + least;
  }
};

std::vector<Computing> all_computing(const Facts& facts) {
  std::vector<Computing> all;
  for (const build::Collective& c : facts.built().collectives()) {
    const spec::CollectiveSpec& said = facts.lab().collectives[c.spec];
    if (!said.is_graph() || !said.computes()) continue;
    all.push_back({&c, &said, said.computing() * said.repeats + said.gap * (said.repeats - 1)});
  }
  return all;
}

// GPUs, and NICs that are ranks. Those that only store compute nothing.
std::set<spec::RankAt> ranks_of(const Computing& job) {
  const std::size_t storage = job.said->is_job() ? static_cast<std::size_t>(job.said->job->training.storage.ranks) : 0;
  std::set<spec::RankAt> all;
  for (std::size_t r = 0; r + storage < job.collective->rank_count(); ++r)
    all.insert({job.collective->nics[r], job.collective->gpus[r]});
  return all;
}

void find_gpus_shared(const Facts& facts, Findings& findings) {
  const std::vector<Computing> jobs = all_computing(facts);
  for (std::size_t later = 1; later < jobs.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (!jobs[later].during(jobs[earlier])) continue;
      const std::set<spec::RankAt> here = ranks_of(jobs[later]), there = ranks_of(jobs[earlier]);
      std::vector<spec::RankAt> shared;
      std::ranges::set_intersection(here, there, std::back_inserter(shared));
      if (shared.empty()) continue;
      findings.add(Facts::collective_path(facts.lab(), jobs[later].collective->spec) + ".ranks",
                   fmt::format("{} and {} compute on {}{} at the same time, each as if it were alone there: GPUs are not shared out.",
                               jobs[earlier].said->name, jobs[later].said->name, spec::format(facts.lab(), shared.front()),
                               shared.size() > 1 ? fmt::format(" and {} more", shared.size() - 1) : ""),
                   fmt::format("Give each its own ranks, or a start of {} after the end of {}.", jobs[later].said->name,
                               jobs[earlier].said->name));
    }
}

}  // namespace

const Rule kRanksWithoutScaleUp{"ranks-without-scale-up", Severity::kWarning,
                                "A collective has several ranks in a host without a scale-up network.",
                                find_ranks_without_scale_up};
const Rule kRailsUnused{"rails-unused", Severity::kWarning,
                        "A collective has fewer channels than its hosts have NICs, and each channel uses one of them.",
                        find_rails_unused};
const Rule kGpusShared{"gpus-shared", Severity::kWarning, "Two jobs or traces compute on the same GPUs at the same time.",
                       find_gpus_shared};

}  // namespace railyard::lint
