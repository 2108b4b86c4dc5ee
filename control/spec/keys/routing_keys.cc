// The keys of routing.
#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr int kMostPenalty = 1'000'000;

Form<RoutingProtocol> protocol() {
  std::vector<std::pair<std::string, RoutingProtocol>> words(kRoutingProtocols.begin(), kRoutingProtocols.end());
  return choice<RoutingProtocol>(std::move(words));
}

// Of those that say something about a protocol that is not there.
void check_routing(const Tree& map, const RoutingSpec& r) {
  if (r.protocol == RoutingProtocol::kBgp) return;
  const std::string word = protocol().write(r.protocol).text;
  for (const Key<RoutingSpec>& key : routing_keys().keys())
    if (const Tree* said = map.find(key.name);
        said != nullptr && key.name != "protocol" && key.name != "order" && (key.name != "bfd" || r.protocol == RoutingProtocol::kStatic))
      said->fail(fmt::format("is for protocol {}; the protocol is {}", key.name == "bfd" ? "bgp or instant" : "bgp", word));
}

void check_dampening(const Tree& map, const DampeningSpec& d) {
  if (d.reuse >= d.suppress)
    map.at_or_self("reuse").fail(fmt::format("{} is not below suppress ({})", d.reuse, d.suppress));
}

}  // namespace

const Table<DampeningSpec>& dampening_keys() {
  static const Table<DampeningSpec> table{
      "dampening",
      "Ports that flap: each loss of signal adds a penalty of 1000, which decays. Defaults: those of Cisco's IP event "
      "dampening",
      {key("half-life", &DampeningSpec::half_life, duration(Duration{1'000'000}, kAnyTime),
           "time in which a penalty halves"),
       key("suppress", &DampeningSpec::suppress, integer(1, kMostPenalty),
           "above this penalty, routing counts the port as down"),
       key("reuse", &DampeningSpec::reuse, integer(1, kMostPenalty),
           "below this penalty, routing counts the port as what it is"),
       key("max-suppress", &DampeningSpec::most, duration(Duration{1'000'000}, kAnyTime),
           "maximum time for which a port counts as down")},
      check_dampening};
  return table;
}

const Table<BfdSpec>& bfd_keys() {
  static const Table<BfdSpec> table{
      "bfd",
      "Bidirectional Forwarding Detection on links between switches (RFC 5880): it finds failures without loss of "
      "signal. Defaults: those of FRR",
      {key("interval", &BfdSpec::interval,
           checked<Duration>(duration(Duration{10'000'000}, Duration{60 * kPicosecondsPerSecond}),
                             [](const Duration& d) -> std::optional<std::string> {
                               if (d.ps % 1'000'000 == 0) return std::nullopt;
                               return "is not a whole number of microseconds";
                             }),
           "interval between packets. The actual one is 75 to 100 % of it (RFC 5880, 6.8.7)"),
       key("multiplier", &BfdSpec::multiplier, integer(1, 255),
           "a neighbor is down when nothing has arrived for this number of intervals")}};
  return table;
}

const Table<RoutingSpec>& routing_keys() {
  static const Table<RoutingSpec> table{
      "routing",
      "How switches find routes, and how soon they react when links go down or come up",
      {key("protocol", &RoutingSpec::protocol, protocol(),
           "bgp: eBGP between all switches as in RFC 7938, with the times below; instant: an ideal controller that "
           "changes all tables at once; static: tables stay as they are at the start"),
       key("as-numbers", &RoutingSpec::as_numbers,
           choice<AsScheme>(
               {{"auto", AsScheme::kAuto}, {"per-tier", AsScheme::kPerTier}, {"per-switch", AsScheme::kPerSwitch}}),
           "AS numbers. per-tier: the spines of a pod share one, and so do the top switches, so that no path goes down "
           "and up again (RFC 7938, 5.2.1); per-switch: each switch has its own; auto: per-tier where all shortest "
           "paths "
           "go up, then down"),
       key("order", &RoutingSpec::order,
           maybe(choice<PathOrder>({{"any", PathOrder::kAny},
                                    {"dimensions", PathOrder::kDimensions},
                                    {"groups", PathOrder::kGroups}})),
           "paths that are preferred to all others. any: the fewest hops (default; presets of direct topologies set their "
           "own); dimensions: those that go along the first dimension of the switches' coordinates (at) as far as needed, "
           "then along the second, ...; groups: those with at most one hop between groups, the first number of at. Other "
           "paths are used where failures leave no such path"),
       key("carrier-delay", &RoutingSpec::carrier_delay, duration({}, kAnyTime),
           "time from the loss of a port's signal to the notice of routing, and from its return. A shorter "
           "interruption "
           "is not noticed"),
       key("session-setup", &RoutingSpec::session_setup, duration({}, kAnyTime),
           "time from a link's return to an established session"),
       key("message-delay", &RoutingSpec::message_delay, duration({}, kAnyTime),
           "delay of a message between neighbours, in addition to the link's propagation"),
       key("processing", &RoutingSpec::processing, duration({}, kAnyTime),
           "time from a notice or a message to the decision of a switch"),
       key("fib-delay", &RoutingSpec::fib_delay, duration({}, kAnyTime),
           "time from a decision to the change of the forwarding table"),
       key("mrai", &RoutingSpec::mrai, duration({}, kAnyTime),
           "minimum interval between updates to the same neighbour (RFC 4271, 9.2.1.1)"),
       key("dampening", &RoutingSpec::dampening,
           either("off", std::optional<DampeningSpec>{}, maybe(map_of(dampening_keys()))),
           "how long ports that flap count as down"),
       key("bfd", &RoutingSpec::bfd, either("off", std::optional<BfdSpec>{}, maybe(map_of(bfd_keys()))),
           "detection of failures without loss of signal, by packets between neighbors")},
      check_routing};
  return table;
}

Form<RoutingSpec> routing_form() {
  const Form<RoutingSpec> map = map_of(routing_keys());
  const Form<RoutingProtocol> word = protocol();
  return {[=](const Tree& tree) {
            if (tree.kind != Tree::Kind::kScalar) return map.read(tree);
            RoutingSpec r;
            r.protocol = word.read(tree);
            return r;
          },
          map.write, any_of_schemas({word.schema, map.schema})};
}

}  // namespace railyard::spec
