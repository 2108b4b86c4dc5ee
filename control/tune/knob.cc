#include "control/tune/knob.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "control/tune/knob_sites.h"

namespace railyard::tune {
namespace {

constexpr int kLeastExponent = -8, kMostExponent = 7;  // of alpha: 1/256..128

const spec::TrafficClass& class_of(const spec::Lab& lab, const KnobSite& site) {
  return lab.qos.at(site.profile).classes[static_cast<std::size_t>(site.traffic_class)];
}

std::string no_ecn(const spec::Lab& lab, const KnobSite& site) {
  return class_of(lab, site).ecn.enabled ? "" : fmt::format("class {} does not mark (ecn: off)", site.traffic_class);
}

std::string no_pfc(const spec::Lab& lab, const KnobSite& site) {
  const spec::TrafficClass& c = class_of(lab, site);
  if (!c.lossless) return fmt::format("class {} is lossy", site.traffic_class);
  return c.cbfc ? fmt::format("class {} has credits (cbfc)", site.traffic_class) : "";
}

std::string no_alpha(const spec::Lab& lab, const KnobSite& site) {
  if (std::string why = no_pfc(lab, site); !why.empty()) return why;
  return class_of(lab, site).xoff ? fmt::format("class {} has a fixed xoff", site.traffic_class) : "";
}

std::string no_xoff(const spec::Lab& lab, const KnobSite& site) {
  if (std::string why = no_pfc(lab, site); !why.empty()) return why;
  return class_of(lab, site).xoff ? "" : fmt::format("class {} has alpha, not a fixed xoff", site.traffic_class);
}

std::string no_queue_alpha(const spec::Lab& lab, const KnobSite& site) {
  const spec::TrafficClass& c = class_of(lab, site);
  if (c.lossless) return fmt::format("class {} is lossless", site.traffic_class);
  return c.queue_limit ? fmt::format("class {} has a fixed queue-limit", site.traffic_class) : "";
}

std::string no_queue_limit(const spec::Lab& lab, const KnobSite& site) {
  const spec::TrafficClass& c = class_of(lab, site);
  if (c.lossless) return fmt::format("class {} is lossless", site.traffic_class);
  return c.queue_limit ? "" : fmt::format("class {} has queue-alpha, not a fixed queue-limit", site.traffic_class);
}

std::string no_roce(const spec::Lab& lab, const KnobSite&) {
  return has_transport(lab, spec::TrafficSpec::Transport::kRoce) ? "" : "no traffic with transport: roce";
}

std::string no_dcqcn(const spec::Lab& lab, const KnobSite& site) {
  if (std::string why = no_roce(lab, site); !why.empty()) return why;
  return runs_dcqcn(lab, site.profile) ? "" : fmt::format("hosts.{}: congestion is not dcqcn", site.profile);
}

std::string no_nscc(const spec::Lab& lab, const KnobSite& site) {
  if (!has_transport(lab, spec::TrafficSpec::Transport::kUet)) return "no traffic with transport: uet";
  return spec::has_nscc(lab.hosts.at(site.profile).uet.congestion)
             ? ""
             : fmt::format("hosts.{}: congestion is neither nscc nor both", site.profile);
}

// Two significant digits.
double rounded(double v) {
  if (v == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(v))) - 1);
  return std::round(v / unit) * unit;
}

double neat(KnobKind kind, double v) {
  switch (kind) {
    case KnobKind::kPercent:
      return std::round(v * 100) / 100;
    case KnobKind::kPowerOfTwo:
    case KnobKind::kInteger:
      return std::round(v);
    default:
      return rounded(v);
  }
}

struct UnitWord {
  double size;
  const char* word;
};

std::string with_unit(double v, std::initializer_list<UnitWord> units) {
  for (const UnitWord& u : units)
    if (v >= u.size * (1 - 1e-9)) return fmt::format("{:.6g}{}", v / u.size, u.word);
  return fmt::format("{:.0f}{}", v, (units.end() - 1)->word);
}

