#include "control/report/flow_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/units.h"

namespace railyard::report {

std::string flow_text(const std::vector<FlowReport>& flows) {
  std::string text;
  const auto out = std::back_inserter(text);
  std::size_t width = 4;
  for (const FlowReport& f : flows) width = std::max(width, f.name.size());
  fmt::format_to(out, "\n{:<{}}  {:>10} {:>10} {:>8} {:>9} {:>9}   {}\n", "flow", width, "goodput", "packets", "lost",
                 "CE", "FCT", "latency p50 / p99 / max");
  std::vector<std::string_view> silent;
  for (const FlowReport& f : flows) {
    if (f.packets == 0 && f.delivered_bytes == 0) {
      silent.push_back(f.name);
      continue;
    }
    fmt::format_to(
        out, "{:<{}}  {:>10} {:>10} {:>8} {:>9} {:>9}   {}\n", f.name, width, rate_text(f.goodput_bps()),
        f.packets > 0 ? count_text(f.packets) : "-", f.measured ? count_text(f.lost) : "-", percent_text(f.ce_share()),
        f.fct_ns ? nanoseconds_text(static_cast<std::uint64_t>(*f.fct_ns)) : "-", time_text(f.latency_ns));
  }
  if (!silent.empty())
    fmt::format_to(out, "{} {} sent nothing: {}\n", silent.size(), silent.size() == 1 ? "flow" : "flows",
                   fmt::join(silent, ", "));
  return text;
}

}  // namespace railyard::report
