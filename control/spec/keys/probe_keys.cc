// The keys of probes between all pairs of NICs.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

Form<std::uint32_t> payload() {
  return checked<std::uint32_t>(octets(4, 9216), [](const std::uint32_t& n) -> std::optional<std::string> {
    if (n % 4 == 0) return std::nullopt;
    return fmt::format("{} bytes are not a multiple of 4", n);
  });
}

Form<Ratio> below() {
  return checked<Ratio>(ratio(), [](const Ratio& r) -> std::optional<std::string> {
    if (r.numerator > 0 && r.numerator < r.denominator) return std::nullopt;
    return "expected a fraction above 0 and below 1, such as 10%";
  });
}

}  // namespace

const Table<ProbeSpec>& probe_keys() {
  constexpr int kMostFrames = 65536;
  constexpr int kMostRounds = 10'000;
  static const Table<ProbeSpec> table{
      "probe",
      "Probes of all pairs of built-in NICs k of different hosts, one pair after the other, round by round; pairs that "
      "become "
      "slow are reported",
      {key("every", &ProbeSpec::every, duration(Duration{1'000'000}, kAnyTime), "time from round to round").show(),
       key("dscp", &ProbeSpec::dscp, integer(0, 63), "DSCP of probes; give them a class of their own").show(),
       key("priority", &ProbeSpec::priority, maybe(integer(0, 7)),
           "class at the sending NIC; default: what its QoS profile makes of the DSCP"),
       key("payload", &ProbeSpec::payload, payload(), "payload bytes per frame"),
       key("frames", &ProbeSpec::frames, integer(2, kMostFrames), "frames of a pair in a round, sent back to back"),
       key("history", &ProbeSpec::history, integer(4, kMostRounds), "rounds that are kept"),
       key("below", &ProbeSpec::below, below(),
           "a pair is slow if its rate is below the median of its kept rounds by more than this")}};
  return table;
}

}  // namespace railyard::spec
