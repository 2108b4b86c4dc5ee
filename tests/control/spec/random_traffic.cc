#include <optional>
#include <string>
#include <vector>

#include "control/collectives/registry.h"
#include "tests/control/spec/random_parts.h"

namespace railyard::spec {
namespace {

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

}  // namespace

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
  if (c.collective == CollectiveOperation::kBarrier) {
    c.size = {};
    c.channels = 1;
  }
  if (collectives::traits(c.collective).has_root) c.root = chance.integer(0, 1);
  if (c.collective == CollectiveOperation::kAllToAll && chance.one_in(2)) c.skew = chance.one_in(2) ? Ratio{1, 2} : Ratio{3, 2};
  c.repeats = chance.integer(1, 100);
  if (chance.one_in(2)) c.start = chance.time(0, kMillisecond);
  if (chance.one_in(2)) c.gap = chance.time(0, kMillisecond);
  if (chance.one_in(3)) c.protocol = chance.of({collectives::Protocol::kSimple, collectives::Protocol::kLl128, collectives::Protocol::kLl});
  if (chance.one_in(3)) c.launch_cost = Duration{chance.integer(1, 20) * 1'000'000};
  if (chance.one_in(3)) c.step_cost = Duration{chance.integer(1, 20) * 1'000'000};
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

}  // namespace railyard::spec
