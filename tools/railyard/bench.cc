// railyard bench: the test clauses of the IETF benchmark draft, run and reported as it asks.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/base/text_table.h"
#include "control/bench/clause_table.h"
#include "control/bench/page.h"
#include "control/bench/result.h"
#include "control/bench/shipped.h"
#include "control/lab/version.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"
#include "tools/railyard/bench_runs.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::string profile = "ci";
  std::vector<std::string> only;
  std::vector<std::string> definitions;
  std::string fabric;
  std::string keep;
  std::string output;
  std::string html;
  std::size_t jobs = 0;
  std::string resume;
  bool list = false;
  bool estimate = false;
  bool clauses = false;
  bool schema = false;
  bool json = false;
};

// Where the labs of the clauses are: a folder of the user's, or one that goes with the command.
class BenchFolder {
 public:
  explicit BenchFolder(const std::string& kept) : kept_(!kept.empty()) {
    if (kept_) {
      make_directory(kept, "--keep");
      path_ = kept;
      return;
    }
    std::string name = (fs::temp_directory_path() / "railyard-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "cannot make a folder for the labs of the clauses");
    path_ = name;
  }
  ~BenchFolder() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;

  fs::path write(const std::string& name, const std::string& text) const {
    write_file(path_ / name, text, kept_ ? "--keep" : "");
    return path_ / name;
  }

 private:
  bool kept_;
  fs::path path_;
};

// The fabric of the user's file, without its work, as one text.
std::optional<std::string> fabric_of(const std::string& file) {
  if (file.empty()) return std::nullopt;
  spec::Lab lab = spec::load(file);
  lab.traffic.clear();
  lab.collectives.clear();
  lab.faults.clear();
  lab.expect.clear();
  lab.probe.reset();
  lab.compare = {};
  lab.diagnosis = {};
  lab.run = {};
  return spec::to_yaml(lab);
}

// Clauses that are planned, with their runs and times; and all of them together.
std::string estimate_text(const bench::Result& result, const bench::Speed& speed, std::size_t jobs) {
  const std::size_t parallel = jobs != 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::vector<std::string>> lines{{"clause", "cases", "runs", "time"}};
  std::size_t runs = 0;
  double seconds = 0;
  for (const bench::ClauseResult& r : result.clauses) {
    if (!r.not_run.empty()) continue;
    const double own = bench::seconds_of(r.plan, speed, parallel);
    lines.push_back({r.clause->id, fmt::format("{}", r.plan.cases.size()), fmt::format("{}", bench::runs_of(r.plan)),
                     bench::duration_text(own)});
    runs += bench::runs_of(r.plan);
    seconds += own;
  }
  return text_table(lines, 1) +
         fmt::format("\n{} runs, {} at a time: about {}. An estimate from packets and the speed of one run on this machine; expect "
                     "half to three times as long.\n",
                     runs, parallel, bench::duration_text(seconds));
}

// Definitions of the user's own come first; they may have the id of one of ours, which then does not run.
std::vector<const bench::Clause*> wanted(const BenchOptions& o, const std::vector<bench::Clause>& own) {
  std::vector<const bench::Clause*> out;
  for (const bench::Clause& c : own) out.push_back(&c);
  if (!own.empty() && o.only.empty()) return out;
  try {
    for (const bench::Clause* c : bench::clauses(o.only)) out.push_back(c);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--only: {}", error.what()));
  }
  return out;
}

// Every clause is planned before anything runs, so that mistakes are said at once.
bench::Result planned(const BenchOptions& o, bench::Profile profile, const std::vector<const bench::Clause*>& list,
                      const BenchFolder& folder) {
  const std::optional<std::string> fabric = fabric_of(o.fabric);
  bench::Result result{profile, lab::version(), o.fabric, {}};
  for (const bench::Clause* c : list) {
    bench::ClauseResult& r = result.clauses.emplace_back();
    r.clause = c;
    r.own_fabric = !fabric;
    if (!c->runs()) {
      r.not_run = fmt::format("{}: {}", bench::word(c->status), c->reason);
      continue;
    }
    const fs::path file = folder.write(c->id + ".yaml", bench::lab_text(*c, fabric));
    try {
      r.plan = bench::plan(*c, profile, file);
    } catch (const std::exception& error) {  // a fabric of the user's need not have all that a clause needs
      if (!fabric) throw;
      r.not_run = fmt::format("this fabric cannot have it: {}", error.what());
    }
  }
  return result;
}

int run_bench(const BenchOptions& o) {
  const bench::Profile profile = o.profile == "lab" ? bench::Profile::kLab : bench::Profile::kCi;
  if (o.clauses || o.list || o.schema) {
    fmt::print("{}", o.schema ? bench::result_schema() : o.clauses ? bench::clause_table() : bench::run_table(profile));
    return kOk;
  }
  const std::string taker = taker_of_standard_output({{"-o", o.output}, {"--html", o.html}}, o.json);
  std::vector<bench::Clause> own;
  for (const std::string& file : o.definitions) own.push_back(bench::read_clause(spec::read_file(file), file));
  const std::vector<const bench::Clause*> list = wanted(o, own);
  std::optional<ResultFile> output, html;
  if (!o.output.empty() && !o.estimate) output.emplace(o.output, "-o");
  if (!o.html.empty() && !o.estimate) html.emplace(o.html, "--html");
  const BenchFolder folder(o.keep);

  bench::Result result = planned(o, profile, list, folder);
  if (o.estimate || profile == bench::Profile::kLab) {
    const std::string text = estimate_text(result, measured_speed(folder.write("pilot.yaml", bench::pilot_lab())), o.jobs);
    fmt::print(o.estimate ? stdout : stderr, "{}", text);
    if (o.estimate) return kOk;
  }
  const bool shows = !o.json && taker.empty() && isatty(STDERR_FILENO) != 0;
  const std::optional<KeptRuns> kept = kept_runs(o.resume);
  ExitCode code = kOk;
  for (bench::ClauseResult& r : result.clauses) {
    if (!r.not_run.empty()) continue;
    if (shows) fmt::print(stderr, "\r{}: {:<60}\n", r.clause->id, r.clause->title);
    code = worse(code, run_clause(r, {.parallel = o.jobs, .shows = shows, .kept = kept ? &*kept : nullptr}));
  }
  const std::string text = json_text(bench::json(result), 2);
  if (o.json)
    std::puts(text.c_str());
  else if (taker.empty())
    fmt::print("{}", bench::text(result));
  if (output) output->write(text + "\n");
  if (html) html->write(bench::page(result));
  return code;
}

}  // namespace

