// The knobs of a lab: which apply, from where to where, and what they are now.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/suggest.h"
#include "control/spec/to_yaml.h"
#include "control/spec/value.h"
#include "control/spec/yaml/parse.h"
#include "control/tune/knob.h"
#include "control/tune/knob_sites.h"

namespace railyard::tune {
namespace {

std::vector<std::string> knob_names() {
  std::vector<std::string> names;
  for (const Knob& k : knob_table()) names.emplace_back(k.name);
  return names;
}

const Knob& knob_named(const std::string& name, const char* option) {
  for (const Knob& k : knob_table())
    if (k.name == name) return k;
  throw std::invalid_argument(
      fmt::format("{}: there is no knob '{}'{}", option, name, spec::meant_or_known(name, knob_names())));
}

template <class T, class Of>
std::optional<double> number_of(const spec::Parsed<T>& parsed, Of of) {
  return parsed ? std::optional<double>(of(*parsed)) : std::nullopt;
}

double share_of(spec::Ratio r) { return static_cast<double>(r.numerator) / static_cast<double>(r.denominator); }

// In the unit of the knob's bounds; nothing: it is a word.
std::optional<double> read_value(KnobKind kind, const std::string& text) {
  switch (kind) {
    case KnobKind::kSize:
      return number_of(spec::parse_size(text), [](Bytes b) { return static_cast<double>(b.n); });
    case KnobKind::kTime:
      return number_of(spec::parse_duration(text), [](Duration d) { return static_cast<double>(d.ps) / 1e3; });
    case KnobKind::kRate:
      return number_of(spec::parse_rate(text), [](BitRate r) { return static_cast<double>(r.bps); });
    case KnobKind::kPercent:
    case KnobKind::kRatio:
      return number_of(spec::parse_ratio(text), share_of);
    case KnobKind::kPowerOfTwo:
      return number_of(spec::parse_power_of_two(text), [](int e) { return static_cast<double>(e); });
    case KnobKind::kInteger:
      return number_of(spec::parse_integer(text, 0, 1 << 30), [](std::int64_t n) { return static_cast<double>(n); });
  }
  return std::nullopt;
}

const char* example_of(KnobKind kind) {
  switch (kind) {
    case KnobKind::kSize:
      return "10KB..2MB";
    case KnobKind::kTime:
      return "2us..50us";
    case KnobKind::kRate:
      return "1Mbps..1Gbps";
    case KnobKind::kPercent:
      return "5%..50%";
    case KnobKind::kRatio:
      return "1/256..1/4";
    case KnobKind::kPowerOfTwo:
      return "1/64..2";
    case KnobKind::kInteger:
      return "16..512";
  }
  return "";
}

struct Bounds {
  double low, high;
};

Bounds table_bounds(const Knob& knob, const spec::Lab& lab) {
  const double scale = knob.per_gbps ? fastest_gbps(lab) : 1;
  return {knob.low * scale, knob.high * scale};
}

// "ecn.kmin=10KB..2MB".
std::pair<const Knob*, Bounds> read_range(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t dots = text.find("..");
  if (equals == text.npos || dots == text.npos || dots < equals)
    throw std::invalid_argument(fmt::format("--range: '{}': expected KNOB=FROM..TO, e.g. ecn.kmin=10KB..2MB", text));
  const Knob& knob = knob_named(text.substr(0, equals), "--range");
  const auto low = read_value(knob.kind, text.substr(equals + 1, dots - equals - 1));
  const auto high = read_value(knob.kind, text.substr(dots + 2));
  if (!low || !high || *low >= *high || (knob.logarithmic && *low <= 0))
    throw std::invalid_argument(fmt::format("--range: '{}': expected an ascending range such as {}={}", text, knob.name,
                                            example_of(knob.kind)));
  return {&knob, {*low, *high}};
}

// What a key of the lab is, defaults written: "400KB"; empty: nothing is said.
std::string text_at(const spec::Tree& document, const std::string& path) {
  const spec::Tree* at = &document;
  for (std::size_t from = 0; at && from <= path.size();) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    at = at->find(path.substr(from, dot - from));
    from = dot + 1;
  }
  return at && at->kind == spec::Tree::Kind::kScalar ? at->text : std::string();
}

void read_start(ChosenKnob& k, const spec::Lab& lab, const spec::Tree& document) {
  const KnobSite& site = k.sites.front();
  k.start_text = text_at(document, path_of(*k.knob, site));
  const std::optional<double> said = read_value(k.knob->kind, k.start_text);
  if (said && (*said > 0 || !k.knob->logarithmic)) {
    k.start = *said;
  } else if (k.knob->place == KnobPlace::kEcn) {
    const EcnValues ecn = ecn_of(lab, site);
    k.start = k.knob->key == "kmin" ? *ecn.kmin : k.knob->key == "kmax" ? *ecn.kmax : *ecn.pmax;
    k.start_text = k.start_text.empty() ? "auto" : k.start_text;
  } else {
    // Unlimited is the most there is; what is computed from the lab is somewhere in the middle.
    k.start = k.knob->kind == KnobKind::kInteger ? k.high : k.value(0.5);
    k.start_text = k.start_text.empty() ? "auto" : k.start_text;
  }
  k.low = std::min(k.low, k.start);
  k.high = std::max(k.high, k.start);
}

// The sites where a knob applies; why not, if nowhere.
std::vector<KnobSite> usable_sites(const Knob& knob, const spec::Lab& lab, const std::vector<int>& classes,
                                   std::string& why) {
  std::vector<KnobSite> out;
  for (KnobSite& site : sites_of(lab, knob.place, classes)) {
    const std::string obstacle = knob.obstacle(lab, site);
    if (obstacle.empty())
      out.push_back(std::move(site));
    else
      why = obstacle;
  }
  return out;
}

void check_classes(const spec::Lab& lab, const std::vector<int>& classes) {
  const std::vector<KnobSite> used = sites_of(lab, KnobPlace::kClass, {});
  for (const int c : classes) {
    if (std::ranges::any_of(used, [&](const KnobSite& s) { return s.traffic_class == c; })) continue;
    std::set<int> known;
    for (const KnobSite& s : used) known.insert(s.traffic_class);
    throw std::invalid_argument(
        fmt::format("--class: no traffic is in class {}; expected one of {}", c, fmt::join(known, ", ")));
  }
}

}  // namespace

