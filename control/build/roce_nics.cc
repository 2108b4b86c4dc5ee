#include "control/build/roce_nics.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/routing/path_times.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/spec_error.h"
#include "control/spec/telemetry_octets.h"
#include "dataplane/base/hash.h"
#include "dataplane/base/path_telemetry.h"
#include "dataplane/nic/split_endpoint.h"

namespace railyard::build {
namespace {

// The settings of the kind that is chosen; what depends on the NIC's link or on the lab's longest path is told them.
roce::CongestionConfig congestion_of(const spec::RoceNicSpec& s, BitRate line, Duration base_rtt = {}) {
  roce::CongestionConfig c;
  roce::for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t i) {
    if (s.congestion != i) return;
    typename K::Settings settings = s.settings_of<K>();
    if constexpr (requires { settings.line = line; }) settings.line = line;
    if constexpr (requires { settings.base_rtt = base_rtt; })
      if (settings.base_rtt == Duration{}) settings.base_rtt = base_rtt;
    c = settings;
  });
  return c;
}

std::optional<roce::SelectiveRepeatConfig> selective_repeat_of(const spec::RoceNicSpec& s) {
  if (s.loss_recovery == spec::RoceLossRecovery::kGoBackN) return std::nullopt;
  const spec::SelectiveRepeatSpec& r = s.selective_repeat;
  return roce::SelectiveRepeatConfig{.bdp_packets = static_cast<std::uint32_t>(r.bdp_packets),
                                     .window_packets = static_cast<std::uint32_t>(r.window_packets),
                                     .reorder_packets = static_cast<std::uint32_t>(r.reorder_packets),
                                     .rto_low = r.rto_low,
                                     .rto_high = r.rto_high,
                                     .rto_low_packets = static_cast<std::uint32_t>(r.rto_low_packets)};
}

roce::CnpConfig cnp_of(const spec::RoceNicSpec& s, const spec::QosProfile& qos) {
  // Once in N for each flow (DCQCN §3.2). DEVIATION: with the vendor's profile too, though the ConnectX PRM says that
  // MIN_TIME_BETWEEN_CNPS is between CNPs of the port: then a receiver of 8 flows gives each a CNP every 32 us, and their
  // shares are a quarter apart. `scope: port` is that.
  constexpr Duration kPaperInterval{50'000'000};
  constexpr Duration kVendorInterval{4'000'000};
  const bool vendor = s.settings_of<roce::Dcqcn>().profile == roce::DcqcnConfig::Profile::kVendor;
  roce::CnpConfig c;
  c.enabled = roce::takes_cnps(congestion_of(s, BitRate{}));
  c.interval = s.cnp.interval.value_or(vendor ? kVendorInterval : kPaperInterval);
  c.dscp = static_cast<std::uint8_t>(s.cnp.dscp);
  c.priority =
      static_cast<std::uint8_t>(s.cnp.priority.value_or(qos.dscp_to_class[static_cast<std::size_t>(s.cnp.dscp)]));
  switch (s.cnp.scope) {
    case spec::CnpSpec::Scope::kQp:
      c.scope = roce::CnpScope::kQp;
      break;
    case spec::CnpSpec::Scope::kDestinationIp:
      c.scope = roce::CnpScope::kDestinationIp;
      break;
    case spec::CnpSpec::Scope::kPort:
      c.scope = roce::CnpScope::kPort;
      break;
  }
  return c;
}

roce::QpAttributes attributes_of(const spec::RoceNicSpec& s, int path_mtu) {
  roce::QpAttributes a;
  if (const auto code = roce::path_mtu(static_cast<std::size_t>(path_mtu)))
    a.path_mtu = *code;
  else
    a.free_path_mtu = static_cast<std::uint32_t>(path_mtu);
  a.timeout = static_cast<std::uint8_t>(s.ack_timeout);
  a.retry_cnt = static_cast<std::uint8_t>(s.retry_count);
  a.rnr_retry = static_cast<std::uint8_t>(s.rnr_retry);
  a.min_rnr_timer = static_cast<std::uint8_t>(s.min_rnr_timer);
  a.max_rd_atomic = a.max_dest_rd_atomic = static_cast<std::uint16_t>(s.max_reads);
  return a;
}

