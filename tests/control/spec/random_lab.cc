#include "tests/control/spec/random_lab.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "control/collectives/registry.h"
#include "control/spec/addresses.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::spec {
namespace {

class Chance {
 public:
  explicit Chance(std::mt19937_64& random) : random_(random) {}

  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  int integer(int least, int most) { return static_cast<int>(number(least, most)); }
  Bytes bytes(std::int64_t least, std::int64_t most) { return {one_in(2) ? number(least, most) : round(least, most)}; }
  Duration time(std::int64_t least, std::int64_t most) {
    return {one_in(2) ? number(least, most) : round(least, most)};
  }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + number(0, static_cast<std::int64_t>(choices.size()) - 1));
  }
  template <class List>
  auto of(const List& choices) {
    return *(std::begin(choices) + number(0, std::ssize(choices) - 1));
  }

 private:
  // Few digits, as people write them.
  std::int64_t round(std::int64_t least, std::int64_t most) {
    std::int64_t unit = 1;
    for (int i = integer(0, 9); i > 0 && unit * 10 < most; --i) unit *= 10;
    return std::clamp(number(least, most) / unit * unit, least, most);
  }

  std::mt19937_64& random_;
};

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kMillisecond = 1'000'000'000;

Ecn random_ecn(Chance& chance, bool lossless) {
  Ecn ecn;
  if (chance.one_in(3)) return ecn;
  ecn.enabled = true;
  ecn.auto_thresholds = chance.one_in(2);
  if (!ecn.auto_thresholds) {
    ecn.kmin = chance.bytes(0, kMiB);
    ecn.kmax = ecn.kmin + chance.bytes(0, kMiB);
  }
  if (chance.one_in(2)) ecn.pmax_ppm = static_cast<std::uint32_t>(chance.number(0, 1'000'000));
  ecn.at_dequeue = chance.one_in(3);
  ecn.drop_not_ect = !lossless && chance.one_in(3);
  return ecn;
}

PathSpec random_path(Chance& chance) {
  PathSpec p;
  const PathPolicyInfo& policy =
      kPathPolicies[static_cast<std::size_t>(chance.integer(0, static_cast<int>(std::size(kPathPolicies)) - 1))];
  p.policy = policy.policy;
  for (const PathParameter& parameter : policy.parameters) {
    const auto needed = std::ranges::find(policy.parameters, parameter.needs, &PathParameter::key);
    if (needed != policy.parameters.end() && needed->read(p) == 0) continue;
    if (chance.one_in(2)) parameter.write(p, chance.number(parameter.least, parameter.most));
  }
  return p;
}

