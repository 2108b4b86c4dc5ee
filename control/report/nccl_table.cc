#include "control/report/nccl_table.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr double kBitsOfGigabyte = 8e9;

// As nccl-tests writes times: seven columns, fewer decimals the longer it took.
std::string microseconds(const std::optional<double>& us) {
  if (!us) return "N/A";
  return *us >= 10'000 ? fmt::format("{:.0f}", *us) : *us >= 100 ? fmt::format("{:.1f}", *us) : fmt::format("{:.2f}", *us);
}

}  // namespace

std::optional<double> NcclTable::mean_busbw_bps() const {
  double all = 0;
  std::size_t n = 0;
  for (const NcclRow& r : rows)
    if (r.time_us) {
      all += r.busbw_bps;
      ++n;
    }
  return n > 0 ? std::optional(all / static_cast<double>(n)) : std::nullopt;
}

std::string NcclTable::text() const {
  std::string out = title;
  const auto to = std::back_inserter(out);
  const auto header = [&](const auto&... cells) {
    fmt::format_to(to, "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>8}  {:>8}{}\n", cells...);
  };
  const bool chosen = std::ranges::any_of(rows, [](const NcclRow& r) { return !r.algorithm.empty(); });
  header("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "busbw", "of limit",
         chosen ? "  chosen" : "");
  header("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(Gb/s)", "", "");
  std::uint64_t wrong = 0;
  for (const NcclRow& r : rows) {
    const auto rate = [&](double bps, double unit) { return r.time_us ? fmt::format("{:.2f}", bps / unit) : "N/A"; };
    fmt::format_to(to, "{:>12}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>8}  {:>8}{}\n", r.bytes,
                   r.elements, type, redop, root, microseconds(r.time_us), rate(r.algbw_bps, kBitsOfGigabyte),
                   rate(r.busbw_bps, kBitsOfGigabyte), r.time_us && !estimated ? fmt::format("{}", r.wrong) : "N/A",
                   rate(r.busbw_bps, 1e9), r.time_us ? percent_text(r.share_of_limit) : "N/A",
                   r.algorithm.empty() ? "" : fmt::format("  {}, {}", r.algorithm, r.protocol));
    wrong += r.wrong;
  }
  if (!estimated) fmt::format_to(to, "# Out of bounds values : {} {}\n", wrong, wrong == 0 ? "OK" : "FAILED");
  const auto mean = mean_busbw_bps();
  fmt::format_to(to, "# Avg bus bandwidth    : {}\n", mean ? fmt::format("{:.4g} GB/s", *mean / kBitsOfGigabyte) : "N/A");
  return out;
}

}  // namespace railyard::report
