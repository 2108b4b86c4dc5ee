#include "control/build/built_lab.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/build/allocated.h"
#include "control/build/built_switches.h"
#include "control/build/device_settings.h"
#include "control/build/link_credits.h"
#include "control/build/nic_clocks.h"
#include "control/build/roce_nics.h"
#include "control/build/uet_echo.h"
#include "control/build/uet_nics.h"
#include "control/routing/graph.h"
#include "control/routing/shortest_paths.h"
#include "control/spec/addresses.h"
#include "control/spec/frame_tags.h"
#include "control/spec/pcie.h"
#include "control/spec/spec_error.h"
#include "control/spec/telemetry_octets.h"
#include "dataplane/base/hash.h"
#include "dataplane/port/pcap_endpoint.h"

namespace railyard::build {
using spec::SpecError;

// Makes one BuiltLab; gone when it is made.
class BuiltLab::Builder {
 public:
  explicit Builder(BuiltLab& built)
      : built_(built),
        lab_(built.lab_),
        graph_(*(built.graph_ = std::make_unique<routing::Graph>(lab_))),
        routes_(*(built.routes_ = std::make_unique<routing::Routes>(routing::shortest_paths(routed_graph(built))))),
        switches_(lab_, graph_, routes_) {}

  void run() {
    note(built_.memory_.routing);
    plan_traffic();
    note(built_.memory_.traffic);
    for (std::size_t n = 0; n < lab_.nodes.size(); ++n) {
      if (n > 0 && graph_.is_switch(n) != graph_.is_switch(n - 1)) note_nodes(n - 1);
      built_.by_name_.emplace(lab_.nodes[n].name, built_.fabric_.next_id());
      built_.link_of_.emplace_back(graph_.is_host(n) ? lab_.nodes[n].nics.size() : graph_.ports(n));
      for (const routing::Graph::Edge& e : graph_.edges(n)) built_.link_of_[n][e.port.index()] = e.link + 1;
      if (graph_.is_switch(n))
        add_switch(n);
      else if (graph_.is_trunk(n))
        add_trunk(n);
      else
        add_host(n);
    }
    if (!lab_.nodes.empty()) note_nodes(lab_.nodes.size() - 1);
    built_.service_nics_ = services_->nics();
    built_.rping_runs_ = services_->rping_runs();
    for (const spec::LinkSpec& l : lab_.links) {
      // A trunk's propagation passes between the two daemons.
      const bool trunk = graph_.is_trunk(graph_.node(l.a.node)) || graph_.is_trunk(graph_.node(l.b.node));
      Link link{built_.port(l.a), built_.port(l.b), l.rate, trunk ? Duration{} : l.delay};
      link.framing = l.framing;
      if (l.llr) link.retry = retry_of(*l.llr);
      link.credits_at_a = credits_at(lab_, l, l.a);
      link.credits_at_b = credits_at(lab_, l, l.b);
      built_.fabric_.connect(link);
    }
    note(built_.memory_.links);
    for (const ScaleUpNetworks::Pair& p : networks_.pairs())
      built_.fabric_.add_side_link({built_.by_name_.at(p.from), built_.by_name_.at(p.to), p.latency, p.wake});
    if (std::ranges::any_of(lab_.traffic, [](const spec::TrafficSpec& t) { return !t.triggers.empty(); }))
      built_.triggers_ = std::make_unique<FlowTriggers>(lab_, built_.flows_, built_.fabric_);
  }

 private:
  // What was allocated since the last time goes to `where`.
  void note(std::int64_t& where) {
    const std::int64_t now = allocated_octets();
    where += now - std::exchange(allocated_, now);
  }
  // The nodes up to `n` that were made last, which are all switches or none.
  void note_nodes(std::size_t n) { note(graph_.is_switch(n) ? built_.memory_.switches : built_.memory_.hosts); }

  static const routing::Graph& routed_graph(BuiltLab& built) {
    built.whole_ = built.lab_.whole.lab;
    if (built.whole_ != nullptr) built.whole_graph_ = std::make_unique<routing::Graph>(*built.whole_);
    return built.routed_graph();
  }

