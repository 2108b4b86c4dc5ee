// A collective operation of which agents carry out some ranks: those built in are there, and wait for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "control/spec/spec.h"
#include "transports/base/rank_program.h"
#include "transports/roce/collectives/roce_rank.h"
#include "transports/roce/qp_attributes.h"

namespace railyard::build {

struct AgentCollective {
  std::size_t spec = 0;  // index into Lab::collectives
  CollectiveConfig config{};
  // By rank:
  std::vector<spec::PortName> nics{};
  std::vector<roce::RoceRank*> ranks{};        // nullptr: an agent's
  std::vector<RankProgram> programs{};         // agents' ranks; those built in have theirs
  std::vector<roce::QpAttributes> attributes{};  // timers, retries, path MTU
  std::vector<wire::IpAddress> addresses{};
  // From a rank that is built in to an agent's, but for the UDP source port.
  std::map<std::pair<std::uint32_t, std::uint32_t>, roce::AddressVector> ways{};
  std::uint64_t chance = 0;  // what UDP source ports and first PSNs are drawn from

  bool is_agents(std::size_t rank) const noexcept { return ranks[rank] == nullptr; }
  const RankProgram& program(std::size_t rank) const noexcept {
    return is_agents(rank) ? programs[rank] : ranks[rank]->program();
  }
};

}  // namespace railyard::build
