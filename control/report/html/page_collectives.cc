// Per collective: how long a repeat took, how near to the limit it came, whether the data were right; repeats over time.
#include <algorithm>

#include <fmt/format.h>

#include "control/report/html/chart.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostCollectives = 40;

std::string time_cell(const std::optional<std::int64_t>& ns) {
  return ns ? nanoseconds_text(static_cast<std::uint64_t>(*ns)) : "-";
}

std::string message_cell(const CollectiveReport& c, std::uint64_t ns) {
  return c.messages.count > 0 && c.messages.ns.known() ? nanoseconds_text(ns) : "-";
}

const char* data_word(const CollectiveReport& c) {
  return c.verified ? "verified" : c.completed ? "WRONG" : "INCOMPLETE";
}

std::string collectives_table(const Report& r) {
  Table table({{"collective", true},
               {"operation", true},
               {"algorithm", true},
               {"ranks"},
               {"size"},
               {"iterations"},
               {"min"},
               {"median"},
               {"p99"},
               {"max"},
               {"algbw", false, "size / median time"},
               {"busbw", false, "algbw times the operation's nccl-tests factor"},
               {"of limit", false, "busbw / link rate of the slowest rank, less framing"},
               {"message, p50", false, "from posting a message until it is acknowledged"},
               {"p99"},
               {"retransmitted"},
               {"CNPs"},
               {"data", true}});
  for (std::size_t i = 0; i < std::min(r.collectives.size(), kMostCollectives); ++i) {
    const CollectiveReport& c = r.collectives[i];
    table.row({c.name, c.collective, c.algorithm, count_text(c.ranks.size()),
               size_of(c),
               count_text(c.iterations.size()), time_cell(c.min_ns), time_cell(c.median_ns), time_cell(c.p99_ns),
               time_cell(c.max_ns), c.has_bandwidth() ? rate_text(c.algbw_bps) : "-",
               c.has_bandwidth() ? rate_text(c.busbw_bps) : "-",
               c.share_of_limit() ? percent_text(*c.share_of_limit()) : "-", message_cell(c, c.messages.ns.p50),
               message_cell(c, c.messages.ns.p99), count_text(c.retransmitted_packets), count_text(c.cnp_handled),
               data_word(c)},
              c.verified ? "" : "bad");
  }
  return table.html(r.collectives.size() > kMostCollectives
                        ? fmt::format("and {} more in report.json", r.collectives.size() - kMostCollectives)
                        : std::string());
}

std::string troubles(const Report& r) {
  std::string out;
  for (const CollectiveReport& c : r.collectives) {
    if (!c.stalled.empty()) out += paragraph(escaped_html(c.name + ": stalled: " + c.stalled));
    if (!c.wrong.empty()) out += paragraph(escaped_html(c.name + ": wrong data: " + c.wrong));
  }
  return out;
}

const JobFigures::Training* training(const CollectiveReport& c) {
  return c.figures && c.figures->training ? &*c.figures->training : nullptr;
}

std::string jobs_table(const Report& r) {
  Table table({{"training steps", true},
               {"computing", false, "time per rank and step, without jitter"},
               {"buckets", false, "of gradients"},
               {"step, median"},
               {"p99"},
               {"ideal step", false, "a step whose messages take no time: computing, and waiting for each other's"},
               {"efficiency", false, "ideal step / median step"},
               {"tokens/s"},
               {"MFU", false, "the model's operations of a step / what all GPUs can do in that time"},
               {"utilisation", false, "compute time / (compute + wait), all ranks"},
               {"idle"},
               {"idle, per hour", false, "cost of the idle GPUs per hour (run.gpu-hour)"},
               {"straggler", true, "rank with 10 % more compute time than the median rank"},
               {"overlap", false, "share of the communication that overlapped with compute"}});
  for (const CollectiveReport& c : r.collectives)
    if (c.job)
      table.row({c.name, nanoseconds_text(static_cast<std::uint64_t>(c.job->compute_ns)),
                 c.job->buckets > 0 ? std::to_string(c.job->buckets) : "-", time_cell(c.median_ns), time_cell(c.p99_ns),
                 c.figures ? nanoseconds_text(static_cast<std::uint64_t>(c.figures->ideal_ns)) : "-",
                 c.figures && c.figures->efficiency ? percent_text(*c.figures->efficiency) : "-",
                 c.figures && c.figures->tokens_per_second() ? fmt::format("{:.4g}", *c.figures->tokens_per_second()) : "-",
                 training(c) && training(c)->mfu ? percent_text(*training(c)->mfu) : "-",
                 percent_text(c.job->utilisation), percent_text(1 - c.job->utilisation),
                 c.job->idle_cost_per_hour ? fmt::format("{:.2f}", *c.job->idle_cost_per_hour) : "-",
                 c.job->straggler ? fmt::format("{}: x {:.2f}", c.job->straggler->rank, c.job->straggler->factor) : "-",
                 c.job->overlap ? percent_text(std::max(0.0, *c.job->overlap)) : std::string("-")});
  return table.empty() ? std::string() : "<h3>Training</h3>\n" + table.html();
}

