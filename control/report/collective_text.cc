#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "control/report/collective_report.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::report {
namespace {

std::string gbps(double bps) { return fmt::format("{:.2f}", bps / 1e9); }

std::string time_or_dash(const std::optional<std::int64_t>& ns) {
  return ns ? nanoseconds_text(static_cast<std::uint64_t>(*ns)) : "-";
}

}  // namespace

std::string size_of(const CollectiveReport& c) {
  // Jobs have no size of their own: what they send adds up to odd numbers.
  return c.figures && (c.figures->training || c.figures->inference) ? size_text(c.bytes) : spec::format(Bytes{static_cast<std::int64_t>(c.bytes)});
}

std::string collective_text(const std::vector<CollectiveReport>& collectives) {
  std::string text;
  if (collectives.empty()) return text;
  const auto out = std::back_inserter(text);
  std::size_t name = 4, collective = 10, algorithm = 9, transport = 9;
  for (const CollectiveReport& c : collectives) {
    name = std::max(name, c.name.size());
    collective = std::max(collective, c.collective.size());
    algorithm = std::max(algorithm, c.algorithm.size());
  }
  const auto line = [&](const auto&... cells) {
    fmt::format_to(out, "  {:<{}}  {:<{}}  {:<{}}  {:<{}} {:>5} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n",
                   cells...);
  };
  fmt::format_to(out,
                 "Collectives: busbw as in nccl-tests, Gb/s; of limit: share of the link rate left after framing{}\n",
                 std::ranges::any_of(collectives, [](const CollectiveReport& c) { return c.scale_up.has_value(); })
                     ? "; with a scale-up network, share of what its busiest link or rank can carry"
                     : "");
  line("name", name, "collective", collective, "algorithm", algorithm, "transport", transport, "ranks", "size", "min",
       "median", "p99", "max", "algbw", "busbw", "of limit", "data");
  for (const CollectiveReport& c : collectives)
    line(c.name, name, c.collective, collective, c.algorithm, algorithm, c.transport, transport, c.ranks.size(),
         size_of(c), time_or_dash(c.min_ns), time_or_dash(c.median_ns),
         time_or_dash(c.p99_ns), time_or_dash(c.max_ns), c.has_bandwidth() ? gbps(c.algbw_bps) : "-",
         c.has_bandwidth() ? gbps(c.busbw_bps) : "-", c.share_of_limit() ? percent_text(*c.share_of_limit()) : "-",
         c.verified    ? "verified"
         : c.completed ? "WRONG"
                       : "INCOMPLETE");
  for (const CollectiveReport& c : collectives) {
    // Timeouts of UET are its PDCs', and so its NICs'.
    if (c.transport != "roce" && c.retransmitted_packets + c.ecn_marked > 0)
      fmt::format_to(out, "  {}: {} of {} packets retransmitted; {} received with CE\n", c.name,
                     count_text(c.retransmitted_packets), count_text(c.packets), count_text(c.ecn_marked));
    if (c.transport == "roce" && c.retransmitted_packets + c.cnp_sent > 0)
      fmt::format_to(out, "  {}: {} of {} packets retransmitted; {} timeouts; {} received with CE, {} CNPs\n", c.name,
                     count_text(c.retransmitted_packets), count_text(c.packets), count_text(c.local_ack_timeout_err),
                     count_text(c.ecn_marked), count_text(c.cnp_sent));
    if (c.job)
      fmt::format_to(out, "  {}: {}: {} compute time {}{}; utilisation {}, idle {}{}\n", c.name,
                     c.job->buckets > 0 ? "training steps" : c.figures && (c.figures->training || c.figures->inference) ? "job" : "trace",
                     nanoseconds_text(static_cast<std::uint64_t>(c.job->compute_ns)), c.job->buckets > 0 ? "each" : "of the busiest rank",
                     c.job->buckets > 0 ? fmt::format(", {} bucket{}", c.job->buckets, c.job->buckets == 1 ? "" : "s") : "",
                     percent_text(c.job->utilisation), percent_text(1 - c.job->utilisation),
                     c.job->overlap ? fmt::format("; {} of the communication overlapped with compute",
                                                  percent_text(std::max(0.0, *c.job->overlap)))
                                    : "");
    if (c.figures) text += job_text(c.name, *c.figures);
    if (c.storage) text += storage_text(c.name, *c.storage);
    if (c.job && c.job->straggler)
      fmt::format_to(out, "  {}: straggler {}: {:.2f} times the median rank's compute time\n", c.name,
                     c.job->straggler->rank, c.job->straggler->factor);
    if (c.job && c.job->idle_cost_per_hour)
      fmt::format_to(out, "  {}: idle GPUs cost {:.2f} per hour ({} GPUs, idle {} of the time)\n", c.name,
                     *c.job->idle_cost_per_hour, c.ranks.size(), percent_text(1 - c.job->utilisation));
    if (c.timeline) text += timeline_text(c.name, *c.timeline);
    if (c.scale_up)
      fmt::format_to(
          out, "  {}: scale-up networks: {} in {} messages, busiest rank {}; first byte p50 / p99 / max {}\n", c.name,
          size_text(c.scale_up->bytes), count_text(c.scale_up->messages),
          nanoseconds_text(static_cast<std::uint64_t>(c.scale_up->busy_ns)), time_text(c.scale_up->latency_ns));
    if (!c.completed) fmt::format_to(out, "  STALLED: {}: {}\n", c.name, c.stalled);
    if (!c.wrong.empty()) fmt::format_to(out, "  WRONG DATA: {}: {}\n", c.name, c.wrong);
  }
  return text;
}

}  // namespace railyard::report