  struct Ends {
    std::vector<TxFlowConfig> sends;
    std::vector<RxFlowConfig> receives;
  };

  const spec::QosProfile& qos_of(const spec::NodeSpec& node) const {
    return lab_.qos.at(node.kind == spec::NodeSpec::Kind::kSwitch ? lab_.switches.at(node.profile).qos
                                                                  : lab_.hosts.at(node.profile).qos);
  }
  const spec::NicSpec& nic(const spec::PortName& p) const {
    return lab_.find(p.node)->nics[static_cast<std::size_t>(p.port) - 1];
  }

  bool is_agents(const spec::PortName& p) const { return lab_.find(p.node)->agent.has_value(); }

  // ---- Traffic ----

  void plan_traffic() {
    std::vector<workload::FlowPlan> plans = workload::plan_flows(lab_);
    using Transport = spec::CollectiveTransport;
    roce_ = std::make_unique<RoceNics>(lab_, plans, plan_collectives(lab_, Transport::kRoce), networks_, clocks_);
    uet_ = std::make_unique<UetNics>(lab_, plans, plan_collectives(lab_, Transport::kUet), networks_, clocks_);
    services_ = std::make_unique<ServiceNics>(lab_);
    for (workload::FlowPlan& plan : plans) {
      const spec::TrafficSpec& t = lab_.traffic[plan.traffic];
      const Instant start = Instant{} + t.start + t.stagger * static_cast<std::int64_t>(plan.index);
      if (t.is_rping()) {
        const roce::AddressVector way = way_of(plan.source, plan.destination, t);
        services_->add_client(std::move(plan), way, start, stop_of(t));
        continue;
      }
      Flow flow;
      flow.priority = class_at(plan.source, t);
      flow.rate = t.rate.value_or(BitRate{});
      flow.total = plan.bytes.value_or(t.bytes);
      flow.start = (plan.start ? Instant{} + *plan.start : start) + clocks_.phase(plan.source, octets_per_frame(t));
      if (!t.listed.empty() && t.listed[plan.index].trigger != 0) flow.start = Instant::never();
      flow.stop = stop_of(t);
      flow.ect = t.ect;
      flow.plan = std::move(plan);
      if (t.is_roce() && (is_agents(flow.plan.source) || is_agents(flow.plan.destination))) {
        if (!t.triggers.empty())
          throw SpecError(
              t.place,
              fmt::format("flow {} ends at an agent's host, and {} has triggers; expected built-in hosts at both ends",
                          flow.plan.name, t.file));
        const roce::FlowConfig c = message_flow(t, flow);
        const roce::AddressVector forth = way_of(flow.plan.source, flow.plan.destination, t);
        const roce::AddressVector back = way_of(flow.plan.destination, flow.plan.source, t);
        built_.agent_flows_.push_back(roce_->make_with_agents(std::move(flow.plan), c, forth, back));
        continue;
      }
      if (t.is_roce())
        add_roce_flow(t, flow);
      else if (t.is_uet())
        add_uet_flow(t, flow);
      else
        add_generator_flow(t, flow);
      built_.flows_.push_back(std::move(flow));
    }
    std::tie(built_.collectives_, built_.agent_collectives_) = roce_->make_collectives(
        [this](const auto& from, const auto& to, const spec::TrafficSpec& like) { return way_of(from, to, like); });
    std::ranges::move(uet_->make_collectives([this](const auto& from, const auto& to, const spec::TrafficSpec& like) {
                        return uet_way_of(from, to, like);
                      }),
                      std::back_inserter(built_.collectives_));
    std::ranges::sort(built_.collectives_, {}, &Collective::spec);
    built_.roce_ = roce_->endpoints();
    built_.uet_ = uet_->endpoints();
    if (lab_.run.budgets.scale_out) {
      for (const RoceNics::Named& nic : built_.roce_) nic.endpoint->time_ranks();
      for (const UetNics::Named& nic : built_.uet_) nic.endpoint->time_ranks();
    }
  }

