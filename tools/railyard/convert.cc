// `railyard convert`: a trace, or a job of a fabric file, in another format.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/jobs/expand.h"
#include "control/jobs/write_csv.h"
#include "control/jobs/write_goal.h"
#include "control/report/units.h"
#include "control/spec/job_trace.h"
#include "control/spec/load.h"
#include "control/spec/trace_file.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/find_job.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

struct ConvertOptions {
  std::string in, out, to;
  std::string chunk;  // empty: that of the job, or 512 KiB
  std::string job;
  std::vector<std::string> sets;
  bool expand = false;
};

constexpr double kMostMessages = 20e6;

// "goal" or "csv".
std::string format_of(const ConvertOptions& o) {
  if (!o.to.empty()) return o.to;
  const std::string extension = std::filesystem::path(o.out).extension().string();
  if (extension == ".goal" || extension == ".csv") return extension.substr(1);
  throw CLI::ValidationError("OUT", fmt::format("'{}'; expected FILE.goal or FILE.csv, or --to", o.out));
}

std::uint32_t chunk_of(const std::string& text) {
  constexpr std::int64_t kMostChunk = 1 << 30;
  const auto size = spec::parse_size(text);
  if (!size || size->n < 4 || size->n > kMostChunk || size->n % 4 != 0)
    throw CLI::ValidationError("--chunk", fmt::format("'{}'; expected a multiple of 4 bytes up to 1GiB, e.g. 512KiB", text));
  return static_cast<std::uint32_t>(size->n);
}

// What is written, and with what its collectives become messages.
struct Source {
  jobs::JobGraph graph;
  jobs::CompileOptions options{};
};

bool is_fabric_file(const std::string& name) {
  const std::string extension = std::filesystem::path(name).extension().string();
  return extension == ".yaml" || extension == ".yml";
}

Source read_trace(const ConvertOptions& o) {
  if (!o.job.empty() || !o.sets.empty())
    throw CLI::ValidationError(o.job.empty() ? "--set" : "--job", fmt::format("applies to fabric files (.yaml), and IN is '{}'", o.in));
  return {.graph = *spec::read_trace_file(o.in).graph};
}

Source read_job(const ConvertOptions& o, bool expands) {
  const spec::Lab lab = spec::load(o.in, o.sets);
  const spec::CollectiveSpec& job = lab.collectives[find_job(lab, o.in, o.job)];
  Source source{.graph = spec::ordinary_step(job)};
  if (expands) source.options = spec::trace_options(lab, job);
  return source;
}

int run(const ConvertOptions& o) {
  const std::string to = format_of(o);
  const bool expands = to == "goal" || o.expand;
  const std::uint32_t chunk = o.chunk.empty() ? 0 : chunk_of(o.chunk);
  Source source = is_fabric_file(o.in) ? read_job(o, expands) : read_trace(o);
  if (chunk > 0) source.options.chunk = chunk;
  jobs::JobGraph& graph = source.graph;
  if (expands && !graph.collectives.empty()) {
    if (const double messages = jobs::messages(graph, source.options); messages > kMostMessages)
      throw std::invalid_argument(fmt::format("{}: its collectives have about {} messages; expected at most {}: try a larger --chunk", o.in,
                                              report::count_text(static_cast<std::uint64_t>(messages)),
                                              report::count_text(static_cast<std::uint64_t>(kMostMessages))));
    graph = jobs::expanded(graph, source.options);
  }
  ResultFile(o.out, "OUT").write(to == "goal" ? jobs::write_goal(graph) : jobs::write_csv(graph));
  if (o.out != "-")
    fmt::print("{}: {} ranks, {} operations{}\n", o.out, report::count_text(graph.ranks.size()), report::count_text(graph.operations()),
               graph.collectives.empty() ? "" : fmt::format(", {} collectives", report::count_text(graph.collectives.size())));
  return kOk;
}

}  // namespace

void add_convert(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<ConvertOptions>();
  command->add_option("IN", o->in, "Trace: GOAL, SimAI workload, NCCL log, or Chakra trace of rank 0 (NAME.0.et); or fabric file (.yaml) with a job of training")->required();
  command->add_option("OUT", o->out, "File to write: FILE.goal or FILE.csv; - is standard output")->required();
  command->add_option("--to", o->to, "Format; default: by the name of OUT")->check(CLI::IsMember({"goal", "csv"}));
  command->add_option("--chunk", o->chunk, "Maximum message size of collectives in GOAL; default: that of the job, of traces 512KiB")->type_name("SIZE");
  command->add_option("--job", o->job, "Job of the fabric file; needed if it has several")->type_name("NAME");
  command->add_option("--set", o->sets, "Set in the fabric file before, as in railyard run")->type_name("PATH=VALUE");
  command->add_flag("--expand", o->expand, "CSV: write the messages of collectives, as in GOAL");
  command->footer(
      "GOAL has no collectives: each becomes its sends and receives, as a run would plan it: of a job for its hosts, of a trace\n"
      "for ranks without a scale-up network. Of a job an ordinary step is written.\n"
      "docs/traces.md says what is mapped to what.\n"
      "Examples:\n"
      "  railyard convert topologies/traces/simai-tp2-dp4.txt step.goal\n"
      "  railyard convert topologies/traces/chakra-4.0.et step.csv\n"
      "  railyard convert topologies/scenarios/job-3d.yaml step.goal     # edit it, and run it with trace: step.goal");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace railyard::tools
