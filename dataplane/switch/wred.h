// Early drops from one egress queue by its depth (RED, Floyd and Jacobson 1993; without its average, as data centre
// profiles have it), beside marking and with thresholds of their own: the ECN_* and WRED_* thresholds of SAI's WRED
// profile. Packets that can be marked and those that cannot may have different ones.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/base/units.h"
#include "dataplane/switch/ecn_marking.h"
#include "dataplane/wire/ecn.h"

namespace railyard {

// Drops with a probability that rises from 0 at `min` to `probability` at `max`; everything above that.
struct DropRamp {
  bool enabled = false;
  Bytes min{};
  Bytes max{};
  std::uint32_t probability_ppm = 100'000;

  bool operator==(const DropRamp&) const = default;
};

struct WredConfig {
  DropRamp ect{};      // of packets that are ECN-capable, CE included
  DropRamp not_ect{};  // of all others

  bool any() const noexcept { return ect.enabled || not_ect.enabled; }
  bool operator==(const WredConfig&) const = default;
};

std::expected<void, std::string> validate(const WredConfig& config, const std::string& where);

// The probability as a fraction of 2^32 for a depth in cells, by the law of marking.
class DropLaw {
 public:
  DropLaw() noexcept = default;  // never drops
  DropLaw(const WredConfig& config, Bytes cell) noexcept : ect_(of(config.ect, cell)), not_ect_(of(config.not_ect, cell)) {}

  std::uint64_t probability(wire::Ecn ecn, std::uint32_t depth) const noexcept {
    return (ecn == wire::Ecn::kNotEct ? not_ect_ : ect_).probability(depth);
  }

 private:
  static MarkingLaw of(const DropRamp& r, Bytes cell) noexcept {
    return MarkingLaw({.enabled = r.enabled, .kmin = r.min, .kmax = r.max, .pmax_ppm = r.probability_ppm}, cell);
  }

  MarkingLaw ect_;
  MarkingLaw not_ect_;
};

}  // namespace railyard