// A packet and its ACK, over the slowest of the shortest paths, between those RoCE NICs that are farthest apart: what
// HPCC takes for T of all flows (section 3.2: a constant, somewhat more than any base RTT).
Duration longest_round_trip(const spec::Lab& lab, const std::vector<workload::FlowPlan>& plans,
                            const std::vector<PlannedCollective>& collectives) {
  constexpr int kData = 86;  // octets besides the payload: Ethernet, IPv6, UDP, BTH, ICRC and FCS
  constexpr int kAck = 90;
  constexpr int kTelemetry = PathTelemetry::kMostWireOctets;
  routing::PathTimes times(lab);
  Duration longest{};
  const auto look_at = [&](const spec::PortName& from, const spec::PortName& to, int path_mtu) {
    using enum routing::PathTimes::Which;
    const auto there = times.one_way(from, to, path_mtu + kData + kTelemetry, kSlowest);
    const auto back = times.one_way(to, from, kAck + kTelemetry, kSlowest);
    if (there && back) longest = std::max(longest, *there + *back);
  };
  for (const workload::FlowPlan& plan : plans)
    if (const spec::TrafficSpec& t = lab.traffic[plan.traffic]; t.is_roce() && !t.is_rping())
      look_at(plan.source, plan.destination, t.roce.path_mtu);
  for (const PlannedCollective& c : collectives)
    for (std::uint32_t rank = 0; rank < c.nics.size(); ++rank)
      for (const RankConnection& to : c.programs[rank].connections)
        if (!to.scale_up)
          look_at(c.nic(rank, to.peer, to.channel), c.nic(to.peer, rank, to.channel),
                  lab.collectives[c.spec].path_mtu);
  return longest;
}

}  // namespace

struct RoceNics::Nic {
  BitRate rate{};
  Framing framing;
  bool tagged = false;  // traffic of its has tags of its own
  std::uint32_t generator_flows = 0;  // that end here
  std::uint32_t generator_sends = 0;
  std::uint32_t qps = 0;
  std::uint32_t ranks = 0;  // of collectives, that are here or go through here
  bool carries = false;     // a rank of this host goes through several NICs, this one among them
  std::size_t completions = 0;  // that can wait at once
  roce::FlowEndpoint* endpoint = nullptr;
  std::unique_ptr<roce::FlowEndpoint> owned;
};

RoceNics::RoceNics(const spec::Lab& lab, const std::vector<workload::FlowPlan>& plans,
                   std::vector<PlannedCollective> collectives, ScaleUpNetworks& networks, const NicClocks& clocks)
    : lab_(lab), clocks_(clocks) {
  for (const workload::FlowPlan& plan : plans) {
    const spec::TrafficSpec& t = lab.traffic[plan.traffic];
    if (t.transport == spec::TrafficSpec::Transport::kGenerator) {
      ++nics_[plan.source].generator_sends;
      ++nics_[plan.destination].generator_flows;
      continue;
    }
    if (t.is_uet() || t.is_rping()) {
      nics_.try_emplace(plan.source);
      nics_.try_emplace(plan.destination);
      continue;
    }
    const auto qps = static_cast<std::uint32_t>(t.roce.qps);
    // Whoever asks has so many work requests, and the receiver of SENDs as many of its own.
    const auto each = static_cast<std::size_t>(std::max(t.roce.outstanding, t.roce.receives.value_or(0)));
    for (const spec::PortName& name : {plan.source, plan.destination}) {
      if (is_agents(name)) continue;
      Nic& nic = nics_[name];
      nic.tagged = nic.tagged || t.vlan || t.pcp;
      nic.qps += qps;
      nic.completions += qps * each;
    }
  }
  if (spec::telemetry_octets(lab) > 0) base_rtt_ = longest_round_trip(lab, plans, collectives);
  take(std::move(collectives));
  for (const spec::LinkSpec& l : lab.links)
    for (const spec::PortName& end : {l.a, l.b})
      if (const auto nic = nics_.find(end); nic != nics_.end()) {
        nic->second.rate = l.rate;
        nic->second.framing = nic->second.tagged ? with_tag(l.framing) : framing_of_frames(lab, end, l.framing);
      }
  const bool real = lab.run.payload == spec::Payload::kReal;
  for (auto& [name, nic] : nics_) {
    if (nic.qps == 0 && nic.ranks == 0) continue;
    nic.owned = std::make_unique<roce::FlowEndpoint>(engine_config(name, nic), real, nic.completions);
    nic.endpoint = nic.owned.get();
  }
  join_scale_up(networks);
}

