#include "control/spec/condition.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/fault_place.h"
#include "control/spec/quantity.h"
#include "control/spec/suggest.h"

namespace railyard::spec {
namespace {

using Comparison = Condition::Comparison;
using ValueUnit = Condition::ValueUnit;

// The longer ones first.
constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"!=", Comparison::kNotEqual}, {"<=", Comparison::kAtMost}, {">=", Comparison::kAtLeast},
    {"==", Comparison::kEqual},    {"=", Comparison::kEqual},   {"<", Comparison::kLess},
    {">", Comparison::kGreater}};

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::pair<double, ValueUnit>> parse_value(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && std::isfinite(number);  // it takes "inf" and "nan" too
  if (is_number && end == text.data() + text.size()) return std::pair(number, ValueUnit::kNumber);
  if (is_number && text.ends_with('%') && end + 1 == text.data() + text.size())
    return std::pair(number / 100, ValueUnit::kPercent);
  if (const auto rate = parse_rate(text)) return std::pair(static_cast<double>(rate->bps), ValueUnit::kRate);
  if (const auto size = parse_size(text)) return std::pair(static_cast<double>(size->n), ValueUnit::kSize);
  if (const auto time = parse_duration(text)) return std::pair(static_cast<double>(time->ps) / 1000, ValueUnit::kTime);
  return std::nullopt;
}

// Of a text that begins with a digit: it may be meant in a unit.
std::string no_value(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) return "no value";
  const std::string unit(without_blanks(text.substr(std::min(text.size(), text.find_first_not_of("0123456789.")))));
  if (unit.empty()) return "no value";
  std::vector<std::string> units;
  for (const Quantity* quantity : {&kRate, &kSize, &kTime})
    for (const Unit& known : quantity->units) units.emplace_back(known.name);
  return fmt::format("unknown unit '{}'{}", unit, did_you_mean(unit, units));
}

// Where the comparison is. Names of flows have "->" in them.
std::size_t comparison_at(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (std::string_view("!<>=").contains(text[i]) && !(text[i] == '>' && i > 0 && text[i - 1] == '-')) return i;
  return text.npos;
}

Parsed<Measure> parse_measure(std::string_view text) {
  Measure m;
  if (const std::size_t at = text.rfind(" at "); at != text.npos) {
    auto place = parse_fault_place(without_blanks(text.substr(at + 4)));
    if (!place) return std::unexpected(std::move(place).error());
    if (place->is_rail || place->direction != FaultPlace::Direction::kBoth)
      return std::unexpected(
          fmt::format("'{}' has no counters; expected a node, a port or a class, such as leaf1, leaf1:3 or leaf1:3/3",
                      without_blanks(text.substr(at + 4))));
    m.at = std::move(*place);
    text = without_blanks(text.substr(0, at));
  }
  if (const std::size_t of = text.find(" of "); of != text.npos) {
    if (m.at) return std::unexpected("has both 'of' and 'at'; expected one of them");
    m.of = without_blanks(text.substr(of + 4));
    text = without_blanks(text.substr(0, of));
    if (m.of.empty()) return std::unexpected("nothing after 'of'; expected the name of a flow, traffic or collective");
  }
  if (text.ends_with(')'))
    if (const std::size_t open = text.find('('); open != text.npos) {
      m.reason = without_blanks(text.substr(open + 1, text.size() - open - 2));
      if (m.reason.empty()) return std::unexpected("nothing between '(' and ')'; expected a reason for drops");
      text = without_blanks(text.substr(0, open));
    }
  m.figure = text;
  if (text.empty() || text.find_first_of(" \t()") != text.npos ||
      (text[0] != '/' && std::isalpha(static_cast<unsigned char>(text[0])) == 0))
    return std::unexpected("no figure");
  return m;
}

// "380Gbps", "goodput of b", "0.5 * goodput of b".
Parsed<Condition::Term> with_right_side(Condition::Term term, std::string_view text) {
  term.value_text = text;
  if (const auto value = parse_value(text)) {
    std::tie(term.value, term.unit) = *value;
    return term;
  }
  term.value = 1;
  if (const std::size_t times = text.find('*'); times != text.npos && times > 0 && text[times - 1] == ' ') {
    const auto factor = parse_value(without_blanks(text.substr(0, times)));
    if (!factor || (factor->second != ValueUnit::kNumber && factor->second != ValueUnit::kPercent))
      return std::unexpected("expected a number before '*'");
    term.value = factor->first;
    text = without_blanks(text.substr(times + 1));
  }
  auto other = parse_measure(text);
  if (!other) return std::unexpected(other.error() == "no figure" ? no_value(text) : other.error());
  term.other = std::move(*other);
  return term;
}

Parsed<Condition::Term> parse_term(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    if (what.ends_with('?')) return std::unexpected(fmt::format("'{}': {}", text, what));
    return std::unexpected(
        fmt::format("'{}': {}; expected terms such as drops=0 or fct_p99<500us, with 'and' between them", text, what));
  };
  const std::size_t at = comparison_at(text);
  if (at == text.npos) return wrong("no comparison");
  auto what = parse_measure(without_blanks(text.substr(0, at)));
  if (!what) return wrong(what.error());
  for (const auto& [word, comparison] : kComparisons) {
    if (!text.substr(at).starts_with(word)) continue;
    Condition::Term term;
    term.what = std::move(*what);
    term.comparison = comparison;
    auto whole = with_right_side(std::move(term), without_blanks(text.substr(at + word.size())));
    if (!whole) return wrong(whole.error());
    return whole;
  }
  return wrong("no comparison");
}

}  // namespace

std::string format(const Measure& m) {
  std::string text = m.figure;
  if (!m.reason.empty()) text += "(" + m.reason + ")";
  if (!m.of.empty()) text += " of " + m.of;
  if (m.at) text += " at " + format(*m.at);
  return text;
}

std::string_view word(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return "==";
    case Comparison::kNotEqual:
      return "!=";
    case Comparison::kLess:
      return "<";
    case Comparison::kAtMost:
      return "<=";
    case Comparison::kGreater:
      return ">";
    case Comparison::kAtLeast:
      return ">=";
  }
  return "";
}

bool Condition::Term::holds(double figure_value, double bound) const noexcept {
  switch (comparison) {
    case Comparison::kEqual:
      return figure_value == bound;
    case Comparison::kNotEqual:
      return figure_value != bound;
    case Comparison::kLess:
      return figure_value < bound;
    case Comparison::kAtMost:
      return figure_value <= bound;
    case Comparison::kGreater:
      return figure_value > bound;
    case Comparison::kAtLeast:
      return figure_value >= bound;
  }
  return false;
}

Parsed<Condition> parse_condition(std::string_view text) {
  constexpr std::string_view kAnd = " and ";
  Condition all;
  for (std::size_t from = 0;;) {
    const std::size_t next = text.find(kAnd, from);
    auto term = parse_term(without_blanks(text.substr(from, next == text.npos ? next : next - from)));
    if (!term) return std::unexpected(std::move(term).error());
    all.terms.push_back(std::move(*term));
    if (next == text.npos) return all;
    from = next + kAnd.size();
  }
}

}  // namespace railyard::spec
