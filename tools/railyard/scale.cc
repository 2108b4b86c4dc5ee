// railyard scale: a job with more and more GPUs.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/estimate/estimate.h"
#include "control/report/units.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "control/sweep/plot.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/find_job.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

struct ScaleOptions {
  std::string file;
  std::vector<std::string> sets;
  std::string job;
  std::string gpus;
  std::string over;
  std::string csv;
  std::string plot;
  bool strong = false;
  bool json = false;
};

struct Row {
  int gpus = 0;
  int copies = 0;
  int microbatches = 0;
  Duration step{};
  double tokens_per_second = 0;
  double efficiency = 0;  // of scaling: tokens/s per GPU against the first row
  std::optional<double> mfu;
  double of_ideal = 0;
};

// Powers of two times what one copy takes, up to all.
std::vector<int> usual_sizes(int copy, int all) {
  std::vector<int> sizes;
  for (int n = copy; n <= all; n *= 2) sizes.push_back(n);
  return sizes;
}

int whole(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || n < 1)
    throw std::invalid_argument(fmt::format("--gpus: '{}'; expected numbers and ranges, e.g. 8,16,32 or 8..1024", text));
  return n;
}

// "8,16" and "8..64", which doubles: 8, 16, 32, 64.
std::vector<int> sizes_of(const std::string& text) {
  std::vector<int> sizes;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dots = part.find("..");
    if (dots == part.npos) {
      sizes.push_back(whole(part));
      continue;
    }
    const int first = whole(part.substr(0, dots)), last = whole(part.substr(dots + 2));
    if (last < first) throw std::invalid_argument(fmt::format("--gpus: {} is below {}; expected LEAST..MOST", last, first));
    for (std::int64_t n = first; n <= last; n *= 2) sizes.push_back(static_cast<int>(n));
  }
  if (sizes.empty()) throw std::invalid_argument("--gpus: no number; expected e.g. 8,16,32 or 8..1024");
  return sizes;
}

// What --gpus says, or `--over gpus=...`; empty: neither.
std::string asked_sizes(const ScaleOptions& o) {
  if (o.over.empty()) return o.gpus;
  constexpr std::string_view kName = "gpus=";
  if (!o.gpus.empty()) throw std::invalid_argument("--over: found with --gpus, which says the same; expected one of the two");
  if (!o.over.starts_with(kName)) throw std::invalid_argument(fmt::format("--over: '{}'; expected gpus=8..1024 or gpus=8,16,32", o.over));
  return o.over.substr(kName.size());
}

std::string csv_of(const std::vector<Row>& rows) {
  std::string out = "gpus,copies,microbatches,step_ps,tokens_per_second,scaling_efficiency,mfu,efficiency\n";
  for (const Row& r : rows)
    out += fmt::format("{},{},{},{},{},{},{},{}\n", r.gpus, r.copies, r.microbatches, r.step.ps, r.tokens_per_second, r.efficiency,
                       r.mfu ? fmt::format("{}", *r.mfu) : "", r.of_ideal);
  return out;
}

