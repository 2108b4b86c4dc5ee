#include "control/report/collective_limit.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "control/spec/pcie.h"

namespace railyard::report {
namespace {

// Octets of a repeat.
struct LinkLoad {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  double most() const noexcept { return static_cast<double>(std::max(sent, received)); }
};

// Of the uplink that takes longest, of those that NICs share.
double time_of_uplinks(const spec::Lab& lab, const std::map<spec::PortName, LinkLoad>& nics) {
  double longest = 0;  // s
  std::set<std::string> hosts;
  for (const auto& [nic, load] : nics) {
    if (!hosts.insert(nic.node).second) continue;
    for (const spec::PcieGroup& group : spec::pcie_groups(lab, *lab.find(nic.node))) {
      LinkLoad all;
      for (const int n : group.nics)
        if (const auto one = nics.find({nic.node, n}); one != nics.end()) {
          all.sent += one->second.sent;
          all.received += one->second.received;
        }
      longest = std::max(longest, 8 * all.most() / static_cast<double>(group.uplink.bps));
    }
  }
  return longest;
}

}  // namespace

double busbw_limit(const spec::Lab& lab, const std::function<BitRate(const spec::PortName&)>& rate_of, const std::vector<RankOnLinks>& ranks,
                   double octets, double framing) {
  std::map<spec::PortName, LinkLoad> nics;
  double least = 0;  // s
  for (const RankOnLinks& rank : ranks) {
    LinkLoad pipe;
    for (const CollectiveStep& step : rank.program->steps) {
      if (step.kind == CollectiveStep::Kind::kCompute) continue;
      const bool in_host = rank.program->connections[step.connection].scale_up;
      LinkLoad& load = in_host ? pipe : nics[rank.through.empty() ? rank.nic : rank.through[step.connection]];
      (step.receives() ? load.received : load.sent) += step.octets;
    }
    const auto& scale_up = lab.hosts.at(lab.find(rank.nic.node)->profile).scale_up;
    const auto share = rank.program->reducer_latency
                           ? std::ranges::count(rank.program->connections, true, &RankConnection::scale_up)
                           : 1;
    if (scale_up && share > 0) least = std::max(least, 8 * pipe.most() / static_cast<double>(scale_up->rate.bps * share));
  }
  for (const auto& [nic, load] : nics)
    if (const BitRate rate = rate_of(nic); rate.bps > 0) {
      const auto bus = static_cast<double>(spec::pcie_rate(lab, *lab.find(nic.node)).value_or(rate).bps);
      least = std::max(least, 8 * load.most() / std::min(static_cast<double>(rate.bps) * framing, bus));
    }
  return least > 0 ? 8 * octets / std::max(least, time_of_uplinks(lab, nics)) : 0;
}

}  // namespace railyard::report
