#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec {
namespace {

template <class A>
FaultKind kind_of() {
  FaultKind kind = A::kind();
  kind.on_frames = acts_on_frames(A{});
  return kind;
}

template <std::size_t... I>
std::vector<FaultKind> all(std::index_sequence<I...>) {
  return {kind_of<std::variant_alternative_t<I + 1, FaultAction>>()...};  // the first says nothing
}

}  // namespace

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kinds = all(std::make_index_sequence<std::variant_size_v<FaultAction> - 1>());
  return kinds;
}

const FaultKind& fault_kind(const FaultAction& action) { return fault_kinds().at(action.index() - 1); }

bool has_effect(const FaultSpec& fault, FaultEffect effect) {
  const FaultKind& kind = fault_kind(fault.action);
  if (std::ranges::count(kind.effects, effect) != 0) return true;
  return kind.more_effects && std::ranges::count(kind.more_effects(fault), effect) != 0;
}

bool picks_frames(const FaultSpec& f, const FaultPlace& place) {
  return !f.match.empty() || f.nth != 0 || (f.count != 0 && !f.every && !f.when) || f.probability ||
         place.traffic_class >= 0;
}

bool picks_frames(const FaultSpec& f) {
  return std::ranges::any_of(f.on, [&](const FaultPlace& place) { return picks_frames(f, place); });
}

std::vector<std::string> fault_words() {
  std::vector<std::string> words;
  for (const FaultKind& kind : fault_kinds())
    if (std::ranges::count(words, kind.key) == 0) words.push_back(kind.key);
  return words;
}

Form<Ratio> share_below_one() {
  return checked<Ratio>(ratio(), [](const Ratio& r) -> std::optional<std::string> {
    if (r.numerator < r.denominator) return std::nullopt;
    return fmt::format("{} is not below 1; expected a share such as 1/4", format(r));
  });
}

Form<Ratio> chance_above_zero() {
  return checked<Ratio>(probability(), [](const Ratio& r) -> std::optional<std::string> {
    if (r.numerator > 0) return std::nullopt;
    return "is 0; expected more than 0";
  });
}

}  // namespace railyard::spec