// Scaling efficiency, MFU, efficiency of a step and tokens/s over the number of GPUs.
std::string plot_of(const std::vector<Row>& rows, const std::string& file) {
  sweep::Table table{.spec = file, .dimensions = {{"gpus", {}}}, .seeds = {1}, .metrics = {"scaling_efficiency"}, .rows = {}, .search = {}};
  if (rows.front().mfu) table.metrics.emplace_back("mfu");
  table.metrics.insert(table.metrics.end(), {"efficiency", "tokens_per_second"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    table.dimensions[0].values.push_back(fmt::format("{}", r.gpus));
    std::vector<sweep::Cell> cells{{{r.efficiency}}};
    if (r.mfu) cells.push_back({{*r.mfu}});
    cells.push_back({{r.of_ideal}});
    cells.push_back({{r.tokens_per_second}});
    table.rows.push_back({.point = {i}, .cells = std::move(cells), .runs = 1, .failures = {}});
  }
  return sweep::plot_svg(table, "railyard scale");
}

Row estimate_size(const ScaleOptions& o, const std::string& job, int gpus, int copy, int microbatches) {
  std::vector<std::string> sets = o.sets;
  sets.push_back(fmt::format("jobs.{}.parallelism.dp={}", job, gpus / copy));
  sets.push_back(fmt::format("jobs.{}.microbatches={}", job, microbatches));
  sets.push_back(fmt::format("jobs.{}.failures=[]", job));  // their ranks may not be there
  spec::Lab lab = spec::load(o.file, sets);
  std::erase_if(lab.collectives, [&](const spec::CollectiveSpec& c) { return c.name != job; });
  const auto estimated = estimate::estimate(lab);
  if (!estimated) throw InputError(fmt::format("{}: {}", o.file, estimated.error()));
  const estimate::CollectiveEstimate& e = estimated->collectives[0];
  const report::JobFigures::Training& t = *e.figures->training;
  return {.gpus = gpus,
          .copies = gpus / copy,
          .microbatches = microbatches,
          .step = e.time,
          .tokens_per_second = t.tokens_per_second.value_or(0),
          .mfu = t.mfu,
          .of_ideal = e.figures->efficiency.value_or(0)};
}

int run_scale(const ScaleOptions& o) {
  const std::string asked = asked_sizes(o);
  const std::string taker = taker_of_standard_output({{"--csv", o.csv}, {"--plot", o.plot}}, o.json);
  std::optional<ResultFile> csv, plot;
  if (!o.csv.empty()) csv.emplace(o.csv, "--csv");
  if (!o.plot.empty()) plot.emplace(o.plot, "--plot");
  const spec::Lab lab = spec::load(o.file, o.sets);
  const spec::CollectiveSpec& job = lab.collectives[find_job(lab, o.file, o.job)];
  const jobs::Training& t = job.job->training;
  const int copy = t.parallelism.ranks() / t.parallelism.degree(jobs::Axis::kData);
  spec::CollectiveSpec ranks = job;
  ranks.traced = {};
  const int all = static_cast<int>(spec::ranks_at(lab, ranks).size());
  const std::vector<int> sizes = asked.empty() ? usual_sizes(copy, all) : sizes_of(asked);
  if (plot && sizes.size() < 2) throw std::invalid_argument("--plot: nothing to draw along x; expected two numbers of GPUs or more");
  // Of strong scaling: the microbatches of all copies together stay as many.
  const int total = t.microbatches * t.parallelism.degree(jobs::Axis::kData);
  for (const int n : sizes) {
    if (n < copy || n % copy != 0)
      throw std::invalid_argument(fmt::format("--gpus: {} is not a multiple of the {} GPUs of one copy of {}", n, copy, job.name));
    if (n > all) throw std::invalid_argument(fmt::format("--gpus: {}, but the lab has {} for {}", n, all, job.name));
    if (o.strong && total % (n / copy) != 0)
      throw std::invalid_argument(fmt::format("--gpus: {} copies cannot share {} microbatches equally; expected a divisor", n / copy, total));
  }
  std::vector<Row> rows;
  for (const int n : sizes) {
    rows.push_back(estimate_size(o, job.name, n, copy, o.strong ? total / (n / copy) : t.microbatches));
    const Row& first = rows.front();
    rows.back().efficiency = rows.back().tokens_per_second / rows.back().gpus / (first.tokens_per_second / first.gpus);
  }
  if (csv) csv->write(csv_of(rows));
  if (plot) plot->write(plot_of(rows, o.file));
  if (!taker.empty()) return kOk;
  if (o.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Row& r : rows)
      out.push_back({{"gpus", r.gpus}, {"copies", r.copies}, {"microbatches", r.microbatches}, {"step_ps", r.step.ps},
                     {"tokens_per_second", r.tokens_per_second}, {"scaling_efficiency", r.efficiency},
                     {"mfu", r.mfu ? nlohmann::ordered_json(*r.mfu) : nlohmann::ordered_json(nullptr)}, {"efficiency", r.of_ideal}});
    std::puts(json_text(out, 2).c_str());
    return kOk;
  }
  fmt::print("{} of {}: {} scaling, estimated\n\n  {:>6} {:>7} {:>12} {:>10} {:>12} {:>8} {:>7} {:>11}\n", job.name, lab.name,
             o.strong ? "strong" : "weak", "GPUs", "copies", "microbatches", "step", "tokens/s", "scaling", "MFU", "efficiency");
  for (const Row& r : rows)
    fmt::print("  {:>6} {:>7} {:>12} {:>10} {:>12.4g} {:>8} {:>7} {:>11}\n", r.gpus, r.copies, r.microbatches,
               report::nanoseconds_text(static_cast<std::uint64_t>(r.step.ps / 1000)), r.tokens_per_second,
               report::percent_text(r.efficiency), r.mfu ? report::percent_text(*r.mfu) : "-", report::percent_text(r.of_ideal));
  fmt::print("\nscaling: tokens/s per GPU against the first row. efficiency: a step with an ideal network / this step.\n");
  return kOk;
}

}  // namespace

void add_scale(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<ScaleOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required()->type_name("FILE");
  command->add_option("--job", o->job, "Its name; needed if the file has several")->type_name("NAME");
  command->add_option("--gpus", o->gpus, "Numbers of GPUs; N..M doubles from N up to M (default: one copy of the model, twice as many, ...)")
      ->type_name("N,N,N..M");
  command->add_option("--over", o->over, "The same as --gpus, written as in railyard sweep")->type_name("gpus=N..M");
  command->add_option("--csv", o->csv, "Write the rows to FILE (CSV)")->type_name("FILE");
  command->add_option("--plot", o->plot, "Draw the curves over the number of GPUs to FILE (SVG)")->type_name("FILE");
  command->add_flag("--strong", o->strong, "The batch stays as large: copies share its microbatches. Default (weak): each copy has as many");
  command->add_option("--set", o->sets, "Set in all of them, as in railyard run")->type_name("PATH=VALUE");
  command->add_flag("--json", o->json, "Print all figures as JSON");
  command->footer(
      "The data-parallel degree of the job follows the number of GPUs, the first of its ranks. Each row is an estimate\n"
      "(`railyard estimate`). FILE `-` is standard output, instead of the table.\n"
      "\n"
      "Examples:\n"
      "  railyard scale topologies/designs/job-1024-gpus.yaml --gpus 32..1024 --plot scaling.svg\n"
      "  railyard scale LAB.yaml --over gpus=8..64 --csv scaling.csv\n"
      "  railyard scale LAB.yaml --job train --strong");
  command->callback([o, &exit_code] { exit_code = run_scale(*o); });
}

}  // namespace railyard::tools
