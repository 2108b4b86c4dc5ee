#include "control/plan/arithmetic.h"

#include <cmath>

#include <fmt/format.h>

#include "control/base/text_table.h"
#include "control/report/units.h"

namespace railyard::plan {

std::string text(const std::vector<Section>& sections) {
  std::string out;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& s = sections[i];
    out += fmt::format("{}{}. {}\n", i > 0 ? "\n" : "", i + 1, s.title);
    if (!s.table.empty()) out += text_table(s.table, s.table.front().size(), "  ") + "\n";
    std::vector<std::vector<std::string>> lines;
    for (const Line& l : s.lines) {
      std::string how = l.formula.empty() ? l.result : l.formula + " = " + l.result;
      lines.push_back({l.what, l.source.empty() ? std::move(how) : fmt::format("{}  [{}]", how, l.source)});
    }
    out += text_table(lines, 2, "  ");
    for (const std::string& n : s.notes) out += fmt::format("  {}\n", n);
  }
  return out;
}

std::string counted(long long n, const char* one, const char* many) {
  return fmt::format("{} {}", report::count_text(static_cast<std::uint64_t>(n)), n == 1 ? one : many);
}

std::string number(double value) {
  if (std::abs(value - std::round(value)) < 0.005) return fmt::format("{:.0f}", value);
  return fmt::format("{:.2f}", value);
}

std::string kilowatts(double watts) {
  const auto tenths = static_cast<std::uint64_t>(std::llround(watts / 100));
  return fmt::format("{}.{} kW", report::count_text(tenths / 10), tenths % 10);
}

std::string rate_words(double bps) {
  constexpr double kTerabit = 1e12, kThousand = 1e15;
  if (bps < kThousand) return report::rate_text(bps);
  return report::count_text(static_cast<std::uint64_t>(std::llround(bps / kTerabit))) + " Tb/s";
}

std::string ratio_text(double ratio) { return number(ratio) + ":1"; }

}  // namespace railyard::plan
