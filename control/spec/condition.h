// A condition on the figures of a run:
//
//   drops=0 and retransmitted=0 and accepted>=0.999 and fct_p99<500us
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/spec/value.h"

namespace railyard::spec {

struct Condition {
  enum class Comparison { kEqual, kNotEqual, kLess, kAtMost, kGreater, kAtLeast };
  struct Term {
    std::string figure;  // of a report (report::figure_of()): "drops", "ports.leaf1:1.utilisation", "/engine/windows"
    Comparison comparison = Comparison::kEqual;
    double value = 0;  // in the figure's unit: a number, a ratio, ns, octets or bit/s

    bool holds(double figure_value) const noexcept;
    bool operator==(const Term&) const = default;
  };
  std::vector<Term> terms;  // all of them; at least one

  bool operator==(const Condition&) const = default;
};

// What is wrong: a term without figure, comparison (=, !=, <, <=, >, >=) or value, or nothing at all.
Parsed<Condition> parse_condition(std::string_view text);

}  // namespace railyard::spec