RoceNics::~RoceNics() = default;

// The NICs of ranks that have others in their host.
void RoceNics::join_scale_up(ScaleUpNetworks& networks) {
  for (auto nic = nics_.begin(); nic != nics_.end(); ++nic) {
    if (nic->second.ranks == 0) continue;
    const std::string& host = nic->first.node;
    const auto next = std::next(nic);
    const bool others = lab_.hosts.at(lab_.find(host)->profile).gpus || networks.has(host) || networks.is_shared(host) || (next != nics_.end() && next->first.node == host);
    const auto network = nic->second.carries ? networks.together(host) : others ? networks.of(host) : nullptr;
    if (network != nullptr) nic->second.endpoint->join(network);
  }
}

// Those over RoCE.
void RoceNics::take(std::vector<PlannedCollective> collectives) {
  for (PlannedCollective& planned : collectives) {
    for (std::size_t r = 0; r < planned.nics.size(); ++r) {
      if (is_agents(planned.nics[r])) continue;
      ++nics_[planned.nics[r]].ranks;
      for (const RankConnection& c : planned.programs[r].connections) {
        if (c.scale_up) continue;
        const auto rank = static_cast<std::uint32_t>(r);
        const spec::PortName& through = planned.nic(rank, c.peer, c.channel);
        Nic& nic = nics_[through];
        ++nic.qps;
        if (through == planned.nics[r]) continue;
        ++nic.ranks;
        nic.carries = nics_[planned.nics[r]].carries = true;
      }
    }
    collectives_.push_back(std::move(planned));
  }
}

std::pair<std::vector<Collective>, std::vector<AgentCollective>> RoceNics::make_collectives(const Way& way) {
  std::vector<Collective> made;
  std::vector<AgentCollective> with_agents;
  for (PlannedCollective& planned : collectives_) {
    const std::size_t i = planned.spec;
    const spec::CollectiveSpec& c = lab_.collectives[i];
    if (spec::has_agents(lab_, planned.nics)) {
      with_agents.push_back(make_with_agents(std::move(planned), way));
      continue;
    }
    const std::size_t n = planned.ranks();
    std::vector<roce::CollectiveEnd> ends;
    for (const spec::PortName& nic : planned.nics) {
      const spec::RoceNicSpec& s = settings(nic);
      ends.push_back({nics_.at(nic).endpoint, {}, attributes_of(s, c.path_mtu), selective_repeat_of(s),
                      clocks_.phase(nic, static_cast<std::uint32_t>(c.path_mtu))});
      const auto rank = static_cast<std::uint32_t>(ends.size() - 1);
      ends.back().gpu = static_cast<std::uint32_t>(planned.gpus[rank]);
      if (!planned.towards.empty())
        for (const RankConnection& to : planned.programs[rank].connections)
          ends.back().through.push_back(nics_.at(planned.nic(rank, to.peer, to.channel)).endpoint);
    }
    auto through = nics_of_connections(planned);
    auto ranks = roce::CollectiveConnection::make(
        config_of(lab_, i), std::move(planned.programs), ends,
        [&](std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
          return way(planned.nic(from, to, channel), planned.nic(to, from, channel), spec::like_traffic(c, n, from, to));
        },
        chance_of(lab_, i));
    made.push_back({i, planned.reducers, std::move(planned.nics), std::move(planned.gpus), std::move(ranks), std::move(through)});
  }
  collectives_.clear();
  return {std::move(made), std::move(with_agents)};
}

