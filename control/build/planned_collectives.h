// The collectives of a lab before there are NICs: whose rank is where, and what each does.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "control/spec/scale_up_networks.h"
#include "control/spec/spec.h"
#include "dataplane/base/device_wake.h"
#include "dataplane/base/shared_work.h"
#include "transports/base/rank_program.h"
#include "transports/collectives/collective_config.h"
#include "transports/collectives/scale_up.h"

namespace railyard::build {

struct PlannedCollective {
  std::size_t spec = 0;  // index into Lab::collectives
  // By rank:
  std::vector<spec::PortName> nics;
  std::vector<int> gpus;  // from 1; 0: the NIC is the rank
  std::vector<RankProgram> programs;
  // The last so many of these are reducers in switches (spec::reducers()), and no ranks.
  std::size_t reducers = 0;
  // By rank, peer and channel: its NIC to that, where it is another one than its own (spec/rank_links.h).
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, spec::PortName> towards{};

  std::size_t ranks() const noexcept { return nics.size() - reducers; }
  std::vector<spec::PortName> rank_nics() const { return {nics.begin(), nics.begin() + static_cast<std::ptrdiff_t>(ranks())}; }
  const spec::PortName& nic(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel) const {
    const auto other = towards.find({rank, peer, channel});
    return other == towards.end() ? nics[rank] : other->second;
  }
};

// By rank and connection: the NIC that it goes through.
std::vector<std::vector<spec::PortName>> nics_of_connections(const PlannedCollective& planned);

// Of the lab those over one transport, in their order.
std::vector<PlannedCollective> plan_collectives(const spec::Lab& lab, spec::CollectiveTransport transport);

// As all of its ranks know it.
CollectiveConfig config_of(const spec::Lab& lab, std::size_t collective);
// What ports, paths and first numbers of it are drawn from.
std::uint64_t chance_of(const spec::Lab& lab, std::size_t collective);

// The scale-up networks of hosts that have ranks: of each host its part.
class ScaleUpNetworks {
 public:
  explicit ScaleUpNetworks(const spec::Lab& lab) : lab_(lab), places_(spec::scale_up_places(lab)) {}

  // The one of a host, which is made if there is none yet; nullptr: its profile has none.
  std::shared_ptr<ScaleUp> of(const std::string& host);
  // Whether several hosts may share its.
  bool is_shared(const std::string& host) const { return lab_.hosts.at(lab_.find(host)->profile).shares_scale_up(); }
  // What NICs of a host are in that do what is due together, as those of one rank: that network, or one that carries
  // nothing.
  std::shared_ptr<ScaleUp> together(const std::string& host);
  bool has(const std::string& host) const { return by_host_.contains(host); }
  // HostConfig::others_changed of a host whose NICs share one.
  std::shared_ptr<bool> others_changed(const std::string& host) const;
  // HostConfig::shared of a host whose network may have others.
  std::shared_ptr<SharedWork> shared(const std::string& host) const;

  // Two hosts of one network: what one does reaches the other `latency` later at the earliest.
  struct Pair {
    std::string from;
    std::string to;
    Duration latency{};
    std::shared_ptr<DeviceWake> wake;
  };
  const std::vector<Pair>& pairs() const noexcept { return pairs_; }

 private:
  void meet_others(const std::string& host, ScaleUp& network);

  const spec::Lab& lab_;
  std::map<std::string, spec::ScaleUpPlace> places_;
  std::vector<Pair> pairs_;
  std::map<std::string, std::shared_ptr<ScaleUp>> by_host_;
};

}  // namespace railyard::build