void add_bench(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<BenchOptions>();
  command->add_option("--profile", o->profile, "ci: minutes, at most 16 hosts; lab: reduced, for a workstation")
      ->check(CLI::IsMember({"ci", "lab"}))
      ->capture_default_str();
  command->add_option("--only", o->only, "Only these clauses")->delimiter(',')->type_name("IDS");
  command
      ->add_option("--fabric", o->fabric,
                   "Run the clauses' work on the nodes, links and profiles of this fabric file (default: each clause "
                   "has its own fabric)")
      ->type_name("FILE");
  command->add_option("--definition", o->definitions, "Run a clause that this file defines; repeat for more")
      ->type_name("FILE");
  command->add_option("--keep", o->keep, "Keep the labs of the clauses as fabric files in this folder")
      ->type_name("DIR");
  command->add_option("-o,--output", o->output, "Write the results to FILE (JSON, fabric-bench/1)")->type_name("FILE");
  command->add_option("--html", o->html, "Write the report as a page")->type_name("FILE");
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor)")->type_name("N");
  add_resume_option(*command, o->resume);
  command->add_flag("--list", o->list, "List the clauses that run, with the number of runs and the KPIs");
  command->add_flag("--estimate", o->estimate, "Print how long the clauses take on this machine, and run nothing but a short pilot");
  command->add_flag("--clauses", o->clauses, "List all clauses of the draft: implemented, deviation, or why not");
  command->add_flag("--schema", o->schema, "Print the JSON schema of the results");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "It runs tests of draft-calabria-bmwg-ai-fabric-training-bench under the virtual clock and reports KPIs with\n"
      "their observation points, deviations and coefficients of variation. There is no verdict: reference values of\n"
      "the draft are annotations. `railyard docs` has the definitions (bench.md). FILE `-` is standard output.\n"
      "\n"
      "Examples:\n"
      "  railyard bench --clauses\n"
      "  railyard bench --only T5.1,T9.1 -o result.json --html result.html\n"
      "  railyard bench --profile lab --estimate\n"
      "  railyard bench --profile lab --keep labs --json\n"
      "  railyard bench --fabric topologies/rails-4x8.yaml --only T9.1");
  command->callback([o, &exit_code] { exit_code = run_bench(*o); });
}

}  // namespace railyard::tools
