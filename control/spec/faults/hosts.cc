// Faults of hosts and their NICs.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {
namespace {

void check_skew(const Tree& map, const Skew& s) {
  const bool drifts = s.fast.numerator != 0 || s.slow.numerator != 0;
  if (s.ahead > Duration{} && s.behind > Duration{}) map.fail("expected either ahead or behind");
  if (s.fast.numerator != 0 && s.slow.numerator != 0) map.fail("expected either fast or slow");
  if (!drifts && s.ahead == Duration{} && s.behind == Duration{}) map.fail("expected ahead, behind, fast or slow");
}

}  // namespace

FaultKind StopReceiving::kind() {
  return described({.key = "stop-receiving",
                    .help = "of a host or NIC: stop draining its receive buffer",
                    .scope = FaultScope::kNic,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .reference = {{"true", "stop draining the receive buffer"}}},
                   so<StopReceiving>());
}

FaultKind SlowReceiver::kind() {
  return described({.key = "receive",
                    .help = "of a built-in host or its NIC: limit its receive rate",
                    .scope = FaultScope::kNic,
                    .built_in_hosts = true,
                    .draw = [](FaultDraw& f) { return fmt::format("{}Gbps", f.draw.between(1, 20)); },
                    .reference = {{"10Gbps", "drain the receive buffer at this rate"}}},
                   only(&SlowReceiver::rate, spec::rate(BitRate{1'000'000})));
}

FaultKind Straggle::kind() {
  return described({.key = "straggle",
                    .help = "of a built-in host or its NIC: limit sending to this share of the link rate",
                    .scope = FaultScope::kNic,
                    .built_in_hosts = true,
                    .draw =
                        [](FaultDraw& f) {
                          return std::string(f.draw.of({"1/2", "1/10", "1/50"}));
                        },
                    .reference = {{"1/10", "send at most at this share of the link rate"}}},
                   only(&Straggle::share, share_below_one()));
}

FaultKind Skew::kind() {
  static const Table<Skew> table{
      "skew",
      "A wrong clock",
      {key("ahead", &Skew::ahead, duration({}, kAnyTime), "offset ahead of true time"),
       key("behind", &Skew::behind, duration({}, kAnyTime), "offset behind true time"),
       key("fast", &Skew::fast, probability(), "drift: runs fast by this share; 0.01% is 100 ppm"),
       key("slow", &Skew::slow, probability(), "drift: runs slow by this share")},
      check_skew};
  return described(
      {.key = "skew",
       .help = "of a built-in host: wrong clock and time stamps",
       .scope = FaultScope::kHost,
       .built_in_hosts = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(Text{"{{ {}: {}ns{} }}", f.draw.of({"ahead", "behind"}),
                                     f.draw.between(10, 100'000),
                                     f.draw.percent(50) ? fmt::format(", {}: 0.1%", f.draw.of({"fast", "slow"})) : ""});
           },
       .reference = {{"{ ahead: 5us }",
                      "shift its time stamps and measured latencies; or { behind: 5us }. { fast: 0.01% } or { slow: "
                      "0.01% } drifts. Send times do not change"}}},
      map_of(table), table);
}

}  // namespace railyard::spec::fault
