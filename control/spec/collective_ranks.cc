#include "control/spec/collective_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/collectives/channels.h"
#include "control/collectives/nccl_in_network.h"
#include "control/collectives/scale_up_latency.h"
#include "control/collectives/scale_up_share.h"
#include "control/collectives/skewed_matrix.h"
#include "control/spec/input_error.h"
#include "control/spec/reducers.h"
#include "control/spec/scale_up_networks.h"
#include "control/spec/scale_up_share.h"
#include "control/spec/select.h"
#include "control/spec/value.h"
#include "dataplane/base/hash.h"

namespace railyard::spec {
namespace {

// Hosts of several NICs, all of them cabled to hosts, without a scale-up network.
std::set<std::string> switchless(const Lab& lab) {
  std::set<std::string> hosts;
  for (const NodeSpec& node : lab.nodes)
    if (node.kind == NodeSpec::Kind::kHost && node.nics.size() > 1 && !lab.hosts.at(node.profile).scale_up)
      hosts.insert(node.name);
  for (const LinkSpec& link : lab.links) {
    if (lab.find(link.a.node)->kind != NodeSpec::Kind::kHost) hosts.erase(link.b.node);
    if (lab.find(link.b.node)->kind != NodeSpec::Kind::kHost) hosts.erase(link.a.node);
  }
  return hosts;
}

}  // namespace

TrafficSpec like_traffic(const CollectiveSpec& c) {
  TrafficSpec t;
  t.name = c.name;
  t.transport = c.is_uet() ? TrafficSpec::Transport::kUet : TrafficSpec::Transport::kRoce;
  t.ip_version = c.ip_version;
  t.dscp = c.dscp;
  t.ect = c.ect;
  t.priority = c.priority;
  t.roce.path_mtu = c.path_mtu;
  return t;
}

namespace {

// Its class at the NIC follows from its DSCP, as `class` is said of the other messages.
TrafficSpec like_storage(const CollectiveSpec& c) {
  TrafficSpec t = like_traffic(c);
  t.dscp = *c.job->storage_dscp;
  t.priority.reset();
  return t;
}

bool has_storage_class(const CollectiveSpec& c) { return c.is_job() && c.job->storage_dscp.has_value(); }

}  // namespace

TrafficSpec like_traffic(const CollectiveSpec& c, std::size_t ranks, std::uint32_t a, std::uint32_t b) {
  // Those that store are the last ones of the ranks.
  const auto stores = [&](std::uint32_t r) {
    return r < ranks && r >= ranks - static_cast<std::size_t>(c.job->training.storage.ranks);
  };
  return has_storage_class(c) && (stores(a) || stores(b)) ? like_storage(c) : like_traffic(c);
}

std::vector<TrafficSpec> all_like_traffic(const CollectiveSpec& c) {
  std::vector<TrafficSpec> all{like_traffic(c)};
  if (has_storage_class(c)) all.push_back(like_storage(c));
  return all;
}

bool takes_part(const CollectiveSpec& c, std::size_t ranks, std::uint32_t rank, std::size_t repeat) {
  if (!c.is_job()) return true;
  const jobs::Training& t = c.job->training;
  if (rank >= ranks - static_cast<std::size_t>(t.storage.ranks)) return false;
  return c.traced.eras.empty() ||
         jobs::era_of(c.traced.eras, static_cast<std::uint32_t>(repeat)).has(t.parallelism, static_cast<int>(rank));
}

int gpu_nic(const HostProfile& profile, std::size_t nics, int gpu) {
  if (!profile.gpu_nics.empty()) return profile.gpu_nics[static_cast<std::size_t>(gpu - 1)];
  return static_cast<int>(static_cast<std::size_t>(gpu - 1) * nics / static_cast<std::size_t>(*profile.gpus)) + 1;
}

namespace {

std::vector<RankAt> ranks_at(const Lab& lab, const std::vector<std::string>& selectors) {
  std::vector<RankAt> all;
  const std::set<std::string> single = switchless(lab);
  std::set<RankAt> seen;
  for (const std::string& selector : selectors) {
    const bool of_nic = selector.find(':') != selector.npos;
    std::set<std::string> there;  // hosts that are done
    for (const PortName& nic : rank_nics(lab, {selector})) {
      const NodeSpec& node = *lab.find(nic.node);
      const HostProfile& profile = lab.hosts.at(node.profile);
      if (!profile.gpus) {
        if ((of_nic || !single.contains(nic.node) || there.insert(nic.node).second) && seen.insert({nic, 0}).second)
          all.push_back({nic, 0});
        continue;
      }
      // Of a host all GPUs in their order, of a NIC those behind it.
      if (!of_nic && !there.insert(nic.node).second) continue;
      for (int gpu = 1; gpu <= *profile.gpus; ++gpu) {
        const RankAt rank{{nic.node, gpu_nic(profile, node.nics.size(), gpu)}, gpu};
        if ((!of_nic || rank.nic == nic) && seen.insert(rank).second) all.push_back(rank);
      }
    }
  }
  return all;
}

}  // namespace

std::vector<RankAt> ranks_at(const Lab& lab, const CollectiveSpec& collective) {
  std::vector<RankAt> all;
  if (!collective.placed.empty())
    for (const PlacedRank& p : collective.placed) all.push_back({{p.host, p.rail}, p.gpu});
  else
    all = ranks_at(lab, collective.ranks);
  const std::vector<RankAt> storage = collective.is_job() ? ranks_at(lab, collective.job->storage) : std::vector<RankAt>{};
  if (collective.placed.empty())
    std::erase_if(all, [&](const RankAt& r) { return std::ranges::find(storage, r) != storage.end(); });
  if (collective.traced.graph != nullptr)
    all.resize(std::min(all.size(), collective.traced.graph->ranks.size() - storage.size()));
  all.insert(all.end(), storage.begin(), storage.end());
  return all;
}

std::size_t storage_ranks(const Lab& lab, const JobSpec& job) { return ranks_at(lab, job.storage).size(); }

std::vector<PortName> ranks(const Lab& lab, const CollectiveSpec& collective) {
  std::vector<PortName> nics;
  for (RankAt& rank : ranks_at(lab, collective)) nics.push_back(std::move(rank.nic));
  return nics;
}

bool is_in_switches(const CollectiveSpec& c) {
  return c.is_graph() ? c.algorithm && (*c.algorithm)->in_switches : c.used_algorithm()->in_switches;
}

std::vector<RankAt> reducers(const Lab& lab, const CollectiveSpec& collective) {
  if (!is_in_switches(collective)) return {};
  std::vector<RankAt> all;
  for (PortName& nic : reducers(lab)) all.push_back({std::move(nic), 0});
  for (PortName& nic : network_reducers(lab, ranks(lab, collective))) all.push_back({std::move(nic), RankAt::kReducer});
  return all;
}

std::string format(const Lab& lab, const RankAt& rank) {
  if (rank.gpu == RankAt::kReducer) return rank.nic.node + "/scale-up";
  if (rank.gpu > 0) return fmt::format("{}/gpu{}", rank.nic.node, rank.gpu);
  return lab.find(rank.nic.node)->nics.size() == 1 ? rank.nic.node : format(rank.nic);
}

std::vector<double> slowness_of(const CollectiveSpec& c, std::size_t ranks) {
  std::vector<double> slowness;
  if (!c.stragglers.empty()) slowness.assign(ranks, 1);
  for (const StragglerSpec& s : c.stragglers)
    for (const int rank : s.ranks)
      slowness[static_cast<std::size_t>(rank)] =
          static_cast<double>(s.factor.numerator) / static_cast<double>(s.factor.denominator);
  return slowness;
}

std::vector<RankProgram> programs_of(const Lab& lab, const CollectiveSpec& c, const std::vector<PortName>& nics) {
  if (!c.is_graph())
    return collectives::plan_collective(shape_of(lab, c, nics), static_cast<std::uint32_t>(nics.size()));
  const jobs::CompileOptions options = compile_options(lab, c, nics);
  if (const double all = jobs::messages(c.traced.whole(), options); all > kMostCollectiveMessages)
    throw InputError(fmt::format("{}.chunk: a step needs about {:.0f} messages; expected at most {:.0f}: larger chunks, fewer "
                                 "segments or ranks, or `railyard estimate`",
                                 c.path(), all, kMostCollectiveMessages));
  return jobs::compile(c.traced.whole(), c.traced.whole_matches(), options);
}

namespace {

double gigabytes(BitRate rate) { return static_cast<double>(rate.bps) / 8e9; }

// GB/s of a rank's NIC, and of its scale-up network; 0: it has none.
double nic_rate(const Lab& lab, const PortName& nic) {
  for (const LinkSpec& link : lab.links)
    if (link.a == nic || link.b == nic) return gigabytes(link.rate);
  return 0;
}
double scale_up_rate(const Lab& lab, const PortName& nic) {
  const auto& said = lab.hosts.at(lab.find(nic.node)->profile).scale_up;
  return said ? gigabytes(said->rate) : 0;
}
// Of the first rank that has a scale-up network.
Duration scale_up_latency(const Lab& lab, const std::vector<PortName>& nics) {
  for (const PortName& nic : nics)
    if (const auto& said = lab.hosts.at(lab.find(nic.node)->profile).scale_up) return said->latency;
  return {};
}

collectives::NcclSystem system_of(const Lab& lab, const std::vector<PortName>& nics) {
  const RankPlaces where = places(lab, nics);
  return collectives::nccl_system(static_cast<std::uint32_t>(nics.size()), where.host, where.rail, where.tray,
                                  scale_up_rate(lab, nics[0]), nic_rate(lab, nics[0]));
}

}  // namespace

namespace {

collectives::NcclReduction nccl_reduction(const Lab& lab, const std::vector<PortName>& nics) {
  collectives::NcclReduction out{.scale_up = !network_reducers(lab, nics).empty()};
  if (has_agents(lab, nics)) return {};
  if (!reducers(lab).empty())
    out.network = !collectives::reduction_problem({.host = places(lab, nics).host, .reduction = reduction_network(lab, nics)},
                                                  static_cast<std::uint32_t>(nics.size()));
  return out;
}

}  // namespace

collectives::ProtocolChoice choice_of_nccl(const Lab& lab, const CollectiveSpec& c) {
  const std::vector<PortName> nics = ranks(lab, c);
  if (nics.size() < 2) return {};  // an error elsewhere
  return collectives::nccl_choice(c.collective, c.algorithm.value_or(nullptr), static_cast<std::uint64_t>(c.size.n),
                                  system_of(lab, nics), nccl_reduction(lab, nics));
}

collectives::ProtocolCosts costs_of(const Lab& lab, const CollectiveSpec& c, const std::vector<PortName>& nics) {
  if (c.is_graph() || c.used_protocol() == collectives::Protocol::kNone || nics.size() < 2) return {};
  // Who says what a step costs says it of each.
  if (c.step_cost)
    return {.launch = collectives::protocol_costs(c.used_protocol(), *c.used_algorithm(), CollectiveOperation::kSendRecv, {}, 1).launch};
  const collectives::NcclSystem system = system_of(lab, nics);
  const collectives::Algorithm& algorithm = *c.used_algorithm();
  const auto channels = static_cast<std::uint32_t>(c.channel_count());
  return collectives::without_scale_up_latency(
      collectives::protocol_costs(c.used_protocol(), algorithm, c.collective, system, channels), algorithm, c.collective,
      system, scale_up_latency(lab, nics));
}

double scale_up_share(const Lab& lab, const CollectiveSpec& c) {
  if (c.is_graph()) return c.protocol == collectives::Protocol::kNone ? 1 : collectives::kScaleUpShare;
  const std::vector<PortName> nics = ranks(lab, c);
  if (nics.size() < 2) return 1;
  return collectives::scale_up_share(c.used_protocol(), *c.used_algorithm(), static_cast<std::uint64_t>(c.size.n),
                                     system_of(lab, nics));
}

jobs::CompileOptions compile_options(const Lab& lab, const CollectiveSpec& c, const std::vector<PortName>& nics) {
  RankPlaces where = places(lab, nics);
  return {.chunk = c.chunk,
          .host = std::move(where.host),
          .rail = std::move(where.rail),
          .tray = std::move(where.tray),
          .leaf = leaves(lab, nics),
          .algorithm = c.algorithm.value_or(nullptr),
          .reduction = is_in_switches(c) ? reduction_network(lab, nics) : collectives::ReductionNetwork{},
          .slowness = slowness_of(c, nics.size()),
          .protocol = c.protocol,
          .step_costs = !c.step_cost.has_value(),
          .scale_up_rate = nics.empty() ? 0 : scale_up_rate(lab, nics[0]),
          .scale_up_latency = scale_up_latency(lab, nics),
          .nic_rate = nics.empty() ? 0 : nic_rate(lab, nics[0])};
}

double busbw_factor(const Lab& lab, const CollectiveSpec& c, const std::vector<PortName>& nics) {
  if (c.is_graph()) return 0;
  return collectives::busbw_factor(shape_of(lab, c, nics), static_cast<std::uint32_t>(nics.size()));
}

collectives::CollectiveShape shape_of(const Lab& lab, const CollectiveSpec& c, const std::vector<PortName>& nics) {
  const RankPlaces where = places(lab, nics);
  std::vector<std::uint64_t> matrix = c.octets;
  if (c.skew.numerator > 0)
    matrix = collectives::skewed_matrix(
        static_cast<std::uint32_t>(nics.size()), static_cast<std::uint64_t>(c.size.n), c.element_octets(),
        static_cast<double>(c.skew.numerator) / static_cast<double>(c.skew.denominator),
        mix64(lab.run.seed.value ^ hash_string("skew/" + c.name)));
  const collectives::ProtocolCosts costs = costs_of(lab, c, nics);
  const auto on_wire = [&](std::uint64_t octets, std::uint64_t unit) {
    return collectives::octets_on_wire(c.used_protocol(), octets, unit);
  };
  for (std::uint64_t& octets : matrix) octets = on_wire(octets, c.element_octets());
  const std::uint64_t blocks = collectives::traits(c.collective).by_blocks && matrix.empty() ? nics.size() : 1;
  return {.operation = c.collective,
          .algorithm = c.used_algorithm(),
          .size = on_wire(static_cast<std::uint64_t>(c.size.n), blocks * c.element_octets()),
          .element = c.element_octets(),
          .chunk = c.chunk,
          .channels = static_cast<std::uint32_t>(c.channel_count()),
          .root = static_cast<std::uint32_t>(c.root),
          .matrix = std::move(matrix),
          .group = layout(lab, nics).group,
          .host = where.host,
          .rail = where.rail,
          .tray = where.tray,
          .reduction = c.used_algorithm()->in_switches ? reduction_network(lab, nics) : collectives::ReductionNetwork{},
          .pxn = c.pxn,
          .costs = costs,
          .forward = c.forward,
          .backward = c.backward,
          .buckets = static_cast<std::uint32_t>(c.buckets),
          .slowness = slowness_of(c, nics.size())};
}

int usual_channels(const Lab& lab, const CollectiveSpec& collective) {
  return collectives::usual_channels(*collective.used_algorithm(), collective.collective,
                                     layout(lab, ranks(lab, collective)), static_cast<std::uint64_t>(collective.size.n),
                                     collective.buckets);
}

bool has_agents(const Lab& lab, const std::vector<PortName>& ranks) {
  return std::ranges::any_of(ranks, [&](const PortName& nic) { return lab.find(nic.node)->agent.has_value(); });
}

RankPlaces places(const Lab& lab, const std::vector<PortName>& ranks) {
  RankPlaces out;
  const std::map<std::string, ScaleUpPlace> networks = scale_up_places(lab);
  std::map<std::uint32_t, std::uint32_t> number;  // by network
  std::uint32_t next = 0;
  for (const PortName& nic : ranks) {
    const auto joins = networks.find(nic.node);
    out.host.push_back(joins != networks.end() ? number.try_emplace(joins->second.network, next).first->second : next);
    if (out.host.back() == next) ++next;
    out.rail.push_back(static_cast<std::uint32_t>(nic.port));
    out.tray.push_back(joins != networks.end() ? joins->second.host : 0);
  }
  if (next == ranks.size()) return {};
  if (std::ranges::all_of(out.tray, [](std::uint32_t t) { return t == 0; })) out.tray.clear();
  return out;
}

collectives::Layout layout(const Lab& lab, const std::vector<PortName>& ranks) {
  const RankPlaces p = places(lab, ranks);
  return {.ranks = static_cast<std::uint32_t>(ranks.size()),
          .group = p.host.empty() ? leaves(lab, ranks) : p.host,
          .in_hosts = !p.host.empty(),
          .in_networks = !p.tray.empty(),
          .reduces = !reducers(lab).empty() || !network_reducers(lab, ranks).empty()};
}

std::vector<std::uint32_t> leaves(const Lab& lab, const std::vector<PortName>& ranks) {
  std::map<PortName, std::string> leaf;
  // Who is cabled to a host is at a place of its own.
  const auto place = [&](const PortName& nic, const PortName& peer) {
    return lab.find(peer.node)->kind == NodeSpec::Kind::kHost ? nic.node : peer.node;
  };
  for (const LinkSpec& link : lab.links) {
    leaf[link.a] = place(link.a, link.b);
    leaf[link.b] = place(link.b, link.a);
  }
  std::map<std::string, std::uint32_t> number;
  std::vector<std::uint32_t> out;
  for (const PortName& nic : ranks)
    out.push_back(number.try_emplace(leaf[nic], static_cast<std::uint32_t>(number.size())).first->second);
  return out;
}

}  // namespace railyard::spec