  static std::uint32_t octets_per_frame(const spec::TrafficSpec& t) noexcept {
    return t.has_messages() ? static_cast<std::uint32_t>(t.roce.path_mtu) : t.payload;
  }

  void add_generator_flow(const spec::TrafficSpec& t, Flow& flow) {
    Ends& to = ends_[flow.plan.destination];
    Ends& from = ends_[flow.plan.source];
    const roce::AddressVector way = way_of(flow.plan.source, flow.plan.destination, t);
    TxFlowConfig c;
    c.id = flow.plan.id;
    c.source_mac = way.source_mac;
    c.next_hop_mac = way.next_hop_mac;
    c.source = way.source;
    c.destination = way.destination;
    c.source_port = static_cast<std::uint16_t>(0xC000 | (mix64(lab_.run.seed.value ^ mix64(c.id)) & 0x3FFF));
    c.destination_qp = static_cast<std::uint32_t>(RoceNics::kFirstQp + to.receives.size());
    c.dscp = way.dscp;
    c.ect = way.ect;
    c.priority = way.priority;
    c.tag = way.tag;
    c.payload = t.payload;
    c.rate = flow.rate;
    c.total = flow.total;
    c.start = flow.start;
    c.stop = stop_of(t);
    c.on = t.on;
    c.off = t.off;
    c.slower_ppb = clocks_.of(flow.plan.source).slower_ppb;
    c.gap_jitter = clocks_.gap_jitter(flow.plan.source, t);
    c.chance = RngStream(lab_.run.seed, flow.plan.name + "/gaps");
    flow.tx_index = from.sends.size();
    to.receives.push_back({c.id, c.destination_qp, c.payload, c.stop});
    from.sends.push_back(std::move(c));
  }

  void add_roce_flow(const spec::TrafficSpec& t, Flow& flow) {
    static_assert(static_cast<int>(spec::RoceOperation::kRead) == static_cast<int>(FlowOperation::kRead) &&
                  static_cast<int>(spec::RoceOperation::kSend) == static_cast<int>(FlowOperation::kSend));
    const roce::FlowConfig c = message_flow(t, flow);
    roce_->connect(flow, c, way_of(flow.plan.source, flow.plan.destination, t),
                   way_of(flow.plan.destination, flow.plan.source, t));
  }

  void add_uet_flow(const spec::TrafficSpec& t, Flow& flow) {
    static_assert(static_cast<int>(spec::UetService::kRod) == static_cast<int>(uet::DeliveryMode::kRod) &&
                  static_cast<int>(spec::UetService::kUud) == static_cast<int>(uet::DeliveryMode::kUud));
    uet::FlowConfig c{message_flow(t, flow), static_cast<uet::DeliveryMode>(t.service), t.tagged};
    if (!t.listed.empty()) c.connection = t.listed[flow.plan.index].connection;
    if (t.service == spec::UetService::kUud) {
      c.operation = FlowOperation::kSend;
      c.message = std::min(c.message, static_cast<std::uint32_t>(t.roce.path_mtu));
    }
    uet_->connect(flow, c, uet_way_of(flow.plan.source, flow.plan.destination, t),
                  uet_way_of(flow.plan.destination, flow.plan.source, t));
  }

  uet::AddressVector uet_way_of(const spec::PortName& from, const spec::PortName& to,
                                const spec::TrafficSpec& t) const {
    const roce::AddressVector v = way_of(from, to, t);
    return {v.source_mac, v.next_hop_mac, v.source, v.destination};
  }

  FlowConfig message_flow(const spec::TrafficSpec& t, const Flow& flow) const {
    FlowConfig c;
    c.id = flow.plan.id;
    c.operation = static_cast<FlowOperation>(t.roce.operation);
    c.total = flow.total;
    c.message = t.roce.message;
    // Less than a message is one, and its receiver keeps no more room for it.
    if (c.total.n > 0) c.message = static_cast<std::uint32_t>(std::min<std::int64_t>(c.message, c.total.n));
    c.outstanding = static_cast<std::uint32_t>(t.roce.outstanding);
    c.qps = static_cast<std::uint32_t>(t.roce.qps);
    c.receives = static_cast<std::uint32_t>(t.roce.receives.value_or(t.roce.outstanding));
    c.repost_after = t.roce.repost_after;
    c.rate = flow.rate;
    c.start = flow.start;
    c.stop = stop_of(t);
    return c;
  }

