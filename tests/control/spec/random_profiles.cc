#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dataplane/switch/path/policies.h"
#include "tests/control/spec/random_parts.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::spec {
namespace {

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

}  // namespace

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
  if (chance.one_in(4)) s.breakout = chance.integer(1, 8);
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

namespace {

Ratio random_part(Chance& chance) {
  constexpr std::int64_t kBelow = 1021;  // a prime, so that nothing is cancelled
  return {chance.number(1, kBelow - 1), kBelow};
}

// Any value of a parameter of a congestion control.
template <class S>
struct RandomValue {
  Chance& chance;
  S& settings;

  void operator()(const parameter::Time<S>& p) const { settings.*p.member = chance.time(p.least.ps, p.most.ps); }
  void operator()(const parameter::Rate<S>& p) const {
    settings.*p.member = BitRate{chance.number(parameter::kLeastRate.bps, 1'000'000'000)};
  }
  void operator()(const parameter::Size<S>& p) const { settings.*p.member = chance.bytes(p.least.n, p.most.n); }
  void operator()(const parameter::Count<S>& p) const { settings.*p.member = chance.integer(p.least, p.most); }
  void operator()(const parameter::Fraction<S>& p) const { settings.*p.member = random_part(chance); }
  void operator()(const parameter::Switch<S>& p) const { settings.*p.member = chance.one_in(2); }
  void operator()(const parameter::Preset<S>& p) const {
    settings = p.of(static_cast<std::size_t>(chance.integer(0, static_cast<int>(p.words.size()) - 1)));
  }
};

// Any of its settings that go together. (A preset is the first of its parameters.)
template <class K>
typename K::Settings random_settings(Chance& chance) {
  using S = typename K::Settings;
  S settings{};
  std::vector<std::string_view> said;
  for (const Parameter<S>& p : K::parameters()) {
    if (!chance.one_in(3)) continue;
    S tried = settings;
    std::visit(RandomValue<S>{chance, tried}, p.form);
    said.push_back(p.name);
    const auto conflict = K::conflict(tried, [&](std::string_view key) { return std::ranges::count(said, key) > 0; });
    if (conflict)
      said.pop_back();
    else
      settings = tried;
  }
  return settings;
}

RoceNicSpec random_roce(Chance& chance) {
  RoceNicSpec r;
  r.congestion = static_cast<std::size_t>(chance.integer(0, static_cast<int>(std::tuple_size_v<roce::CongestionKinds>)));
  roce::for_each_congestion_kind(
      [&]<class K>(std::type_identity<K>, std::size_t) { r.settings_of<K>() = random_settings<K>(chance); });
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

}  // namespace

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
                             chance.time(1000, kMillisecond), chance.integer(1, 1024)};
  h.qos = chance.of<std::string>({"default", "other"});
  return h;
}

}  // namespace railyard::spec