std::string value_text(KnobKind kind, double v) {
  switch (kind) {
    case KnobKind::kSize:
      return with_unit(std::round(v), {{1e6, "MB"}, {1e3, "KB"}, {1, "B"}});
    case KnobKind::kTime:
      return with_unit(std::round(v), {{1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
    case KnobKind::kRate:
      return with_unit(std::round(v), {{1e9, "Gbps"}, {1e6, "Mbps"}, {1e3, "Kbps"}, {1, "bps"}});
    case KnobKind::kPercent:
      return fmt::format("{:.6g}%", v * 100);
    case KnobKind::kRatio:
      return fmt::format("{:.6f}", v);
    case KnobKind::kPowerOfTwo:
      return v < 0 ? fmt::format("1/{}", 1 << static_cast<int>(-v)) : fmt::format("{}", 1 << static_cast<int>(v));
    case KnobKind::kInteger:
      return fmt::format("{:.0f}", v);
  }
  return {};
}

}  // namespace

const std::vector<Knob>& knob_table() {
  using enum KnobPlace;
  using enum KnobKind;
  // Thresholds in bytes per Gb/s: 125 are a queue of 1 us.
  static const std::vector<Knob> table{
      {"ecn.kmin",
       kEcn,
       "kmin",
       kSize,
       100,
       16'000,
       true,
       true,
       true,
       {},
       "queue depth below which nothing is marked",
       no_ecn},
      {"ecn.kmax", kEcn, "kmax", kSize, 200, 64'000, true, true, true, "ecn.kmin",
       "depth from which everything is marked", no_ecn},
      {"ecn.pmax", kEcn, "pmax", kPercent, 0.01, 1, false, false, true, {}, "mark probability at kmax", no_ecn},
      {"pfc.alpha",
       kClass,
       "alpha",
       kPowerOfTwo,
       kLeastExponent,
       2,
       false,
       false,
       true,
       {},
       "share of the free buffer of an ingress group: beyond it XOFF",
       no_alpha},
      {"pfc.xoff",
       kClass,
       "xoff",
       kSize,
       200,
       64'000,
       true,
       true,
       true,
       {},
       "fixed XOFF threshold of an ingress group",
       no_xoff},
      {"queue.alpha",
       kClass,
       "queue-alpha",
       kPowerOfTwo,
       kLeastExponent,
       kMostExponent,
       false,
       false,
       true,
       {},
       "share of the free buffer of an egress queue of a lossy class",
       no_queue_alpha},
      {"queue.limit",
       kClass,
       "queue-limit",
       kSize,
       200,
       64'000,
       true,
       true,
       true,
       {},
       "fixed limit of an egress queue of a lossy class",
       no_queue_limit},
      {"roce.window",
       kRoce,
       "window",
       kInteger,
       4,
       4096,
       false,
       true,
       false,
       {},
       "unacknowledged packets of a QP",
       no_roce},
      {"dcqcn.ai-rate",
       kRoce,
       "dcqcn.rpg-ai-rate",
       kRate,
       1e6,
       2e9,
       false,
       true,
       false,
       {},
       "step of additive increase",
       no_dcqcn},
      {"dcqcn.hai-rate",
       kRoce,
       "dcqcn.rpg-hai-rate",
       kRate,
       1e7,
       1e10,
       false,
       true,
       false,
       {},
       "step of hyper increase",
       no_dcqcn},
      {"dcqcn.g",
       kRoce,
       "dcqcn.g",
       kRatio,
       1.0 / 1024,
       0.25,
       false,
       true,
       false,
       {},
       "weight of a new sample in alpha",
       no_dcqcn},
      {"dcqcn.time-reset",
       kRoce,
       "dcqcn.rpg-time-reset",
       kTime,
       10'000,
       1e6,
       false,
       true,
       false,
       {},
       "timer of rate increases",
       no_dcqcn},
      {"uet.target",
       kUet,
       "nscc.target",
       kTime,
       1'000,
       100'000,
       false,
       true,
       true,
       {},
       "NSCC's target queueing delay",
       no_nscc},
      {"uet.max-window",
       kUet,
       "nscc.max-window",
       kRatio,
       0.5,
       8,
       false,
       true,
       true,
       {},
       "NSCC's largest window in BDPs",
       no_nscc},
  };
  return table;
}

std::string knobs_text() {
  std::string out;
  for (const Knob& k : knob_table()) {
    const char* const per = k.per_gbps ? " per Gb/s" : "";
    out += fmt::format("{:<17}{} .. {}{}{}: {}\n", k.name, value_text(k.kind, k.low), value_text(k.kind, k.high), per,
                       k.by_default ? "" : " (on request)", k.help);
  }
  return out;
}

double ChosenKnob::value(double position) const {
  const double p = std::clamp(position, 0.0, 1.0);
  const double v = knob->logarithmic ? low * std::pow(high / low, p) : low + (high - low) * p;
  const double n = neat(knob->kind, v);
  return n == neat(knob->kind, start) ? start : std::clamp(n, low, high);
}

double ChosenKnob::position(double v) const {
  if (high <= low) return 0;
  const double p = knob->logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  return std::clamp(p, 0.0, 1.0);
}

std::string ChosenKnob::text(double v) const { return v == start ? start_text : value_text(knob->kind, v); }

std::vector<double> knob_values(const std::vector<ChosenKnob>& knobs, const std::vector<double>& positions) {
  std::vector<double> out;
  for (std::size_t i = 0; i < knobs.size(); ++i) out.push_back(knobs[i].value(positions[i]));
  for (std::size_t i = 0; i < knobs.size(); ++i)
    for (std::size_t j = 0; j < knobs.size(); ++j)
      if (knobs[i].knob->not_below == knobs[j].knob->name && !knobs[i].knob->not_below.empty())
        out[i] = std::max(out[i], out[j]);
  return out;
}

std::vector<std::string> knob_sets(const spec::Lab& lab, const std::vector<ChosenKnob>& knobs,
                                   const std::vector<double>& values) {
  std::vector<std::string> sets;
  std::optional<double> kmin, kmax, pmax;
  const std::vector<KnobSite>* ecn_sites = nullptr;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const ChosenKnob& k = knobs[i];
    if (values[i] == k.start) continue;
    if (k.knob->place == KnobPlace::kEcn) {
      (k.knob->key == "kmin" ? kmin : k.knob->key == "kmax" ? kmax : pmax) = values[i];
      ecn_sites = &k.sites;
      continue;
    }
    for (const KnobSite& site : k.sites)
      sets.push_back(fmt::format("{}={}", path_of(*k.knob, site), value_text(k.knob->kind, values[i])));
  }
  for (std::size_t i = 0; ecn_sites && i < ecn_sites->size(); ++i)
    sets.push_back(ecn_set(lab, (*ecn_sites)[i], {kmin, kmax, pmax}));
  std::ranges::sort(sets);
  return sets;
}

}  // namespace railyard::tune