std::string storage_table(const Report& r) {
  Table table({{"storage and failures", true},
               {"checkpoint", false, "bytes of one, over all ranks"},
               {"written"},
               {"longer by", false, "step that ends with a checkpoint, against other steps: medians"},
               {"read"},
               {"longer by", false, "step that begins with a checkpoint, without the restart, against other steps: medians"},
               {"failures"},
               {"steps lost", false, "steps that failed, or were before a failure and after its last checkpoint"},
               {"ETTR", false, "effective training time ratio: steps that count x an ordinary step / time of all steps"}});
  for (const CollectiveReport& c : r.collectives)
    if (c.storage)
      table.row({c.name, c.storage->checkpoints + c.storage->restores > 0 ? size_text(c.storage->checkpoint_bytes) : "-",
                 std::to_string(c.storage->checkpoints), time_cell(c.storage->checkpoint_ns), std::to_string(c.storage->restores),
                 time_cell(c.storage->restore_ns), std::to_string(c.storage->failures), std::to_string(c.storage->lost_steps),
                 c.storage->ettr ? percent_text(*c.storage->ettr) : "-"});
  return table.empty() ? std::string() : table.html();
}

std::string requests_table(const Report& r) {
  Table table({{"requests of inference", true}, {"", true}, {"count"}, {"mean"}, {"p50"}, {"p90"}, {"p99"}, {"max"}});
  const auto time = [](double ns) { return nanoseconds_text(static_cast<std::uint64_t>(ns)); };
  for (const CollectiveReport& c : r.collectives) {
    if (!c.figures || !c.figures->inference) continue;
    for (const NamedSpread& s : spreads(*c.figures->inference))
      if (s.ns.count > 0)
        table.row({c.name, fmt::format("{}: {}", s.called, s.help), std::to_string(s.ns.count), time(s.ns.mean), time(s.ns.p50),
                   time(s.ns.p90), time(s.ns.p99), time(s.ns.max)});
  }
  return table.empty() ? std::string() : "<h3>Inference</h3>\n" + table.html();
}

std::string scale_up_table(const Report& r) {
  Table table({{"over scale-up networks", true},
               {"messages"},
               {"bytes"},
               {"busy", false, "of the busiest rank: its bytes / rate"},
               {"first byte p50", false, "from rank to rank in a host"},
               {"p99"},
               {"max"}});
  for (const CollectiveReport& c : r.collectives)
    if (c.scale_up)
      table.row({c.name, count_text(c.scale_up->messages), size_text(c.scale_up->bytes),
                 nanoseconds_text(static_cast<std::uint64_t>(c.scale_up->busy_ns)),
                 time_text(c.scale_up->latency_ns, &Percentiles::p50), time_text(c.scale_up->latency_ns, &Percentiles::p99),
                 time_text(c.scale_up->latency_ns, &Percentiles::max)});
  return table.empty() ? std::string() : "<h3>In hosts</h3>\n" + table.html();
}

std::string repeats_chart(const Report& r) {
  Chart chart;
  chart.title = "Time of each repeat, by its start";
  chart.x = {"start", false, [](double v) { return nanoseconds_text(static_cast<std::uint64_t>(v)); }};
  chart.y = {"time", false, [](double v) { return nanoseconds_text(static_cast<std::uint64_t>(v)); }};
  for (const CollectiveReport& c : r.collectives) {
    if (c.iterations.size() < 2 || chart.lines.size() == kMostLines) continue;
    Line line{c.name, {}, false};
    for (const CollectiveReport::Repeat& i : c.iterations)
      if (i.time_ns) line.points.emplace_back(static_cast<double>(i.start_ns), static_cast<double>(*i.time_ns));
    if (line.points.empty()) continue;
    line.note = fmt::format("{} repeats, median {}, max {}", count_text(line.points.size()), time_cell(c.median_ns),
                            time_cell(c.max_ns));
    chart.lines.push_back(std::move(line));
  }
  const std::string drawn = strips_html(chart);
  return drawn.empty() ? drawn : "<h3>Iterations over time</h3>\n" + drawn;
}

}  // namespace

std::string collectives_section(const Report& r) {
  if (r.collectives.empty()) return {};
  return collectives_table(r) + troubles(r) + jobs_table(r) + storage_table(r) + requests_table(r) + scale_up_table(r) + repeats_chart(r);
}

}  // namespace railyard::report
