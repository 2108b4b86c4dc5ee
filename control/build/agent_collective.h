// A collective operation of which agents carry out some ranks: those built in are there, and wait for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "control/spec/spec.h"
#include "dataplane/base/hash.h"
#include "transports/base/rank_program.h"
#include "transports/roce/collectives/collective_connection.h"

namespace railyard::build {

struct AgentCollective {
  std::size_t spec = 0;  // index into Lab::collectives
  CollectiveConfig config{};
  // By rank:
  std::vector<spec::PortName> nics{};
  std::vector<roce::RoceRank*> ranks{};        // nullptr: an agent's
  std::vector<RankProgram> programs{};         // agents' ranks; those built in have theirs
  std::vector<roce::CollectiveEnd> ends{};     // timers, retries, path MTU of agents' ranks, too
  std::vector<wire::IpAddress> addresses{};
  // From a rank that is built in to any other, but for the UDP source port.
  std::map<std::pair<std::uint32_t, std::uint32_t>, roce::AddressVector> ways{};
  std::uint64_t chance = 0;  // what UDP source ports and first PSNs are drawn from

  bool is_agents(std::size_t rank) const noexcept { return ranks[rank] == nullptr; }
  const RankProgram& program(std::size_t rank) const noexcept {
    return is_agents(rank) ? programs[rank] : ranks[rank]->program();
  }

  // Its built-in ranks are given up and made anew, to be run again. While the engine rests.
  void renew() {
    std::vector<RankProgram> all;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      all.push_back(program(r));
      if (!is_agents(r)) roce::CollectiveConnection::retire(*ranks[r]);
    }
    chance = mix64(chance);
    make_ranks(std::move(all));
  }
  // `all`: their programs, by rank.
  void make_ranks(std::vector<RankProgram> all) {
    ranks = roce::CollectiveConnection::make_those_here(
        config, std::move(all), ends, [this](std::uint32_t from, std::uint32_t to, std::uint32_t) { return ways.at({from, to}); },
        chance);
  }
};

}  // namespace railyard::build
