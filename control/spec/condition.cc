#include "control/spec/condition.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

using Comparison = Condition::Comparison;

// The longer ones first.
constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"!=", Comparison::kNotEqual}, {"<=", Comparison::kAtMost}, {">=", Comparison::kAtLeast},
    {"=", Comparison::kEqual},     {"<", Comparison::kLess},    {">", Comparison::kGreater}};

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<double> parse_value(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  if (text.ends_with('%') && error == std::errc{} && end + 1 == text.data() + text.size()) return number / 100;
  if (const auto rate = parse_rate(text)) return static_cast<double>(rate->bps);
  if (const auto size = parse_size(text)) return static_cast<double>(size->n);
  if (const auto time = parse_duration(text)) return static_cast<double>(time->ps) / 1000;
  return std::nullopt;
}

Parsed<Condition::Term> parse_term(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return std::unexpected(
        fmt::format("'{}': {}; expected terms such as drops=0 or fct_p99<500us, with 'and' between them", text, what));
  };
  // Names of flows have arrows: flows.incast/h2->h1.share.
  std::size_t at = text.find_first_of("!<>=");
  while (at != text.npos && at > 0 && text.substr(at - 1, 2) == "->") at = text.find_first_of("!<>=", at + 1);
  if (at == text.npos) return wrong("no comparison");
  const std::string_view figure = without_blanks(text.substr(0, at));
  if (figure.empty() || figure.find_first_of(" \t") != figure.npos) return wrong("no figure");
  for (const auto& [word, comparison] : kComparisons) {
    if (!text.substr(at).starts_with(word)) continue;
    const auto value = parse_value(without_blanks(text.substr(at + word.size())));
    if (!value) return wrong("no value");
    return Condition::Term{std::string(figure), comparison, *value};
  }
  return wrong("no comparison");
}

}  // namespace

bool Condition::Term::holds(double figure_value) const noexcept {
  switch (comparison) {
    case Comparison::kEqual:
      return figure_value == value;
    case Comparison::kNotEqual:
      return figure_value != value;
    case Comparison::kLess:
      return figure_value < value;
    case Comparison::kAtMost:
      return figure_value <= value;
    case Comparison::kGreater:
      return figure_value > value;
    case Comparison::kAtLeast:
      return figure_value >= value;
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
