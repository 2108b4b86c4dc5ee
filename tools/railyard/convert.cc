// `railyard convert`: a trace in another format.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "control/jobs/expand.h"
#include "control/jobs/write_csv.h"
#include "control/jobs/write_goal.h"
#include "control/report/units.h"
#include "control/spec/trace_file.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

struct ConvertOptions {
  std::string in, out, to;
  std::string chunk = "512KiB";
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

int run(const ConvertOptions& o) {
  const std::string to = format_of(o);
  const jobs::CompileOptions options{.chunk = chunk_of(o.chunk)};
  const spec::TraceSpec trace = spec::read_trace_file(o.in);
  const jobs::JobGraph* graph = trace.graph.get();
  jobs::JobGraph expanded;
  if ((to == "goal" || o.expand) && !graph->collectives.empty()) {
    if (const double messages = jobs::messages(*graph, options); messages > kMostMessages)
      throw std::invalid_argument(fmt::format("{}: its collectives have about {} messages; expected at most {}: try a larger --chunk", o.in,
                                              report::count_text(static_cast<std::uint64_t>(messages)),
                                              report::count_text(static_cast<std::uint64_t>(kMostMessages))));
    expanded = jobs::expanded(*graph, options);
    graph = &expanded;
  }
  ResultFile(o.out, "OUT").write(to == "goal" ? jobs::write_goal(*graph) : jobs::write_csv(*graph));
  if (o.out != "-")
    fmt::print("{}: {} ranks, {} operations{}\n", o.out, report::count_text(graph->ranks.size()), report::count_text(graph->operations()),
               graph->collectives.empty() ? "" : fmt::format(", {} collectives", report::count_text(graph->collectives.size())));
  return kOk;
}

}  // namespace

void add_convert(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<ConvertOptions>();
  command->add_option("IN", o->in, "Trace: GOAL, SimAI workload, NCCL log, or Chakra trace of rank 0 (NAME.0.et)")->required();
  command->add_option("OUT", o->out, "File to write: FILE.goal or FILE.csv; - is standard output")->required();
  command->add_option("--to", o->to, "Format; default: by the name of OUT")->check(CLI::IsMember({"goal", "csv"}));
  command->add_option("--chunk", o->chunk, "Maximum message size of collectives in GOAL")->type_name("SIZE")->capture_default_str();
  command->add_flag("--expand", o->expand, "CSV: write the messages of collectives, as in GOAL");
  command->footer(
      "GOAL has no collectives: each becomes its sends and receives, as a run without a scale-up network would plan it.\n"
      "docs/traces.md says what is mapped to what.\n"
      "Examples:\n"
      "  railyard convert topologies/traces/simai-tp2-dp4.txt step.goal\n"
      "  railyard convert topologies/traces/chakra-4.0.et step.csv");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace railyard::tools