AgentCollective RoceNics::make_with_agents(PlannedCollective planned, const Way& way) {
  const std::size_t collective = planned.spec;
  const spec::CollectiveSpec& c = lab_.collectives[collective];
  const spec::TrafficSpec like = spec::like_traffic(c);
  const auto n = static_cast<std::uint32_t>(planned.nics.size());
  AgentCollective made{.spec = collective, .config = config_of(lab_, collective), .programs = planned.programs};
  made.chance = chance_of(lab_, collective);
  // When they start is said once the agents are ready.
  made.config.start = Instant::never();
  for (std::uint32_t r = 0; r < n; ++r) {
    const spec::PortName& nic = planned.nics[r];
    const auto found = nics_.find(nic);
    made.addresses.push_back(way(planned.nics[(r + 1) % n], nic, like).destination);
    made.ends.push_back({lab_.find(nic.node)->agent ? nullptr : found->second.endpoint,
                         {},
                         attributes_of(settings(nic), c.path_mtu), {}, {}});
  }
  for (std::uint32_t from = 0; from < n; ++from)
    for (std::uint32_t to = 0; to < n; ++to)
      if (from != to && made.ends[from].nic != nullptr)
        made.ways[{from, to}] = way(planned.nics[from], planned.nics[to], spec::like_traffic(c, n, from, to));
  made.make_ranks(std::move(planned.programs));
  for (std::uint32_t r = 0; r < n; ++r)
    if (!made.is_agents(r)) made.programs[r] = {};
  made.nics = std::move(planned.nics);
  return made;
}

const spec::RoceNicSpec& RoceNics::settings(const spec::PortName& name) const {
  return lab_.hosts.at(lab_.find(name.node)->profile).roce;
}

roce::EngineConfig RoceNics::engine_config(const spec::PortName& name, const Nic& nic) const {
  roce::EngineConfig c = settings_of(lab_, name, nic.rate, base_rtt_);
  c.framing = nic.framing;
  c.pacing = clocks_.pacing(name);
  c.first_qpn = kFirstQp + nic.generator_flows;
  c.most_qps = nic.qps;
  return c;
}

std::uint32_t RoceNics::first_free_qpn(const spec::PortName& name) const {
  const auto found = nics_.find(name);
  return found == nics_.end() ? kFirstQp : kFirstQp + found->second.generator_flows + found->second.qps;
}

roce::EngineConfig RoceNics::settings_of(const spec::Lab& lab, const spec::PortName& name, BitRate rate,
                                         Duration base_rtt) {
  const spec::HostProfile& host = lab.hosts.at(lab.find(name.node)->profile);
  roce::EngineConfig c;
  c.ack_every = static_cast<std::uint32_t>(host.roce.ack_every);
  c.window_packets = static_cast<std::uint32_t>(host.roce.window);
  c.congestion = congestion_of(host.roce, rate, base_rtt);
  c.cnp = cnp_of(host.roce, lab.qos.at(host.qos));
  if (const auto& [dscp, priority] = host.roce.ack; dscp)
    c.ack = {static_cast<std::uint8_t>(*dscp),
             static_cast<std::uint8_t>(
                 priority.value_or(lab.qos.at(host.qos).dscp_to_class[static_cast<std::size_t>(*dscp)]))};
  return c;
}