TrafficClass random_class(Chance& chance) {
  TrafficClass c;
  if (chance.one_in(3)) return c;
  c.lossless = chance.one_in(2);
  c.reserved = chance.bytes(0, kMiB);
  if (chance.one_in(3)) {
    c.xoff = chance.bytes(2 * kMiB, 4 * kMiB);
  } else {
    c.alpha_exponent = chance.integer(-8, 7);
  }
  if (c.lossless) {
    if (chance.one_in(2)) c.headroom = chance.bytes(1, kMiB);
    if (chance.one_in(2)) c.xon_offset = chance.bytes(0, kMiB);
    c.accept_loss = chance.one_in(3);
    if (chance.one_in(3)) {
      c.cbfc.emplace();
      if (chance.one_in(2)) c.cbfc->credits = chance.bytes(1, kMiB);
      if (chance.one_in(2)) c.cbfc->update = chance.bytes(1, kMiB);
      if (chance.one_in(2)) c.cbfc->sync = chance.time(1'000'000, 1'000'000'000);
    }
  } else {
    if (chance.one_in(4))
      c.trim = Trim{static_cast<std::uint32_t>(chance.integer(96, 9238)), chance.integer(0, 63), chance.integer(0, 7),
                    chance.one_in(3) ? std::optional(chance.integer(0, 63)) : std::nullopt, chance.one_in(2)};
    if (chance.one_in(3))
      c.queue_limit = chance.bytes(1, kMiB);
    else
      c.queue_alpha_exponent = chance.integer(-8, 7);
  }
  c.queue_reserved = chance.bytes(0, kMiB);
  c.ecn = random_ecn(chance, c.lossless);
  if (!c.lossless && chance.one_in(3)) {
    const auto ramp = [&] {
      const Bytes min = chance.bytes(0, kMiB);
      return WredRamp{min, min + chance.bytes(0, kMiB), static_cast<std::uint32_t>(chance.number(0, 1'000'000))};
    };
    c.drop.all = ramp();
    if (chance.one_in(2)) c.drop.all.reset();
    if (!c.drop.all || chance.one_in(3)) c.drop.ect = ramp();
    if (chance.one_in(3)) c.drop.not_ect = ramp();
  }
  c.strict = chance.one_in(4);
  if (!c.strict) c.weight = chance.integer(1, 1000);
  c.path = random_path(chance);
  if (chance.one_in(4)) c.remap_to = chance.integer(0, 7);
  if (chance.one_in(4)) c.least_frame = static_cast<std::uint32_t>(chance.integer(64, 9238));
  return c;
}

QosProfile random_qos(Chance& chance) {
  QosProfile qos;
  qos.trust = chance.of({Trust::kDscp, Trust::kPcp});
  for (int& to : qos.dscp_to_class)
    if (chance.one_in(8)) to = chance.integer(0, 7);
  for (int& to : qos.pcp_to_class)
    if (chance.one_in(4)) to = chance.integer(0, 7);
  qos.default_class = chance.integer(0, 7);
  for (TrafficClass& c : qos.classes) c = random_class(chance);
  // What is trimmed goes to another class, and a lossy one.
  for (std::size_t i = 0; i < qos.classes.size(); ++i) {
    std::optional<Trim>& trim = qos.classes[i].trim;
    if (trim && (static_cast<std::size_t>(trim->to_class) == i ||
                 qos.classes[static_cast<std::size_t>(trim->to_class)].lossless))
      trim.reset();
  }
  return qos;
}

SwitchProfile random_switch(Chance& chance) {
  SwitchProfile s;
  s.buffer = chance.bytes(kMiB, 256 * kMiB);
  s.cell = chance.bytes(64, 4096);
  if (chance.one_in(4)) s.ports = chance.integer(64, 4096);
  if (chance.one_in(4)) s.port_rate = BitRate{10'000'000'000'000};
  if (chance.one_in(4)) s.headroom_pool = chance.bytes(1, kMiB - 1);
  s.latency = chance.time(1, kMillisecond);
  if (chance.one_in(2)) s.pause_response = chance.time(1, kMillisecond);
  s.pause_quanta = chance.integer(1, 65535);
  if (chance.one_in(4)) {
    const Duration poll = chance.time(1'000'000, kMillisecond);
    s.pfc_watchdog = PfcWatchdog{poll + chance.time(0, kMillisecond), poll + chance.time(0, kMillisecond), poll,
                                 chance.of({PfcWatchdog::Action::kDrop, PfcWatchdog::Action::kForward,
                                            PfcWatchdog::Action::kAlert})};
  }
  s.mode = chance.of({ForwardingMode::kStoreAndForward, ForwardingMode::kCutThrough});
  s.ecmp = {.addresses = chance.one_in(2),
            .ports = chance.one_in(2),
            .destination_qp = chance.one_in(2),
            .uet_entropy = chance.one_in(2),
            .ingress_port = chance.one_in(2),
            .resilient = chance.one_in(2),
            .seed = {}};
  if (chance.one_in(2)) s.ecmp.seed = static_cast<std::uint64_t>(chance.number(0, INT64_MAX - 1)) * 2 + 1;
  s.qos = chance.of<std::string>({"default", "other"});
  return s;
}

Ratio random_part(Chance& chance) {
  constexpr std::int64_t kBelow = 1021;  // a prime, so that nothing is cancelled
  return {chance.number(1, kBelow - 1), kBelow};
}

roce::DcqcnConfig random_dcqcn(Chance& chance) {
  using roce::DcqcnConfig;
  DcqcnConfig d = DcqcnConfig::of(chance.of({DcqcnConfig::Profile::kPaper, DcqcnConfig::Profile::kVendor}));
  const auto period = [&] { return chance.time(100'000, kMillisecond); };
  const auto rate = [&] { return BitRate{chance.number(10'000, 1'000'000'000)}; };
  if (chance.one_in(4)) d.cut_at_once = !d.cut_at_once;
  if (chance.one_in(3)) d.alpha_period = period();
  if (chance.one_in(3)) d.increase_period = period();
  if (chance.one_in(3)) d.increase_bytes = chance.of({Bytes{}, Bytes{chance.number(64, kMiB)}});
  if (chance.one_in(3)) d.fast_recovery = chance.integer(0, 1000);
  if (chance.one_in(3)) d.g = random_part(chance);
  if (chance.one_in(3)) d.initial_alpha = random_part(chance);
  if (chance.one_in(3)) d.alpha_steps = chance.of({0, chance.integer(2, 1 << 20)});
  if (chance.one_in(3)) d.additive = rate();
  if (chance.one_in(3)) d.hyper = rate();
  if (chance.one_in(3)) d.least = rate();
  if (chance.one_in(3)) d.most = d.least * chance.number(1, 1000);
  if (d.cut_at_once) return d;
  if (chance.one_in(3)) d.cut_period = period();
  if (chance.one_in(3)) d.least_cut_factor = random_part(chance);
  if (chance.one_in(3)) d.clamp_target = true;
  if (chance.one_in(3)) d.clamp_target_after_increase = false;
  if (chance.one_in(3)) d.on_first_cnp = rate();
  return d;
}

RoceNicSpec random_roce(Chance& chance) {
  RoceNicSpec r;
  r.congestion = static_cast<std::size_t>(chance.integer(0, static_cast<int>(std::tuple_size_v<roce::CongestionKinds>)));
  r.settings_of<roce::Dcqcn>() = random_dcqcn(chance);
  roce::SwiftConfig& swift = r.settings_of<roce::Swift>();
  swift.base_target = chance.time(100'000, kMillisecond);
  if (chance.one_in(2)) swift.fs_range = {};
  swift.beta = random_part(chance);
  swift.max_cwnd = chance.integer(100, (1 << 23) - 1);
  // Of all hosts alike: flows would have to be between those that are.
  r.selective_repeat.bdp_packets = chance.integer(1, 64);
  r.selective_repeat.window_packets = chance.integer(64, 1 << 15);
  r.selective_repeat.rto_high = r.selective_repeat.rto_low * chance.integer(1, 100);
  if (chance.one_in(2)) r.cnp.interval = chance.time(0, kMillisecond);
  r.cnp.scope = chance.of({CnpSpec::Scope::kQp, CnpSpec::Scope::kDestinationIp, CnpSpec::Scope::kPort});
  r.cnp.dscp = chance.integer(0, 63);
  if (chance.one_in(2)) r.cnp.priority = chance.integer(0, 7);
  if (chance.one_in(3)) {
    r.ack.dscp = chance.integer(0, 63);
    if (chance.one_in(2)) r.ack.priority = chance.integer(0, 7);
  }
  r.ack_timeout = chance.integer(0, 31);
  r.retry_count = chance.integer(0, 7);
  r.rnr_retry = chance.integer(0, 7);
  r.min_rnr_timer = chance.integer(0, 31);
  r.ack_every = chance.integer(1, 65536);
  r.window = chance.integer(0, (1 << 23) - 1);
  r.max_reads = chance.integer(1, 128);
  return r;
}

HostProfile random_host(Chance& chance) {
  HostProfile h;
  h.latency = chance.time(1, kMillisecond);
  if (chance.one_in(2)) h.pause_response = chance.time(1, kMillisecond);
  h.pause_quanta = chance.integer(1, 65535);
  h.clock_error_ppb = static_cast<std::uint32_t>(chance.integer(0, 1'000'000));
  if (chance.one_in(2)) h.receive.rate = BitRate{chance.bytes(1'000'000, 1'000'000'000'000).n};
  h.receive.buffer = chance.bytes(kMiB, 16 * kMiB);
  h.receive.xoff = chance.bytes(1000, kMiB);
  h.receive.xon = chance.bytes(0, 999);
  h.roce = random_roce(chance);
  h.vlan = chance.of({HostProfile::kVlanAuto, HostProfile::kVlanOff, 0, chance.integer(1, 4094)});
  if (chance.one_in(2))
    h.scale_up = ScaleUpSpec{BitRate{1'000'000'000 * std::int64_t{chance.integer(1, 9000)}},
                             chance.time(1000, kMillisecond)};
  h.qos = chance.of<std::string>({"default", "other"});
  return h;
}

// `n`: makes what is attached unique.
Attachment random_attachment(Chance& chance, Clock clock, const std::string& n) {
  switch (clock == Clock::kWall ? chance.integer(0, 5) : 0) {
    case 0:
      return AttachPcap{chance.one_in(2) ? "in " + n : "", "out: #" + n, chance.one_in(2)};
    case 1:
      return AttachVhostUser{"/tmp/" + n + ".sock", chance.one_in(2)};
    case 2:
      return AttachTap{"tap" + n};
    case 3:
      return AttachNetdev{"eth" + n};
    case 4:
      return AttachMemif{"/tmp/" + n + ".memif", chance.one_in(2), static_cast<int>(chance.integer(0, 65535))};
    default:
      return AttachDpdk{"net_tap" + n + ",iface=tap" + n};
  }
}

NicSpec random_nic(Chance& chance, Clock clock, bool built_in, int n) {
  NicSpec nic;
  if (chance.one_in(4)) nic.mac = wire::MacAddress{{0x0A, 0, 0, 1, 0, static_cast<std::uint8_t>(n)}};
  if (chance.one_in(4)) nic.address_v4 = wire::IpAddress{0x0B000000u + static_cast<std::uint32_t>(n)};
  if (chance.one_in(4)) nic.address_v6 = wire::IpAddress::parse("fd01::" + std::to_string(n));
  if (!built_in && chance.one_in(2)) nic.attach = random_attachment(chance, clock, std::to_string(n));
  return nic;
}

VlanSpec random_vlan(Chance& chance) {
  VlanSpec vlan;
  vlan.native = chance.integer(1, 10);
  vlan.all_tagged = chance.one_in(3);
  if (!vlan.all_tagged)
    for (int v = 11; v < 20; ++v)
      if (chance.one_in(3)) vlan.tagged.push_back(v);
  return vlan;
}

// Switches in a row, hosts at any of them; h1..h4 have built-in traffic at port 1.
void add_nodes_and_links(Chance& chance, Lab& lab) {
  const int switches = chance.integer(1, 4);
  std::vector<int> ports(static_cast<std::size_t>(switches), 0);
  const auto next_port = [&](int s) {
    int& port = ports[static_cast<std::size_t>(s)];
    port += chance.integer(1, 2);
    if (chance.one_in(4)) lab.nodes[static_cast<std::size_t>(s)].vlans[port] = random_vlan(chance);
    return PortName{"s" + std::to_string(s), port};
  };
  const auto add_link = [&](PortName a, PortName b) {
    LinkSpec link;
    link.a = std::move(a);
    link.b = std::move(b);
    if (chance.one_in(2)) link.rate = BitRate{chance.bytes(1'000'000'000, 800'000'000'000).n};
    if (chance.one_in(3)) {
      link.cable = Length{chance.number(0, 1'000'000)};
      link.delay = propagation(*link.cable);
    } else if (chance.one_in(2)) {
      link.cable.reset();
      link.delay = chance.time(0, kMillisecond);
    }
    if (chance.one_in(3)) link.mtu = chance.integer(1500, 9216);
    if (chance.one_in(3)) link.weight = chance.integer(1, 1000);
    const bool cuts = std::ranges::any_of(
        lab.switches, [](const auto& s) { return s.second.mode == ForwardingMode::kCutThrough; });
    if (!cuts && chance.one_in(3)) link.llr = chance.one_in(2) ? LlrSpec{} : LlrSpec{chance.time(0, 1'000'000)};
    if (chance.one_in(3)) link.framing = {chance.integer(-48, 1000), chance.integer(0, 1000)};
    lab.links.push_back(link);
  };
  for (int s = 0; s < switches; ++s) {
    NodeSpec& node = lab.nodes.emplace_back();
    node.name = "s" + std::to_string(s);
    node.profile = chance.of<std::string>({"default", "other"});
    node.role = chance.of<std::string>({"", "leaf", "a role: of # its own", "null"});
    if (chance.one_in(4)) node.loopback_v4 = wire::IpAddress{0x0C000000u + static_cast<std::uint32_t>(s)};
    if (s > 0) {
      PortName before = next_port(s - 1);
      add_link(std::move(before), next_port(s));
    }
  }
  const int hosts = chance.integer(4, 9);
  for (int h = 1; h <= hosts; ++h) {
    NodeSpec host;
    host.name = "h" + std::to_string(h);
    host.kind = NodeSpec::Kind::kHost;
    host.profile = chance.of<std::string>({"default", "other"});
    const int nics = chance.one_in(2) ? 1 : chance.integer(1, 8);
    for (int n = 1; n <= nics; ++n) {
      host.nics.push_back(random_nic(chance, lab.run.clock, h <= 4 && n == 1, 10 * h + n));
      add_link({host.name, n}, next_port(chance.integer(0, switches - 1)));
    }
    lab.nodes.push_back(std::move(host));
  }
}

PfcMode random_pfc(Chance& chance) {
  return chance.of({PfcMode::kAuto, PfcMode::kOn, PfcMode::kOff, PfcMode::kRx, PfcMode::kTx});
}

// Of a class at some ports. XOFF is above all offsets that are drawn.
ClassOverride random_override(Chance& chance, const TrafficClass& c, bool buffer) {
  ClassOverride over;
  if (!(c.lossless && c.cbfc)) over.pfc = random_pfc(chance);
  if (!buffer) return over;
  if (chance.one_in(2)) over.xoff = chance.bytes(2 * kMiB, 4 * kMiB);
  if (!over.xoff && chance.one_in(2)) over.alpha_exponent = chance.integer(-8, 7);
  if (!c.lossless) return over;
  if (chance.one_in(2)) over.xon_offset = chance.bytes(0, kMiB);
  if (chance.one_in(2)) over.headroom = chance.bytes(1, kMiB);
  return over;
}

void draw_pfc(Chance& chance, Lab& lab) {
  for (auto& [name, qos] : lab.qos)
    for (TrafficClass& c : qos.classes) {
      if (!(c.lossless && c.cbfc) && chance.one_in(3)) c.pfc = random_pfc(chance);
      for (int n = chance.integer(-2, 2); n > 0; --n)
        c.by_rate[BitRate{chance.bytes(1'000'000'000, 800'000'000'000).n}] = random_override(chance, c, true);
    }
  for (auto& [name, host] : lab.hosts) host.pfc = random_pfc(chance);
  for (const LinkSpec& link : lab.links)
    for (const PortName& end : {link.a, link.b}) {
      if (!chance.one_in(4)) continue;
      NodeSpec& node = *std::ranges::find(lab.nodes, end.node, &NodeSpec::name);
      PortSpec& port = node.ports[end.port];
      port.pfc = random_pfc(chance);
      const int k = chance.integer(0, 7);
      const bool is_switch = node.kind == NodeSpec::Kind::kSwitch;
      const std::string& qos = is_switch ? lab.switches.at(node.profile).qos : lab.hosts.at(node.profile).qos;
      if (chance.one_in(2))
        port.classes[k] =
            random_override(chance, lab.qos.at(qos).classes[static_cast<std::size_t>(k)], is_switch);
    }
}

void set_random_roce(Chance& chance, TrafficSpec& t) {
  t.transport = TrafficSpec::Transport::kRoce;
  // Other NICs of these may be attached.
  if (t.to == std::vector<std::string>{"h1", "h2"}) t.to = {"h1:1", "h2:1"};
  t.roce.operation = chance.of({RoceOperation::kWrite, RoceOperation::kSend, RoceOperation::kRead});
  t.roce.message = static_cast<std::uint32_t>(chance.bytes(1, kMiB).n);
  t.roce.path_mtu = chance.of({256, 512, 1000, 1024});
  if (chance.one_in(4)) t.vlan = chance.integer(0, 4094);
  if (chance.one_in(4)) t.pcp = chance.integer(0, 7);
  if (chance.one_in(2)) t.roce.outstanding = 1;
  if (t.roce.operation != RoceOperation::kRead && chance.one_in(4)) t.roce.qp_type = RoceQpType::kUc;
  if (t.roce.operation != RoceOperation::kSend) return;
  if (chance.one_in(2)) t.roce.receives = 1;
  if (chance.one_in(2)) t.roce.repost_after = chance.time(0, kMillisecond);
}

CollectiveSpec random_collective(Chance& chance, const std::string& name) {
  CollectiveSpec c;
  c.name = name;
  c.collective = chance.of(collectives::kOperations);
  c.ranks = chance.of<std::vector<std::string>>({{"h1:1", "h2:1", "h3:1"}, {"h4:1", "h2:1"}});
  // Those that suit any ranks, or none.
  std::vector<CollectiveAlgorithm> suit = collectives::algorithms(c.collective);
  std::erase_if(suit, [](CollectiveAlgorithm a) { return a->refuse != nullptr; });
  if (chance.one_in(2)) c.algorithm = chance.of(suit);
  if (chance.one_in(2)) c.datatype = CollectiveDatatype::kUint64;
  c.size = Bytes{48 * chance.integer(1, 100'000)};
  if (chance.one_in(2)) c.chunk = static_cast<std::uint32_t>(8 * chance.integer(100, 1'000'000));
  c.channels = chance.integer(1, 4);
  if (c.collective == CollectiveOperation::kBroadcast) c.root = chance.integer(0, 1);
  c.repeats = chance.integer(1, 100);
  if (chance.one_in(2)) c.start = chance.time(0, kMillisecond);
  if (chance.one_in(2)) c.gap = chance.time(0, kMillisecond);
  if (chance.one_in(2)) c.reduce_rate = BitRate{1'000'000'000 * std::int64_t{chance.integer(1, 1000)}};
  if (c.collective == CollectiveOperation::kAllReduce && chance.one_in(2)) {
    c.backward = chance.time(1, kMillisecond);
    c.buckets = chance.integer(1, 4);
    if (chance.one_in(2)) c.jitter_ppm = static_cast<std::uint32_t>(10'000 * chance.integer(1, 50));
    if (chance.one_in(2)) c.stragglers = {{{0}, {3, 2}}, {{1}, {chance.integer(1, 3), 1}}};
  }
  c.path_mtu = chance.of({256, 512, 1024});
  c.ip_version = chance.of({4, 6});
  c.dscp = chance.integer(0, 63);
  c.ect = chance.one_in(2);
  if (chance.one_in(2)) c.priority = chance.integer(0, 7);
  return c;
}

TrafficSpec random_traffic(Chance& chance, const std::string& name) {
  using Pattern = TrafficSpec::Pattern;
  TrafficSpec t;
  t.name = name;
  t.pattern =
      chance.of({Pattern::kPairs, Pattern::kIncast, Pattern::kPermutation, Pattern::kAllToAll, Pattern::kRandom});
  if (t.pattern == Pattern::kPairs) {
    t.from = chance.of<std::vector<std::string>>({{"h1:1", "h2:1"}, {"h1:1"}});
    t.to = chance.of<std::vector<std::string>>({{"h3:1", "h4:1"}, {"h3:1"}});
  } else if (t.pattern == Pattern::kPermutation) {
    t.from = t.to = {"h1:1", "h2:1", "h3:1", "h4:1"};
  } else {
    t.from = chance.of<std::vector<std::string>>({{"*"}, {"h?:1"}, {"h1", "h*"}, {"h2:1", "h3:1"}});
    t.to = chance.of<std::vector<std::string>>({{"*"}, {"h1:1"}, {"h1", "h2"}});
  }
  if (t.pattern == Pattern::kIncast && chance.one_in(2)) {
    t.from = {"h2:1", "h3:1", "h4:1"};
    t.to = {"h1:1"};
    t.fan_in = chance.integer(1, 3);
  }
  t.flows = chance.integer(1, 20);
  t.ip_version = chance.of({4, 6});
  t.dscp = chance.integer(0, 63);
  t.ect = chance.one_in(2);
  if (chance.one_in(2)) t.priority = chance.integer(0, 7);
  if (chance.one_in(3))
    set_random_roce(chance, t);
  else
    t.payload = static_cast<std::uint32_t>(chance.integer(1, 350)) * 4;
  if (chance.one_in(2)) t.rate = BitRate{chance.bytes(10'000, 1'000'000'000).n};
  if (chance.one_in(4))
    t.sizes = chance.one_in(2) ? published_flow_sizes()[static_cast<std::size_t>(chance.integer(0, 3))]
                               : FlowSizes{"", {{chance.bytes(1, 1000), 300'000}, {Bytes{5000}, 1'000'000}}};
  else if (chance.one_in(2))
    t.bytes = Bytes{chance.number(1, kMiB) * 4};
  t.start = chance.time(0, kMillisecond);
  t.stagger = chance.time(0, kMillisecond);
  if (!t.has_end() || chance.one_in(2)) t.stop = t.start + chance.time(1, kMillisecond);
  if (t.transport == TrafficSpec::Transport::kGenerator && chance.one_in(2)) {
    t.on = chance.time(1, kMillisecond);
    t.off = chance.time(1, kMillisecond);
  }
  if (t.transport == TrafficSpec::Transport::kGenerator && chance.one_in(2))
    t.gap_jitter_ppm = static_cast<std::uint32_t>(chance.integer(0, 1'000'000));
  // Receivers that are attached do not send back.
  if (t.has_messages()) t.bidirectional = chance.one_in(3);
  return t;
}

RunSpec random_run(Chance& chance) {
  RunSpec r;
  r.clock = chance.of({Clock::kVirtual, Clock::kWall});
  r.seed = Seed{static_cast<std::uint64_t>(chance.number(0, INT64_MAX - 1)) * 2};
  if (chance.one_in(2)) r.duration = chance.time(1, 1000 * kMillisecond);
  r.drain = chance.time(0, kMillisecond);
  if (chance.one_in(2)) {
    r.scale_numerator = chance.of({1, 2, 7});
    r.scale_denominator = chance.of({1, 3, 101});  // reduced
  }
  r.workers = chance.integer(1, 64);
  r.payload = chance.of({Payload::kElided, Payload::kReal});
  r.memory = chance.bytes(kMiB, 64 * 1024 * kMiB);
  r.hugepages = chance.one_in(2);
  r.lag_limit = chance.time(1, kMillisecond);
  r.busy_poll = chance.one_in(2);
  if (chance.one_in(2)) {
    BudgetSpec& b = r.budgets;
    if (chance.one_in(2)) b.scale_out = chance.time(1, kMillisecond);
    if (chance.one_in(2)) b.scale_up = chance.time(1, kMillisecond);
    b.percentile = chance.of({5000, 9990, 10000});
    b.pause_share = chance.of<std::optional<Ratio>>({std::nullopt, Ratio{0, 1}, Ratio{1, 20}});
    b.xoff_rate = chance.of<std::optional<int>>({std::nullopt, 0, 1000});
    if (chance.one_in(2)) b.warm_up = chance.time(1, kMillisecond);
  }
  if (chance.one_in(2)) r.gpu_hour = chance.of<Ratio>({{5, 2}, {3, 1}});
  if (chance.one_in(2)) {
    IntSpec& i = r.in_band.emplace();
    i.one_in = chance.integer(1, 1'000'000'000);
    if (chance.one_in(2)) i.classes = {chance.integer(0, 7)};
    i.packets = chance.integer(1, 1 << 20);
  }
  return r;
}

// Both ends of a link have credits for a class, or neither has.
void agree_on_credits(Chance& chance, Lab& lab) {
  for (std::size_t k = 0; k < kPriorities; ++k) {
    const bool both = lab.qos["default"].classes[k].lossless && lab.qos["other"].classes[k].lossless;
    const bool credits = both && chance.one_in(2);
    for (auto& [name, qos] : lab.qos) {
      std::optional<CbfcSpec>& cbfc = qos.classes[k].cbfc;
      if (credits && !cbfc) cbfc.emplace();
      if (!credits) cbfc.reset();
    }
  }
}

}  // namespace

Lab random_lab(std::mt19937_64& random) {
  Chance chance(random);
  Lab lab;
  lab.name = chance.of<std::string>({"lab", "8to1", "a-b"});
  lab.description = chance.of<std::string>(
      {"", "plain words", "12", "a: b # c", "two\nlines\t\"and\" 'quotes' \\", "µ", "null", "~"});
  lab.run = random_run(chance);
  if (chance.one_in(2)) lab.expect = {{"drops(wred) at leaf*:1/3 == 0", {}}};
  if (chance.one_in(2)) lab.expect.push_back({"goodput of a/h1->h2 >= 0.5 * goodput of b", {}});
  if (chance.one_in(3)) lab.diagnosis = {{{"drops > 0", {}}}, "a symptom", "a cause: \"two\"", "a fix", {"run.seed=2"}};
  for (const char* name : {"default", "other"}) {
    lab.qos[name] = random_qos(chance);
    lab.switches[name] = random_switch(chance);
    lab.hosts[name] = random_host(chance);
  }
  agree_on_credits(chance, lab);
  add_nodes_and_links(chance, lab);
  draw_pfc(chance, lab);
  for (int i = chance.integer(0, 4); i > 0; --i) lab.traffic.push_back(random_traffic(chance, "t" + std::to_string(i)));
  for (int i = chance.integer(0, 2); i > 0; --i)
    lab.collectives.push_back(random_collective(chance, "c" + std::to_string(i)));
  // Receivers keep what has come of messages.
  if (!lab.collectives.empty() || std::ranges::any_of(lab.traffic,
                          [](const TrafficSpec& t) { return t.transport == TrafficSpec::Transport::kRoce; }))
    lab.run.memory = Bytes{64 * 1024 * kMiB};
  assign_addresses(lab);
  return lab;
}

}  // namespace railyard::spec