  Instant stop_of(const spec::TrafficSpec& t) const {
    // With a load, `stop` is when flows arrive no more.
    const Instant stop = t.stop && !t.load ? Instant{} + *t.stop : Instant::never();
    return lab_.run.duration ? std::min(stop, Instant{} + *lab_.run.duration) : stop;
  }

  // Of what a NIC sends for the traffic.
  Priority class_at(const spec::PortName& nic, const spec::TrafficSpec& t) const {
    return Priority{static_cast<std::uint8_t>(
        t.priority ? *t.priority : qos_of(*lab_.find(nic.node)).dscp_to_class[static_cast<std::size_t>(t.dscp)])};
  }

  // From one NIC to another, without its UDP source port.
  roce::AddressVector way_of(const spec::PortName& from, const spec::PortName& to, const spec::TrafficSpec& t) const {
    return {.source_mac = nic(from).mac.value_or(wire::MacAddress{}),
            .next_hop_mac = next_hop_mac(from),
            .source = address(from, t),
            .destination = address(to, t),
            .dscp = static_cast<std::uint8_t>(t.dscp),
            .ect = t.ect,
            .priority = class_at(from, t),
            .tag = frame_tag_of(lab_, from, t)};
  }

  wire::IpAddress address(const spec::PortName& p, const spec::TrafficSpec& t) const {
    const auto& a = t.ip_version == 4 ? nic(p).address_v4 : nic(p).address_v6;
    if (!a)
      throw SpecError(t.place,
                      fmt::format("traffic {}: {}:{} has no IPv{} address", t.name, p.node, p.port, t.ip_version));
    return *a;
  }

  wire::MacAddress next_hop_mac(const spec::PortName& p) const {
    const std::size_t n = graph_.node(p.node);
    for (const routing::Graph::Edge& e : graph_.edges(n))
      if (e.port.value == p.port - 1) return mac_of(lab_, e.neighbour, e.neighbour_port).value_or(wire::MacAddress{});
    return {};
  }

  // ---- Hosts ----

  void add_host(std::size_t n) {
    const spec::NodeSpec& node = lab_.nodes[n];
    const spec::HostProfile& profile = lab_.hosts.at(node.profile);
    const spec::QosProfile& qos = qos_of(node);
    static_assert(spec::kMostNics <= static_cast<int>(kMaxNics));
    HostConfig config;
    config.latency = profile.latency;
    config.pause_response = profile.pause_response.value_or(Duration{});
    config.pause_quanta = static_cast<std::uint16_t>(profile.pause_quanta);
    config.real_payload = lab_.run.payload == spec::Payload::kReal;
    config.fecs = routes_.fecs;
    config.others_changed = networks_.others_changed(node.name);
    config.shared = networks_.shared(node.name);
    config.buses = buses_of(n);
    std::vector<NicDriver> drivers;
    for (std::size_t p = 0; p < node.nics.size(); ++p) {
      const spec::NicSpec& nic_spec = node.nics[p];
      NicConfig c;
      c.mac = nic_spec.mac.value_or(wire::MacAddress{});
      c.address_v4 = nic_spec.address_v4;
      c.address_v6 = nic_spec.address_v6;
      c.mtu = static_cast<std::uint32_t>(link_at(n, p).mtu);
      c.telemetry_octets = spec::telemetry_octets(lab_);
      c.trust = trust_map(qos);
      for (std::size_t k = 0; k < kPriorities; ++k) c.scheduling[k] = scheduling_of(qos.classes[k]);
      std::optional<BitRate> taken = profile.receive.rate;
      const bool shares = std::ranges::any_of(
          config.buses, [&](const BusConfig& b) { return std::ranges::find(b.nics, PortIndex{static_cast<std::uint16_t>(p)}) != b.nics.end(); });
      if (const auto bus = spec::pcie_rate(lab_, node); bus && (shares || *bus < link_at(n, p).rate)) {
        c.bus = *bus;
        taken = std::min(*bus, taken.value_or(*bus));
      }
      c.receive = {taken.value_or(BitRate{}),
                   profile.receive.buffer,
                   profile.receive.xoff,
                   profile.receive.xon,
                   lossless_classes(qos),
                   classes_with_credits(qos)};
      c.pfc = pfc_of(lab_, node, static_cast<int>(p) + 1, link_at(n, p).rate);
      if (const auto tags = spec::tags_of(lab_, {node.name, static_cast<int>(p) + 1})) {
        c.vid = static_cast<std::uint16_t>(tags->vid);
        for (std::size_t k = 0; k < kPriorities; ++k) c.pcp_of_class[k] = static_cast<std::uint8_t>(tags->pcp[k]);
      }
      c.clock = clocks_.of({node.name, static_cast<int>(p) + 1});
      config.nics.push_back(c);
      drivers.push_back(make_driver(node, p, c));
    }
    built_.fabric_.add<Host>(node.name, std::move(config), std::move(drivers));
  }

