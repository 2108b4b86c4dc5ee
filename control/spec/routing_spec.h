// How switches learn where to send packets, and how they react when links come and go.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "dataplane/base/time.h"

namespace railyard::spec {

enum class RoutingProtocol : std::uint8_t {
  kBgp,      // eBGP in the manner of RFC 7938
  kInstant,  // a controller that knows everything at once
  kStatic,   // tables stay as they are at the start
};

// As files and reports call them.
inline constexpr std::array<std::pair<const char*, RoutingProtocol>, 3> kRoutingProtocols{
    {{"bgp", RoutingProtocol::kBgp}, {"instant", RoutingProtocol::kInstant}, {"static", RoutingProtocol::kStatic}}};
constexpr const char* name(RoutingProtocol protocol) noexcept {
  for (const auto& [word, known] : kRoutingProtocols)
    if (known == protocol) return word;
  return "";
}

enum class AsScheme : std::uint8_t {
  kAuto,       // kPerTier where every shortest path goes up, then down; else kPerSwitch
  kPerTier,    // RFC 7938, section 5.2.1: the spines of a pod share a number, and so do the top switches
  kPerSwitch,  // each switch has a number of its own
};

// Which paths are used while there are any such (control/routing/path_order.h).
enum class PathOrder : std::uint8_t {
  kAny,         // all of the fewest hops
  kDimensions,  // the fewest hops among paths that go along one dimension of NodeSpec::at after the other
  kGroups,      // the fewest hops among paths with at most one hop between groups, the first number of NodeSpec::at
};

// Of ports that flap, as "IP event dampening" of Cisco IOS has it, with its defaults. A penalty of 1000 for each time a
// port goes down decays exponentially.
struct DampeningSpec {
  Duration half_life{5 * kPicosecondsPerSecond};
  int suppress = 2000;                        // above this penalty the port counts as down ...
  int reuse = 1000;                           // ... until it is below this
  Duration most{20 * kPicosecondsPerSecond};  // for no longer

  bool operator==(const DampeningSpec&) const = default;
};

// RFC 5880, asynchronous mode, of each link between switches. Defaults: those of FRR's bfdd.
struct BfdSpec {
  Duration interval{kPicosecondsPerSecond * 3 / 10};  // whole microseconds
  int multiplier = 3;

  bool operator==(const BfdSpec&) const = default;
};

// Times are those of one switch.
struct RoutingSpec {
  RoutingProtocol protocol = RoutingProtocol::kBgp;
  AsScheme as_numbers = AsScheme::kAuto;
  std::optional<PathOrder> order;  // nothing: what a preset sets, else kAny
  // From a port's loss (or gain) of signal to routing's notice; a port that comes back sooner has not been away.
  // "Often detected in milliseconds", RFC 7938 section 7.1.
  Duration carrier_delay{1'000'000'000};
  // From the notice of both ends that a link is up to an established session. There is no public figure; the TCP
  // handshake, OPEN and KEEPALIVE of a speaker that is not busy.
  Duration session_setup{10'000'000'000};
  // From a speaker's send to its neighbour's receipt, beyond the link's propagation: kernel, TCP.
  Duration message_delay{100'000'000};
  // From the first message or notice to the decision, which takes up what came in the meantime.
  Duration processing{1'000'000'000};
  // From the decision to the switch's table, by way of the ASIC's driver.
  Duration fib_delay{1'000'000'000};
  // MinRouteAdvertisementIntervalTimer, RFC 4271 section 9.2.1.1, per session. Its 30 s are for the Internet; FRR's
  // profile for data centers has 0.
  Duration mrai{};
  std::optional<DampeningSpec> dampening;
  std::optional<BfdSpec> bfd;

  bool operator==(const RoutingSpec&) const = default;
};

}  // namespace railyard::spec
