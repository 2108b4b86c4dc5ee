// What can be tuned: settings with bounds, as data, and where a lab has them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::tune {

// How a setting is written, and so which steps there are between its values.
enum class KnobKind {
  kSize,        // "37KB": two significant digits
  kTime,        // "4.2us": two significant digits
  kRate,        // "20Mbps": two significant digits
  kPercent,     // "20%": whole per cents
  kRatio,       // "0.0039": two significant digits
  kPowerOfTwo,  // "1/8": 1/256..128
  kInteger,
};

// Whose setting it is: a class in QoS profiles of switches, the built-in RoCE or UET NICs in profiles of hosts.
enum class KnobPlace { kEcn, kClass, kRoce, kUet };

struct KnobSite;

// A row of the table.
struct Knob {
  std::string_view name;  // of --knobs: "ecn.kmin"
  KnobPlace place = KnobPlace::kClass;
  std::string_view key;  // below the class or NIC: "alpha", "dcqcn.rpg-ai-rate"
  KnobKind kind = KnobKind::kSize;
  double low = 0, high = 0;         // bytes, ns, bit/s, share, exponent, number
  bool per_gbps = false;            // low and high are per Gb/s of the lab's fastest link
  bool logarithmic = true;          // positions are even steps of the logarithm
  bool by_default = true;           // tuned without --knobs, where it applies
  std::string_view not_below = {};  // the knob whose value is its least: ecn.kmax is not below ecn.kmin
  std::string_view help;
  // Why it cannot be tuned at a site: "class 3 does not mark (ecn: off)"; empty: it can.
  std::string (*obstacle)(const spec::Lab& lab, const KnobSite& site) = nullptr;
};
const std::vector<Knob>& knob_table();
// A line per knob: name, key, bounds, help.
std::string knobs_text();

// A class of a QoS profile of switches that carries traffic of the lab, or a profile of hosts.
struct KnobSite {
  std::string profile;
  int traffic_class = 0;
};

// A knob of a lab, at all its sites with one value.
struct ChosenKnob {
  const Knob* knob = nullptr;
  double low = 0, high = 0;
  double start = 0;        // of the first site; of what is automatic or unlimited, what that comes to
  std::string start_text;  // "400KB", "auto", "unlimited"
  std::vector<KnobSite> sites = {};

  // Of a position 0..1 between low and high, rounded to a value that is written neatly. A value that is written as the
  // start's is the start's.
  double value(double position) const;
  double position(double value) const;
  std::string text(double value) const;
};

// The knobs that `names` ask for, with bounds from `ranges` ("ecn.kmin=10KB..2MB") instead of the table's; without
// names those by default that apply. `classes`: only these; empty: all that carry traffic. Bounds are widened to
// include the start. Throws std::invalid_argument naming --knobs, --range or --class: unknown, given twice, or it does
// not apply, and why.
std::vector<ChosenKnob> choose_knobs(const spec::Lab& lab, const std::vector<std::string>& names,
                                     const std::vector<std::string>& ranges, const std::vector<int>& classes);

// Values of all knobs for positions 0..1; not_below is kept by raising the other.
std::vector<double> knob_values(const std::vector<ChosenKnob>& knobs, const std::vector<double>& positions);
// What differs from the start, as --set has it. Thresholds of ECN are set together.
std::vector<std::string> knob_sets(const spec::Lab& lab, const std::vector<ChosenKnob>& knobs,
                                   const std::vector<double>& values);

}  // namespace railyard::tune