  // What NICs of a host share, where it carries less than their links.
  std::vector<BusConfig> buses_of(std::size_t n) const {
    std::vector<BusConfig> buses;
    for (const spec::PcieGroup& group : spec::pcie_groups(lab_, lab_.nodes[n])) {
      BusConfig& bus = buses.emplace_back(BusConfig{group.uplink, {}});
      std::int64_t links = 0;
      for (const int nic : group.nics) {
        bus.nics.push_back(PortIndex{static_cast<std::uint16_t>(nic - 1)});
        links += link_at(n, static_cast<std::size_t>(nic) - 1).rate.bps;
      }
      if (links <= group.uplink.bps) buses.pop_back();
    }
    return buses;
  }

  bool has_uet_traffic(const spec::PortName& nic) const {
    const auto all = uet_->endpoints();
    return std::ranges::find(all, nic, &UetNics::Named::name) != all.end();
  }

  // Devices outside are attached later: they need an engine's packets.
  NicDriver make_driver(const spec::NodeSpec& node, std::size_t p, const NicConfig& nic_config) {
    const spec::Attachment& attach = node.nics[p].attach;
    const spec::PortName name{node.name, static_cast<int>(p) + 1};
    NicDriver driver;
    if (std::holds_alternative<std::monostate>(attach))
      driver.endpoint = services_->drive(name, nic_config, next_hop_mac(name), link_at(graph_.node(node.name), p),
                                         roce_->drive(name, make_generator(name)), roce_->first_free_qpn(name));
    if (driver.endpoint != nullptr) driver.endpoint = uet_->drive(name, std::move(driver.endpoint));
    if (driver.endpoint != nullptr && has_applications_ && !has_uet_traffic(name))
      driver.endpoint = with_uet_echo(lab_, name, link_at(graph_.node(node.name), p), std::move(driver.endpoint));
    if (const auto* pcap = std::get_if<spec::AttachPcap>(&attach)) {
      PcapEndpointConfig c;
      c.in = pcap->in;
      c.as_fast_as_possible = pcap->as_fast_as_possible;
      c.next_hop_mac = next_hop_mac(name);
      c.dscp_to_class = nic_config.trust.dscp_to_class;
      c.pcp_to_class = nic_config.trust.pcp_to_class;
      c.trust_pcp = nic_config.trust.trust == Trust::kPcp;
      c.default_class = nic_config.trust.default_class;
      try {
        auto endpoint = std::make_unique<PcapEndpoint>(c);
        built_.pcaps_.push_back(endpoint.get());
        built_.pcap_nics_.push_back({name, pcap->in, pcap->out});
        if (!pcap->out.empty()) built_.outputs_.push_back({endpoint.get(), name, pcap->out, node.nics[p].place});
        driver.endpoint = std::move(endpoint);
      } catch (const std::runtime_error& error) {
        throw SpecError(node.nics[p].place, error.what());
      }
    }
    return driver;
  }

