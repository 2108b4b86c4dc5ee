#include "control/build/roce_nics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "control/spec/collective_ranks.h"
#include "control/workload/collective_plan.h"
#include "dataplane/base/hash.h"
#include "dataplane/nic/split_endpoint.h"

namespace railyard::build {
namespace {

double value(spec::Ratio r) noexcept { return static_cast<double>(r.numerator) / static_cast<double>(r.denominator); }

roce::DcqcnConfig dcqcn_of(const spec::DcqcnSpec& d, BitRate line) {
  roce::DcqcnConfig c;
  c.line = line;
  c.most = d.rpg_max_rate;
  c.cut_at_once = d.cut_at_once;
  c.alpha_period = d.dce_tcp_rtt;
  c.cut_period = d.rate_reduce_monitor_period;
  c.increase_period = d.rpg_time_reset;
  c.increase_bytes = d.rpg_byte_reset;
  c.fast_recovery = static_cast<std::uint32_t>(d.rpg_threshold);
  c.g = value(d.g);
  c.initial_alpha = value(d.initial_alpha);
  c.alpha_steps = static_cast<std::uint32_t>(d.alpha_steps);
  c.additive = d.rpg_ai_rate;
  c.hyper = d.rpg_hai_rate;
  c.least = d.rpg_min_rate;
  c.least_cut_factor = value(d.rpg_min_dec_fac);
  c.clamp_target = d.clamp_tgt_rate;
  c.clamp_target_after_increase = d.clamp_tgt_rate_after_time_inc;
  c.on_first_cnp = d.rate_to_set_on_first_cnp;
  return c;
}

roce::SwiftConfig swift_of(const spec::SwiftSpec& s) {
  roce::SwiftConfig c;
  c.base_target = s.base_target;
  c.hop_scale = s.hop_scale;
  c.hops = static_cast<std::uint32_t>(s.hops);
  c.fs_range = s.fs_range;
  c.fs_min_cwnd = value(s.fs_min_cwnd);
  c.fs_max_cwnd = s.fs_max_cwnd;
  c.ai = value(s.ai);
  c.beta = value(s.beta);
  c.max_mdf = value(s.max_mdf);
  c.min_cwnd = value(s.min_cwnd);
  c.max_cwnd = s.max_cwnd;
  c.initial_cwnd = s.initial_cwnd;
  c.retx_reset_threshold = static_cast<std::uint32_t>(s.retx_reset_threshold);
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
  // roce-and-lossless §8.2.
  constexpr Duration kPaperInterval{50'000'000};
  constexpr Duration kVendorInterval{4'000'000};
  roce::CnpConfig c;
  c.enabled = s.congestion == spec::RoceCongestion::kDcqcn;
  c.interval =
      s.cnp.interval.value_or(s.dcqcn.profile == spec::DcqcnSpec::Profile::kPaper ? kPaperInterval : kVendorInterval);
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
  a.path_mtu = *roce::path_mtu(static_cast<std::size_t>(path_mtu));
  a.timeout = static_cast<std::uint8_t>(s.ack_timeout);
  a.retry_cnt = static_cast<std::uint8_t>(s.retry_count);
  a.rnr_retry = static_cast<std::uint8_t>(s.rnr_retry);
  a.min_rnr_timer = static_cast<std::uint8_t>(s.min_rnr_timer);
  a.max_rd_atomic = a.max_dest_rd_atomic = static_cast<std::uint16_t>(s.max_reads);
  return a;
}

// What the packets of a collective look like.
spec::TrafficSpec like_traffic(const spec::CollectiveSpec& c) {
  spec::TrafficSpec t;
  t.name = c.name;
  t.ip_version = c.ip_version;
  t.dscp = c.dscp;
  t.ect = c.ect;
  t.priority = c.priority;
  return t;
}

}  // namespace

struct RoceNics::Nic {
  BitRate rate{};
  std::uint32_t generator_flows = 0;  // that end here
  std::uint32_t generator_sends = 0;
  std::uint32_t qps = 0;
  std::uint32_t ranks = 0;  // of collectives
  std::size_t completions = 0;  // that can wait at once
  roce::FlowEndpoint* endpoint = nullptr;
  std::unique_ptr<roce::FlowEndpoint> owned;
};

RoceNics::RoceNics(const spec::Lab& lab, const std::vector<workload::FlowPlan>& plans) : lab_(lab) {
  for (const workload::FlowPlan& plan : plans) {
    const spec::TrafficSpec& t = lab.traffic[plan.traffic];
    Nic& from = nics_[plan.source];
    Nic& to = nics_[plan.destination];
    if (t.transport == spec::TrafficSpec::Transport::kGenerator) {
      ++from.generator_sends;
      ++to.generator_flows;
      continue;
    }
    if (t.is_uet() || t.is_rping()) continue;
    const auto qps = static_cast<std::uint32_t>(t.roce.qps);
    from.qps += qps;
    to.qps += qps;
    // Whoever asks has so many work requests, and the receiver of SENDs as many of its own.
    const auto each = static_cast<std::size_t>(std::max(t.roce.outstanding, t.roce.receives.value_or(0)));
    from.completions += qps * each;
    to.completions += qps * each;
  }
  plan_collectives();
  for (const spec::LinkSpec& l : lab.links)
    for (const spec::PortName& end : {l.a, l.b})
      if (const auto nic = nics_.find(end); nic != nics_.end()) nic->second.rate = l.rate;
  const bool real = lab.run.payload == spec::Payload::kReal;
  for (auto& [name, nic] : nics_) {
    if (nic.qps == 0 && nic.ranks == 0) continue;
    nic.owned = std::make_unique<roce::FlowEndpoint>(engine_config(name, nic), real, nic.completions);
    nic.endpoint = nic.owned.get();
  }
  join_scale_up();
}

RoceNics::~RoceNics() = default;

// The NICs of ranks that have others in their host.
void RoceNics::join_scale_up() {
  for (auto& [name, nic] : nics_) {
    if (nic.ranks == 0) continue;
    const auto& said = lab_.hosts.at(lab_.find(name.node)->profile).scale_up;
    const auto next = nics_.upper_bound(name);
    const bool others = networks_.contains(name.node) || (next != nics_.end() && next->first.node == name.node);
    if (!said || !others) continue;
    auto& network = networks_[name.node];
    if (network == nullptr)
      network = std::make_shared<ScaleUp>(ScaleUpConfig{.rate = said->rate, .latency = said->latency});
    nic.endpoint->join(network);
  }
}

void RoceNics::plan_collectives() {
  for (const spec::CollectiveSpec& c : lab_.collectives) {
    Planned planned{spec::ranks(lab_, c), {}};
    const spec::RankPlaces places = spec::places(lab_, planned.nics);
    std::vector<double> slowness;
    if (!c.stragglers.empty()) slowness.assign(planned.nics.size(), 1);
    for (const spec::StragglerSpec& s : c.stragglers)
      for (const int rank : s.ranks) slowness[static_cast<std::size_t>(rank)] = value(s.factor);
    planned.programs = workload::plan_collective({.operation = c.collective,
                                                  .algorithm = c.used_algorithm(),
                                                  .size = static_cast<std::uint64_t>(c.size.n),
                                                  .element = c.element_octets(),
                                                  .chunk = c.chunk,
                                                  .channels = static_cast<std::uint32_t>(c.channels),
                                                  .root = static_cast<std::uint32_t>(c.root),
                                                  .group = spec::groups(lab_, planned.nics),
                                                  .host = places.host,
                                                  .rail = places.rail,
                                                  .pxn = c.pxn,
                                                  .forward = c.forward,
                                                  .backward = c.backward,
                                                  .buckets = static_cast<std::uint32_t>(c.buckets),
                                                  .slowness = slowness},
                                                 static_cast<std::uint32_t>(planned.nics.size()));
    for (std::size_t r = 0; r < planned.nics.size(); ++r) {
      if (lab_.find(planned.nics[r].node)->agent) continue;
      Nic& nic = nics_[planned.nics[r]];
      ++nic.ranks;
      nic.qps += static_cast<std::uint32_t>(roce::CollectiveConnection::qps(planned.programs[r]));
    }
    collectives_.push_back(std::move(planned));
  }
}

CollectiveConfig RoceNics::config_of(std::size_t collective) const {
  const spec::CollectiveSpec& c = lab_.collectives[collective];
  return {.index = static_cast<std::uint32_t>(collective),
          .element = c.element_octets(),
          .repeats = static_cast<std::uint32_t>(c.repeats),
          .start = Instant{} + c.start,
          .gap = c.gap,
          .reduce_rate = c.reduce_rate,
          .seed = lab_.run.seed.value,
          .jitter_ppm = c.jitter_ppm,
          .stop = lab_.run.duration ? Instant{} + *lab_.run.duration : Instant::never()};
}

std::pair<std::vector<Collective>, std::vector<AgentCollective>> RoceNics::make_collectives(const Way& way) {
  std::vector<Collective> made;
  std::vector<AgentCollective> with_agents;
  for (std::size_t i = 0; i < collectives_.size(); ++i) {
    const spec::CollectiveSpec& c = lab_.collectives[i];
    Planned& planned = collectives_[i];
    if (spec::has_agents(lab_, planned.nics)) {
      with_agents.push_back(make_with_agents(i, std::move(planned), way));
      continue;
    }
    const spec::TrafficSpec like = like_traffic(c);
    std::vector<roce::CollectiveEnd> ends;
    for (const spec::PortName& nic : planned.nics) {
      const spec::RoceNicSpec& s = settings(nic);
      ends.push_back({nics_.at(nic).endpoint, attributes_of(s, c.path_mtu), selective_repeat_of(s)});
    }
    auto ranks = roce::CollectiveConnection::make(
        config_of(i), std::move(planned.programs), ends,
        [&](std::uint32_t from, std::uint32_t to) { return way(planned.nics[from], planned.nics[to], like); },
        mix64(lab_.run.seed.value ^ hash_string("collective/" + c.name)));
    made.push_back({i, std::move(planned.nics), std::move(ranks)});
  }
  collectives_.clear();
  return {std::move(made), std::move(with_agents)};
}

AgentCollective RoceNics::make_with_agents(std::size_t collective, Planned planned, const Way& way) {
  const spec::CollectiveSpec& c = lab_.collectives[collective];
  const spec::TrafficSpec like = like_traffic(c);
  const auto n = static_cast<std::uint32_t>(planned.nics.size());
  AgentCollective made{.spec = collective, .config = config_of(collective), .programs = planned.programs};
  made.chance = mix64(lab_.run.seed.value ^ hash_string("collective/" + c.name));
  // When they start is said once the agents are ready.
  made.config.start = Instant::never();
  std::vector<roce::CollectiveEnd> ends;
  for (std::uint32_t r = 0; r < n; ++r) {
    const spec::PortName& nic = planned.nics[r];
    const auto found = nics_.find(nic);
    made.attributes.push_back(attributes_of(settings(nic), c.path_mtu));
    made.addresses.push_back(way(planned.nics[(r + 1) % n], nic, like).destination);
    ends.push_back({lab_.find(nic.node)->agent ? nullptr : found->second.endpoint, made.attributes[r], {}});
  }
  for (std::uint32_t from = 0; from < n; ++from)
    for (std::uint32_t to = 0; to < n; ++to)
      if (ends[from].nic != nullptr && ends[to].nic == nullptr)
        made.ways[{from, to}] = way(planned.nics[from], planned.nics[to], like);
  made.ranks = roce::CollectiveConnection::make_those_here(
      made.config, std::move(planned.programs), ends,
      [&](std::uint32_t from, std::uint32_t to) { return way(planned.nics[from], planned.nics[to], like); },
      made.chance);
  for (std::uint32_t r = 0; r < n; ++r)
    if (!made.is_agents(r)) made.programs[r] = {};
  made.nics = std::move(planned.nics);
  return made;
}

const spec::RoceNicSpec& RoceNics::settings(const spec::PortName& name) const {
  return lab_.hosts.at(lab_.find(name.node)->profile).roce;
}

roce::EngineConfig RoceNics::engine_config(const spec::PortName& name, const Nic& nic) const {
  roce::EngineConfig c = settings_of(lab_, name, nic.rate);
  c.first_qpn = kFirstQp + nic.generator_flows;
  c.most_qps = nic.qps;
  return c;
}

std::uint32_t RoceNics::first_free_qpn(const spec::PortName& name) const {
  const auto found = nics_.find(name);
  return found == nics_.end() ? kFirstQp : kFirstQp + found->second.generator_flows + found->second.qps;
}

roce::EngineConfig RoceNics::settings_of(const spec::Lab& lab, const spec::PortName& name, BitRate rate) {
  const spec::HostProfile& host = lab.hosts.at(lab.find(name.node)->profile);
  roce::EngineConfig c;
  c.ack_every = static_cast<std::uint32_t>(host.roce.ack_every);
  c.window_packets = static_cast<std::uint32_t>(host.roce.window);
  if (host.roce.congestion == spec::RoceCongestion::kDcqcn) c.congestion = dcqcn_of(host.roce.dcqcn, rate);
  if (host.roce.congestion == spec::RoceCongestion::kSwift) c.congestion = swift_of(host.roce.swift);
  c.cnp = cnp_of(host.roce, lab.qos.at(host.qos));
  return c;
}

void RoceNics::connect(Flow& flow, const roce::FlowConfig& config, const roce::AddressVector& forth,
                       const roce::AddressVector& back) {
  const spec::RoceTraffic& t = lab_.traffic[flow.plan.traffic].roce;
  const auto end = [&](const spec::PortName& nic, const roce::AddressVector& av) {
    const spec::RoceNicSpec& s = settings(nic);
    return roce::FlowEnd{nics_.at(nic).endpoint, av, attributes_of(s, t.path_mtu), selective_repeat_of(s)};
  };
  const roce::FlowEnd source = end(flow.plan.source, forth);
  const roce::FlowEnd sink = end(flow.plan.destination, back);
  flow.source = source.nic;
  flow.sink = sink.nic;
  flow.places = roce::FlowConnection::make(config, source, sink, mix64(lab_.run.seed.value ^ mix64(flow.plan.id)));
}

std::unique_ptr<Endpoint> RoceNics::drive(const spec::PortName& name, std::unique_ptr<TrafficGenerator> generator) {
  const auto found = nics_.find(name);
  if (found == nics_.end() || found->second.owned == nullptr) return generator;
  Nic& nic = found->second;
  if (nic.generator_flows == 0 && nic.generator_sends == 0) return std::move(nic.owned);
  return std::make_unique<SplitEndpoint>(std::move(generator), std::move(nic.owned), kFirstQp + nic.generator_flows,
                                         nic.generator_sends);
}

std::shared_ptr<bool> RoceNics::others_changed(const std::string& host) const {
  const auto found = networks_.find(host);
  return found == networks_.end() ? nullptr : found->second->changed();
}

std::vector<roce::FlowEndpoint*> RoceNics::endpoints() const {
  std::vector<roce::FlowEndpoint*> all;
  for (const auto& [name, nic] : nics_)
    if (nic.endpoint != nullptr) all.push_back(nic.endpoint);
  return all;
}

}  // namespace railyard::build
