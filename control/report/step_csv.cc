#include "control/report/step_csv.h"

#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "control/report/flow_csv.h"

namespace railyard::report {

std::string step_csv(const Report& report) {
  std::string out = "collective,transport,step,start_ns,time_ns,algbw_bps,busbw_bps,cumulative_ns\n";
  for (const CollectiveReport& c : report.collectives) {
    const std::string name = csv_field(c.name);
    const std::int64_t began = c.iterations.empty() ? 0 : c.iterations.front().start_ns;
    for (std::size_t i = 0; i < c.iterations.size(); ++i) {
      const CollectiveReport::Repeat& repeat = c.iterations[i];
      fmt::format_to(std::back_inserter(out), "{},{},{},{},", name, c.transport, i + 1, repeat.start_ns);
      if (!repeat.time_ns) {
        out += ",,,\n";
        continue;
      }
      const std::int64_t time = *repeat.time_ns;
      fmt::format_to(std::back_inserter(out), "{},", time);
      if (c.job || time <= 0) {
        out += ",,";
      } else {
        const double algbw = static_cast<double>(c.bytes) * 8e9 / static_cast<double>(time);
        fmt::format_to(std::back_inserter(out), "{:.0f},{:.0f},", algbw, algbw * c.factor);
      }
      fmt::format_to(std::back_inserter(out), "{}\n", repeat.start_ns + time - began);
    }
  }
  return out;
}

}  // namespace railyard::report
