// A position within an iteration of a collective, for failures: computing 1/2, communication 1/4, gap 1/2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "control/bench/kpi_parts.h"
#include "control/spec/fault_spec.h"

namespace railyard::bench {

struct Phase {
  enum class Part : std::uint8_t {
    kComputing,      // before the collective
    kCommunication,  // during it
    kGap,            // after it, until the next iteration starts
  };
  Part part = Part::kCommunication;
  spec::Ratio share{1, 2};  // of that part
};
// "computing 1/2". Unexpected: what is wrong with it.
std::expected<Phase, std::string> parse_phase(const std::string& text);

// When a key of the fabric file takes effect: in this phase of this iteration of the first collective, of which the first is 1.
struct Moment {
  std::string key;  // "faults.failure.at"
  std::size_t iteration = 1;
  Phase phase;

  // Takes away what the key belongs to: "faults.failure=".
  std::string without() const;
  // Of a run without it, which is the same until then: "faults.failure.at=1234567ns". Nothing: the iteration did not complete,
  // or has no such part.
  std::optional<std::string> set(const ReportJson& report) const;
};

}  // namespace railyard::bench
