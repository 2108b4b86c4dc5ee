#include "control/bench/memory_growth.h"

#include <cmath>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::bench {
namespace {

const ReportJson* samples_of(const ReportJson& report) {
  const ReportJson* const all = pointed(report, "/engine/memory");
  return all == nullptr || all->empty() ? nullptr : all;
}

}  // namespace

std::optional<acceptance::Growth> memory_growth(const ReportJson& report) {
  const ReportJson* const all = samples_of(report);
  if (all == nullptr) return std::nullopt;
  const double half = (*all).back()["wall_seconds"].get<double>() / 2;
  acceptance::Soak soak;
  for (const auto& s : *all)
    if (const double at = s["wall_seconds"].get<double>(); at >= half)
      soak.samples[soak.samples.size()] = {.seconds = at, .rss_bytes = s["rss_bytes"].get<double>()};
  return acceptance::growth(soak);
}

std::optional<double> memory_at(const ReportJson& report, const std::string& share) {
  const ReportJson* const all = samples_of(report);
  const auto ratio = spec::parse_ratio(share);
  if (all == nullptr || !ratio) return std::nullopt;
  const double at = (*all).back()["wall_seconds"].get<double>() * static_cast<double>(ratio->numerator) /
                    static_cast<double>(ratio->denominator);
  const ReportJson* nearest = nullptr;
  double distance = 0;
  for (const auto& s : *all) {
    const double d = std::abs(s["wall_seconds"].get<double>() - at);
    if (nearest != nullptr && d >= distance) continue;
    nearest = &s;
    distance = d;
  }
  return number((*nearest)["rss_bytes"]);
}

std::optional<double> open_files_grown(const ReportJson& report) {
  const ReportJson* const all = samples_of(report);
  if (all == nullptr) return std::nullopt;
  return (*all).back()["open_files"].get<double>() - (*all).front()["open_files"].get<double>();
}

std::string problem_of_share(const std::string& share) {
  const auto ratio = spec::parse_ratio(share);
  if (ratio && ratio->numerator >= 0 && ratio->numerator <= ratio->denominator) return {};
  return fmt::format("found '{}'; expected a share of the run, from 0 to 1, such as 6/24", share);
}

}  // namespace railyard::bench
