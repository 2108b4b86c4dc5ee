// Keys of the fabric file from a table of parameters that stands beside the code they set (transports/base/parameters.h).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/form.h"
#include "control/spec/keys/table.h"
#include "transports/base/parameters.h"

namespace railyard::spec {

// The form of a fraction: above 0, and at most 1 if `at_most_one`.
inline Form<Ratio> fraction(bool at_most_one) {
  if (!at_most_one) return ratio();
  return checked<Ratio>(ratio(), [](const Ratio& value) -> std::optional<std::string> {
    if (value.numerator <= value.denominator) return std::nullopt;
    return fmt::format("{} is above 1; expected a fraction such as 1/256", format(value));
  });
}

template <class T>
Form<T> or_zero(Form<T> form, std::string_view word) {
  return word.empty() ? form : either(std::string(word), T{}, std::move(form));
}

template <class S>
struct KeyOf {
  std::string name, help;

  Key<S> operator()(const parameter::Time<S>& p) const {
    return key(name, p.member, or_zero(duration(p.least, p.most), p.zero), help);
  }
  Key<S> operator()(const parameter::Rate<S>& p) const {
    return key(name, p.member, or_zero(rate(parameter::kLeastRate), p.zero), help);
  }
  Key<S> operator()(const parameter::Size<S>& p) const {
    return key(name, p.member, or_zero(size(p.least, p.most), p.zero), help);
  }
  Key<S> operator()(const parameter::Count<S>& p) const {
    return key(name, p.member, or_zero(integer(p.least, p.most), p.zero), help);
  }
  Key<S> operator()(const parameter::Fraction<S>& p) const {
    return key(name, p.member, fraction(p.at_most_one), help);
  }
  Key<S> operator()(const parameter::Switch<S>& p) const {
    if (p.yes == "true") return key(name, p.member, boolean(), help);
    return key(name, p.member, choice<bool>({{std::string(p.yes), true}, {std::string(p.no), false}}), help);
  }
  Key<S> operator()(const parameter::Preset<S>& p) const {
    std::vector<std::pair<std::string, std::size_t>> words;
    for (const std::string_view word : p.words) words.emplace_back(std::string(word), words.size());
    const Form<std::size_t> form = choice<std::size_t>(std::move(words));
    return Key<S>{name,
                  help,
                  [form, of = p.of](const Tree& tree, S& into) { into = of(form.read(tree)); },
                  [form, word = p.word](const S& from) { return form.write(word(from)); },
                  [word = p.word](const S& a, const S& b) { return word(a) == word(b); },
                  form.schema}
        .show();
  }
};

template <class S>
std::optional<parameter::Preset<S>> preset_of(const std::vector<Parameter<S>>& parameters) {
  for (const Parameter<S>& p : parameters)
    if (const auto* preset = std::get_if<parameter::Preset<S>>(&p.form)) return *preset;
  return std::nullopt;
}

// The table of the settings of a kind K, which has kName, kHelp, parameters() and conflict().
template <class K>
const Table<typename K::Settings>& parameter_table() {
  using S = typename K::Settings;
  static const Table<S> table = [] {
    std::vector<Key<S>> keys;
    for (const Parameter<S>& p : K::parameters())
      keys.push_back(std::visit(KeyOf<S>{std::string(p.name), std::string(p.help)}, p.form));
    const auto check = [keys](const Tree& map, const S& settings) {
      const auto wrong = K::conflict(settings, [&](std::string_view k) { return map.find(std::string(k)) != nullptr; });
      if (!wrong) return;
      const auto text = [&](std::string_view name) {
        return std::ranges::find(keys, name, &Key<S>::name)->write(settings).text;
      };
      const Tree& at = map.at_or_self(std::string(wrong->key));
      if (wrong->other.empty()) at.fail(std::string(wrong->what));
      at.fail(fmt::format("{} {} {} ({})", text(wrong->key), wrong->what, wrong->other, text(wrong->other)));
    };
    return Table<S>{std::string(K::kName), std::string(K::kHelp), std::move(keys), check};
  }();
  return table;
}

// Of a map with those keys; with a preset what differs from it is written.
template <class K>
auto parameter_form() {
  using S = typename K::Settings;
  Form<S> form = map_of(parameter_table<K>());
  if (const auto preset = preset_of(K::parameters()))
    form.write = [of = preset->of, word = preset->word](const S& s) { return parameter_table<K>().write(s, of(word(s))); };
  return form;
}

}  // namespace railyard::spec
