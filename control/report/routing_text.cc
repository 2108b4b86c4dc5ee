#include "control/report/routing_text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "control/report/units.h"

namespace railyard::report {
namespace {

using rerouting::Rerouting;

constexpr std::size_t kMostReroutings = 8;
constexpr std::size_t kMostCausesInLine = 3;

std::string instant_text(std::int64_t ns) { return ns < 0 ? "-" : time_text(Duration{ns * 1000}); }

std::string causes_text(const Rerouting& r) {
  std::string text;
  for (std::size_t i = 0; i < std::min(r.causes.size(), kMostCausesInLine); ++i)
    text += (i == 0 ? "" : ", ") + r.causes[i].what;
  if (r.cause_count > kMostCausesInLine) text += fmt::format(" and {} more", r.cause_count - kMostCausesInLine);
  return text;
}

}  // namespace

std::string routing_text(const Report& report) {
  if (report.reroutings.empty()) return {};
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\nRouting: reactions to links and drains\n");
  fmt::format_to(out, "  {:>10} {:>12} {:>11} {:>8} {:>8} {:>9} {:>8} {:>10} {:>9}  {}\n", "at", "first change", "last change",
                 "switches", "routes", "messages", "lost", "last lost", "reordered", "cause");
  for (std::size_t i = 0; i < std::min(report.reroutings.size(), kMostReroutings); ++i) {
    const Rerouting& r = report.reroutings[i];
    const auto after = [&](std::int64_t ns) { return ns < 0 ? std::string("-") : "+" + instant_text(ns - r.began_ns); };
    fmt::format_to(out, "  {:>10} {:>12} {:>11} {:>8} {:>8} {:>9} {:>8} {:>10} {:>9}  {}{}\n", instant_text(r.began_ns),
                   after(r.first_change_ns), after(r.last_change_ns), r.switches, r.routes, r.messages, r.lost,
                   after(r.last_lost_ns), r.reordered, causes_text(r),
                   r.at_rest ? "" : " (not at rest at the end)");
  }
  if (report.reroutings.size() > kMostReroutings)
    fmt::format_to(out, "  and {} more\n", report.reroutings.size() - kMostReroutings);
  return text;
}

}  // namespace railyard::report
