// A condition on what a run has measured: terms with 'and' between them.
//
//   drops=0 and retransmitted=0 and accepted>=0.995 and fct_p99<500us
//   goodput of storage >= 90Gbps                  of one flow, traffic or collective
//   drops(headroom_full) at leaf1:3/3 > 0         a counter of ports: by reason, node, port and class
//   busbw of flat < 0.5 * busbw of two-phases     against another figure
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/value.h"

namespace railyard::spec {

// What a term looks at.
struct Measure {
  // Of a report's summary ("drops"), a counter, of an element of the report ("flows.incast/h2->h1.share",
  // "engine.windows"), or a JSON pointer into it ("/engine/windows").
  std::string figure;
  std::string reason;  // of drops: "ingress_full"; empty: all
  std::string of;      // name of a flow, traffic or collective, '*' and '?' as in selectors; empty: the whole run
  std::optional<FaultPlace> at;  // nodes, ports or classes; nothing: all

  bool is_path() const noexcept { return figure.starts_with('/') || figure.contains('.'); }
  bool of_whole_run() const noexcept { return reason.empty() && of.empty() && !at; }
  bool operator==(const Measure&) const = default;
};
// "drops(headroom_full) at leaf1:3/3".
std::string format(const Measure& measure);

struct Condition {
  enum class Comparison { kEqual, kNotEqual, kLess, kAtMost, kGreater, kAtLeast };
  enum class ValueUnit { kNumber, kPercent, kTime, kSize, kRate };  // which of them the value was written in
  struct Term {
    Measure what;
    Comparison comparison = Comparison::kEqual;
    double value = 0;  // in the figure's unit: a number, a ratio, ns, octets or bit/s; with `other`: what that is times
    ValueUnit unit = ValueUnit::kNumber;
    std::optional<Measure> other;
    std::string value_text;  // "380Gbps", "0.5 * busbw of two-phases"

    // Against `bound`: the value, or `value` times what the other measure is.
    bool holds(double figure_value, double bound) const noexcept;
    bool holds(double figure_value) const noexcept { return holds(figure_value, value); }
    bool operator==(const Term&) const = default;
  };
  std::vector<Term> terms;  // all of them; at least one

  bool operator==(const Condition&) const = default;
};

std::string_view word(Condition::Comparison comparison);  // "<="

// What is wrong: a term without figure, comparison (=, ==, !=, <, <=, >, >=) or value, a place that is none, or nothing
// at all. Whether figures and names exist is not looked at (report/judge.h).
Parsed<Condition> parse_condition(std::string_view text);

}  // namespace railyard::spec
