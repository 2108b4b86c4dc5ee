#include "tests/control/spec/random_lab.h"

#include <algorithm>
#include <string>

#include "control/spec/addresses.h"
#include "tests/control/spec/random_parts.h"

namespace railyard::spec {
namespace {

RoutingSpec random_routing(Chance& chance) {
  RoutingSpec r;
  r.protocol = chance.of({RoutingProtocol::kBgp, RoutingProtocol::kBgp, RoutingProtocol::kInstant, RoutingProtocol::kStatic});
  if (r.protocol != RoutingProtocol::kStatic && chance.one_in(4))
    r.bfd = BfdSpec{Duration{chance.integer(10, 1000) * std::int64_t{1'000'000}}, chance.integer(1, 255)};
  if (r.protocol != RoutingProtocol::kBgp) return r;
  r.as_numbers = chance.of({AsScheme::kAuto, AsScheme::kPerTier, AsScheme::kPerSwitch});
  for (Duration RoutingSpec::*time : {&RoutingSpec::carrier_delay, &RoutingSpec::session_setup, &RoutingSpec::message_delay,
                                      &RoutingSpec::processing, &RoutingSpec::fib_delay, &RoutingSpec::mrai})
    if (chance.one_in(2)) r.*time = chance.time(0, kMillisecond);
  if (chance.one_in(3))
    r.dampening = DampeningSpec{chance.time(1, kMillisecond) + Duration{1'000'000}, chance.integer(501, 5000),
                                chance.integer(1, 500), chance.time(1, kMillisecond) + Duration{1'000'000}};
  return r;
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
  r.polling = chance.of({Polling::kLatency, Polling::kBalanced, Polling::kIdle});
  if (chance.one_in(2)) {
    BudgetSpec& b = r.budgets;
    if (chance.one_in(2)) b.scale_out = chance.time(1, kMillisecond);
    if (chance.one_in(2)) b.scale_up = chance.time(1, kMillisecond);
    b.percentile = chance.of({5000, 9990, 10000});
    b.pause_share = chance.of<std::optional<Ratio>>({std::nullopt, Ratio{0, 1}, Ratio{1, 20}});
    b.xoff_rate = chance.of<std::optional<int>>({std::nullopt, 0, 1000});
    if (chance.one_in(2)) b.warm_up = chance.time(1, kMillisecond);
  }
  r.timeline = chance.one_in(2);
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
  lab.routing = random_routing(chance);
  lab.run = random_run(chance);
  if (lab.routing.bfd && !lab.run.duration) lab.run.duration = Duration{kMillisecond};
  if (chance.one_in(2)) lab.expect = {{"drops(wred) at leaf*:1/3 == 0", {}}};
  if (chance.one_in(2)) lab.expect.push_back({"goodput of a/h1->h2 >= 0.5 * goodput of b", {}});
  if (chance.one_in(3))
    lab.diagnosis = {{{"drops > 0", {}}}, "a symptom", "a cause: \"two\"", "a fix", {"run.seed=2"}, {"run.workers=1"}};
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
  // Ranks reach each other, whatever VLANs they are in.
  if (!lab.collectives.empty())
    for (NodeSpec& node : lab.nodes)
      for (auto& [port, vlan] : node.vlans) vlan = {.native = vlan.native, .all_tagged = true, .tagged = {}};
  // Receivers keep what has come of messages.
  if (!lab.collectives.empty() || std::ranges::any_of(lab.traffic, [](const TrafficSpec& t) {
        return t.transport == TrafficSpec::Transport::kRoce;
      }))
    lab.run.memory = Bytes{64 * 1024 * kMiB};
  assign_addresses(lab);
  return lab;
}

}  // namespace railyard::spec
