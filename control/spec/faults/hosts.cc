// Faults of hosts and their NICs.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {
namespace {

void check_skew(const Tree& map, const Skew& s) {
  const bool drifts = s.fast.numerator != 0 || s.slow.numerator != 0;
  if (s.ahead > Duration{} && s.behind > Duration{})
    map.fail("expected how far its clock is ahead or behind, one of the two");
  if (s.fast.numerator != 0 && s.slow.numerator != 0)
    map.fail("expected how much faster or slower its clock runs, one of the two");
  if (!drifts && s.ahead == Duration{} && s.behind == Duration{})
    map.fail("expected how far its clock is ahead or behind, or how much faster or slower it runs");
}

}  // namespace

FaultKind StopReceiving::kind() {
  return described({.key = "stop-receiving",
                    .help = "of a host or NIC: it takes nothing out of its buffer",
                    .scope = FaultScope::kNic,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .reference = {{"true", "it takes nothing out of its receive buffer"}}},
                   so<StopReceiving>());
}

FaultKind SlowReceiver::kind() {
  return described({.key = "receive",
                    .help = "of a built-in host or its NIC: it takes frames at this rate",
                    .scope = FaultScope::kNic,
                    .built_in_hosts = true,
                    .draw = [](FaultDraw& f) { return fmt::format("{}Gbps", f.draw.between(1, 20)); },
                    .reference = {{"10Gbps", "takes frames at this rate"}}},
                   only(&SlowReceiver::rate, spec::rate(BitRate{1'000'000})));
}

FaultKind Straggle::kind() {
  return described({.key = "straggle",
                    .help = "of a built-in host or its NIC: it sends at this share of the link's rate at most",
                    .scope = FaultScope::kNic,
                    .built_in_hosts = true,
                    .draw = [](FaultDraw& f) { return std::string(f.draw.of({"1/2", "1/10", "1/50"})); },
                    .reference = {{"1/10", "sends at this share of the link's rate at most"}}},
                   only(&Straggle::share, share_below_one()));
}

FaultKind Skew::kind() {
  static const Table<Skew> table{
      "skew",
      "A clock that is wrong",
      {key("ahead", &Skew::ahead, duration({}, kAnyTime), "it is ahead of the others"),
       key("behind", &Skew::behind, duration({}, kAnyTime), "it is behind the others"),
       key("fast", &Skew::fast, probability(), "it gains this share of the time that goes by: 0.01% is 100 ppm"),
       key("slow", &Skew::slow, probability(), "it loses this share of the time that goes by")},
      check_skew};
  return described(
      {.key = "skew",
       .help = "of a built-in host: its clock, and so its time stamps, are wrong",
       .scope = FaultScope::kHost,
       .built_in_hosts = true,
       .draw =
           [](FaultDraw& f) {
             return std::string(Text{"{{ {}: {}ns{} }}", f.draw.of({"ahead", "behind"}),
                                     f.draw.between(10, 100'000),
                                     f.draw.percent(50) ? fmt::format(", {}: 0.1%", f.draw.of({"fast", "slow"})) : ""});
           },
       .reference = {{"{ ahead: 5us }",
                      "shifts its time stamps, and so the latencies that it measures; or { behind: 5us }. { fast: 0.01% } "
                      "or { slow: 0.01% } drifts. When it sends does not change"}}},
      map_of(table), table);
}

}  // namespace railyard::spec::fault
