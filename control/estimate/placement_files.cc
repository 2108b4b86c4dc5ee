#include "control/estimate/placement_files.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace railyard::estimate {
namespace {

struct Hosts {
  std::vector<std::pair<std::string, int>> all;  // with their ranks
  bool in_turn = true;                           // the ranks of each follow each other
};

Hosts hosts_of(const Placement& p) {
  Hosts hosts;
  for (const spec::RankAt& r : p.ranks) {
    const auto found = std::ranges::find(hosts.all, r.nic.node, &std::pair<std::string, int>::first);
    if (found == hosts.all.end()) {
      hosts.all.emplace_back(r.nic.node, 1);
      continue;
    }
    hosts.in_turn = hosts.in_turn && found + 1 == hosts.all.end();
    ++found->second;
  }
  return hosts;
}

}  // namespace

std::string rank_file(const Placement& p, const std::string& note) {
  const bool gpus = p.ranks.front().gpu > 0;
  std::string out = note + fmt::format("rank,host,{}\n", gpus ? "gpu" : "rail");
  for (std::size_t r = 0; r < p.ranks.size(); ++r)
    out += fmt::format("{},{},{}\n", r, p.ranks[r].nic.node, gpus ? p.ranks[r].gpu : p.ranks[r].nic.port);
  return out;
}

std::string host_file(const Placement& p, Starter starter, const std::string& note) {
  std::string out = note;
  if (starter == Starter::kSlurm) {
    for (const spec::RankAt& r : p.ranks) out += r.nic.node + "\n";
    return out;
  }
  const Hosts hosts = hosts_of(p);
  if (!hosts.in_turn) out += "# Ranks of a host do not follow each other here: this order alone does not place them (use the format slurm)\n";
  if (starter == Starter::kMpirun) {
    for (const auto& [host, ranks] : hosts.all) out += fmt::format("{} slots={}\n", host, ranks);
    return out;
  }
  out += "# host, options of torchrun there\n";
  for (std::size_t n = 0; n < hosts.all.size(); ++n)
    out += fmt::format("{} --nnodes={} --nproc-per-node={} --node-rank={} --master-addr={}\n", hosts.all[n].first, hosts.all.size(),
                       hosts.all[n].second, n, hosts.all.front().first);
  return out;
}

}  // namespace railyard::estimate