  std::unique_ptr<TrafficGenerator> make_generator(const spec::PortName& name) {
    Ends& e = ends_[name];
    const spec::LinkSpec& link = link_at(graph_.node(name.node), static_cast<std::size_t>(name.port) - 1);
    const Framing framing = link.framing;
    for (TxFlowConfig& c : e.sends) {
      c.framing = c.tag.vid >= 0 ? with_tag(framing) : framing;
      c.link = link.rate;
    }
    auto generator = std::make_unique<TrafficGenerator>(std::move(e.sends), e.receives);
    if (!generator->has_flows()) return generator;  // a NIC with another endpoint does without it
    built_.generators_.push_back(generator.get());
    for (Flow& f : built_.flows_) {
      if (!f.is_generated()) continue;
      if (f.plan.source == name) f.sender = generator.get();
      if (f.plan.destination == name) f.receiver = generator.get();
    }
    return generator;
  }

  const spec::LinkSpec& link_at(std::size_t node, std::size_t port) const {
    return lab_.links[built_.link_of_[node][port] - 1];
  }

  // ---- Trunks ----

  // What carries it is connected later: sockets are opened when the rest stands.
  void add_trunk(std::size_t n) {
    const spec::NodeSpec& node = lab_.nodes[n];
    const routing::Graph::Edge& e = graph_.edges(n).at(0);
    const spec::LinkSpec& link = lab_.links[e.link];
    const auto in_modelled_time = [this](Duration wall) {
      return Duration{static_cast<std::int64_t>(static_cast<Int128>(wall.ps) * lab_.run.scale_numerator /
                                                lab_.run.scale_denominator)};
    };
    TrunkEndConfig config;
    config.terms = {link.rate, link.delay, static_cast<std::uint32_t>(link.mtu),
                    static_cast<std::uint32_t>(lab_.run.scale_numerator),
                    static_cast<std::uint32_t>(lab_.run.scale_denominator)};
    config.mac = port_mac(n, PortIndex{0});
    config.peer_mac = port_mac(e.neighbour, e.neighbour_port);
    config.trust = trust_map(lab_.qos.at(lab_.switches.at(lab_.nodes[e.neighbour].profile).qos));
    config.fecs = routes_.fecs;
    config.ping_every = in_modelled_time(config.ping_every);
    config.timeout = in_modelled_time(node.trunk.timeout);
    config.reorder_wait = in_modelled_time(config.reorder_wait);
    built_.fabric_.add<TrunkEnd>(node.name, std::move(config));
  }

  // ---- Switches ----

  void add_switch(std::size_t n) {
    const spec::NodeSpec& node = lab_.nodes[n];
    SwitchConfig config = switches_.of(n, built_.fabric_.next_id(), built_.headrooms_);
    try {
      built_.fabric_.add<Switch>(node.name, std::move(config));
    } catch (const std::invalid_argument& error) {
      throw SpecError(node.place, error.what());
    }
  }

  std::int64_t allocated_ = allocated_octets();
  BuiltLab& built_;
  const spec::Lab& lab_;
  const routing::Graph& graph_;
  const routing::Routes& routes_;
  BuiltSwitches switches_;
  NicClocks clocks_{lab_};
  std::map<spec::PortName, Ends> ends_;
  ScaleUpNetworks networks_{lab_};
  std::unique_ptr<RoceNics> roce_;
  std::unique_ptr<UetNics> uet_;
  std::unique_ptr<ServiceNics> services_;
  bool has_applications_ = has_applications(lab_);
};

BuiltLab::BuiltLab(spec::Lab lab, Outputs outputs) : lab_(std::move(lab)) {
  Builder(*this).run();
  if (outputs == Outputs::kOpen) open_outputs();
}
BuiltLab::~BuiltLab() = default;

}  // namespace railyard::build