verbs::NicSettings RoceNics::application_settings(const spec::Lab& lab, const spec::PortName& nic, BitRate rate,
                                                  Framing framing) {
  const roce::EngineConfig c = settings_of(lab, nic, rate);
  return {.ack_every = c.ack_every,
          .window_packets = c.window_packets,
          .congestion = c.congestion,
          .framing = framing,
          .cnp = c.cnp,
          .ack = c.ack,
          .selective_repeat = selective_repeat_of(lab.hosts.at(lab.find(nic.node)->profile).roce)};
}

void RoceNics::connect(Flow& flow, const roce::FlowConfig& config, const roce::AddressVector& forth,
                       const roce::AddressVector& back) {
  const spec::RoceTraffic& t = lab_.traffic[flow.plan.traffic].roce;
  const auto end = [&](const spec::PortName& nic, const roce::AddressVector& av) {
    const spec::RoceNicSpec& s = settings(nic);
    const bool uc = t.qp_type == spec::RoceQpType::kUc;
    return roce::FlowEnd{nics_.at(nic).endpoint, av, attributes_of(s, t.path_mtu),
                         uc ? std::nullopt : selective_repeat_of(s), uc ? roce::QpType::kUc : roce::QpType::kRc};
  };
  const roce::FlowEnd source = end(flow.plan.source, forth);
  const roce::FlowEnd sink = end(flow.plan.destination, back);
  flow.source = source.nic;
  flow.sink = sink.nic;
  flow.places = roce::FlowConnection::make(config, source, sink, mix64(lab_.run.seed.value ^ mix64(flow.plan.id)));
}

AgentFlow RoceNics::make_with_agents(workload::FlowPlan plan, roce::FlowConfig config, const roce::AddressVector& forth,
                                     const roce::AddressVector& back) {
  const spec::RoceTraffic& t = lab_.traffic[plan.traffic].roce;
  if (!roce::path_mtu(static_cast<std::size_t>(t.path_mtu)))
    throw spec::SpecError(
        lab_.traffic[plan.traffic].place,
        fmt::format("traffic {}: path-mtu {} with an agent's host; expected a path MTU of real RDMA devices: 256, 512, "
                    "1024, 2048 or 4096",
                    lab_.traffic[plan.traffic].name, t.path_mtu));
  // An agent does not see packets.
  config.announced = config.operation == roce::FlowOperation::kWrite && is_agents(plan.destination);
  AgentFlow made{.priority = forth.priority, .config = config};
  const auto end = [&](const spec::PortName& name, const roce::AddressVector& av, bool is_source) {
    const spec::RoceNicSpec& s = settings(name);
    AgentFlow::End e{.nic = name, .address = av.source, .end = {nullptr, av, attributes_of(s, t.path_mtu), {}}};
    if (is_agents(name)) return e;
    e.end.nic = nics_.at(name).endpoint;
    e.place = roce::FlowConnection::make_here(config, e.end, is_source);
    return e;
  };
  made.source = end(plan.source, forth, true);
  made.sink = end(plan.destination, back, false);
  made.chance = mix64(lab_.run.seed.value ^ mix64(plan.id));
  made.plan = std::move(plan);
  return made;
}

std::unique_ptr<Endpoint> RoceNics::drive(const spec::PortName& name, std::unique_ptr<TrafficGenerator> generator) {
  const auto found = nics_.find(name);
  if (found == nics_.end() || found->second.owned == nullptr) return generator;
  Nic& nic = found->second;
  if (!generator->has_flows()) return std::move(nic.owned);
  return std::make_unique<SplitEndpoint>(std::move(generator), std::move(nic.owned), kFirstQp + nic.generator_flows,
                                         nic.generator_sends);
}

std::vector<RoceNics::Named> RoceNics::endpoints() const {
  std::vector<Named> all;
  for (const auto& [name, nic] : nics_)
    if (nic.endpoint != nullptr) all.push_back({name, nic.endpoint});
  return all;
}

}  // namespace railyard::build