std::vector<ChosenKnob> choose_knobs(const spec::Lab& lab, const std::vector<std::string>& names,
                                     const std::vector<std::string>& ranges, const std::vector<int>& classes) {
  check_classes(lab, classes);
  std::vector<ChosenKnob> out;
  std::string why = "no traffic";
  const auto add = [&](const Knob& knob) {
    std::vector<KnobSite> sites = usable_sites(knob, lab, classes, why);
    if (sites.empty()) return false;
    const Bounds b = table_bounds(knob, lab);
    out.push_back({&knob, b.low, b.high, 0, {}, std::move(sites)});
    return true;
  };
  for (const std::string& name : names) {
    const Knob& knob = knob_named(name, "--knobs");
    if (std::ranges::any_of(out, [&](const ChosenKnob& k) { return k.knob == &knob; }))
      throw std::invalid_argument(fmt::format("--knobs: {} is given twice", name));
    if (!add(knob)) throw std::invalid_argument(fmt::format("--knobs: {} does not apply: {}", name, why));
  }
  for (const Knob& knob : knob_table())
    if (names.empty() && knob.by_default) add(knob);
  if (out.empty())
    throw std::invalid_argument(
        fmt::format("--knobs: none of those by default applies ({}); expected knobs that do, of: {}", why,
                    fmt::join(knob_names(), ", ")));
  for (const std::string& text : ranges) {
    const auto [knob, bounds] = read_range(text);
    const auto found = std::ranges::find(out, knob, &ChosenKnob::knob);
    if (found == out.end()) throw std::invalid_argument(fmt::format("--range: {} is not among the knobs", knob->name));
    found->low = bounds.low;
    found->high = bounds.high;
  }
  const spec::Tree document = spec::parse_yaml(spec::to_yaml(lab, spec::Defaults::kWritten), lab.name);
  for (ChosenKnob& k : out) read_start(k, lab, document);
  return out;
}

}  // namespace railyard::tune
