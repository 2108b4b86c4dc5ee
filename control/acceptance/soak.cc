#include "control/acceptance/soak.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace railyard::acceptance {
namespace {

constexpr const char* kSchema = "railyard-soak/1";

// Two-sided 95 % quantile of Student's t distribution: a table up to 30 degrees of freedom, then the expansion of
// Abramowitz and Stegun 26.7.5 about the normal quantile.
double student_95(std::size_t freedom) {
  static constexpr std::array kTable{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                     2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                     2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom == 0) return 0;
  if (freedom <= kTable.size()) return kTable[freedom - 1];
  constexpr double kNormal = 1.959964;
  const auto f = static_cast<double>(freedom);
  return kNormal + (kNormal * kNormal * kNormal + kNormal) / (4 * f);
}

}  // namespace

std::optional<Growth> growth(const Soak& soak) {
  constexpr std::size_t kLeast = 5;
  if (soak.samples.empty()) return std::nullopt;
  const std::int64_t pid = soak.samples.rbegin()->second.pid;
  std::vector<const SoakSample*> all;
  for (const auto& [number, s] : soak.samples)
    if (s.pid == pid && s.rss_bytes > 0) all.push_back(&s);
  if (all.size() < kLeast) return std::nullopt;
  const auto n = static_cast<double>(all.size());
  double x = 0, y = 0;
  for (const SoakSample* s : all) {
    x += s->seconds / n;
    y += s->rss_bytes / n;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const SoakSample* s : all) {
    xx += (s->seconds - x) * (s->seconds - x);
    xy += (s->seconds - x) * (s->rss_bytes - y);
    yy += (s->rss_bytes - y) * (s->rss_bytes - y);
  }
  if (xx <= 0) return std::nullopt;
  const double slope = xy / xx;
  const double rest = std::max(0.0, yy - slope * xy);
  constexpr double kHour = 3600;
  return Growth{slope * kHour, kHour * student_95(all.size() - 2) * std::sqrt(rest / (n - 2) / xx), all.size()};
}

SoakSums sums(const Soak& soak) {
  SoakSums out;
  for (const auto& [number, s] : soak.samples) {
    ++out.intervals;
    out.packets += s.packets;
    out.lost += s.lost;
    out.corrupted += s.corrupted;
    out.drops += s.drops;
    out.slip_ns += s.slip_ns;
    out.lateness_p99_ns = std::max(out.lateness_p99_ns, s.lateness_p99_ns);
    for (const std::string& f : s.failures)
      if (std::ranges::find(out.failures, f) == out.failures.end()) out.failures.push_back(f);
  }
  out.seconds = static_cast<double>(out.intervals) * soak.interval_seconds;
  return out;
}

nlohmann::ordered_json checkpoint(const Soak& soak) {
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const auto& [number, s] : soak.samples)
    samples.push_back({{"interval", number},
                       {"seconds", s.seconds},
                       {"packets", s.packets},
                       {"lost", s.lost},
                       {"corrupted", s.corrupted},
                       {"drops", s.drops},
                       {"failures", s.failures},
                       {"pid", s.pid},
                       {"rss_bytes", s.rss_bytes},
                       {"lateness_p99_ns", s.lateness_p99_ns},
                       {"slip_ns", s.slip_ns}});
  return {{"schema", kSchema},
          {"lab", soak.lab},
          {"transport", soak.transport},
          {"live", soak.live},
          {"interval_seconds", soak.interval_seconds},
          {"samples", std::move(samples)}};
}

Soak from_checkpoint(const std::string& text) {
  const auto j = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!j.is_object() || j.value("schema", "") != kSchema)
    throw std::invalid_argument(fmt::format("it is no checkpoint of a soak; expected \"schema\": \"{}\"", kSchema));
  try {
    Soak soak{j.at("lab"), j.at("transport"), j.at("live"), j.at("interval_seconds"), {}};
    for (const auto& s : j.at("samples"))
      soak.samples[s.at("interval").get<std::size_t>()] = {
          s.at("seconds"),  s.at("packets"), s.at("lost"),      s.at("corrupted"),       s.at("drops"),
          s.at("failures"), s.at("pid"),     s.at("rss_bytes"), s.at("lateness_p99_ns"), s.at("slip_ns")};
    return soak;
  } catch (const nlohmann::ordered_json::exception& error) {
    throw std::invalid_argument(fmt::format("it is a broken checkpoint: {}", error.what()));
  }
}

std::string why_not_resumed(const Soak& saved, const Soak& asked) {
  const auto kind = [](const Soak& s) { return s.live ? "a live lab" : "a file"; };
  if (saved.live != asked.live) return fmt::format("it is of {}, and this is {}", kind(saved), kind(asked));
  if (saved.lab != asked.lab) return "it is of another lab, or the lab has changed";
  if (saved.transport != asked.transport)
    return fmt::format("it is over {}, and this is over {}", saved.transport, asked.transport);
  if (saved.interval_seconds != asked.interval_seconds)
    return fmt::format("its intervals are {} s, and --interval is {} s", saved.interval_seconds,
                       asked.interval_seconds);
  return {};
}

}  // namespace railyard::acceptance
