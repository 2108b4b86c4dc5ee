// railyard hunt: the workload and the fault that hurt a configuration most, by search over runs in virtual time.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/hunt/table.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "tools/railyard/changed_file.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {
namespace {

using Transport = spec::TrafficSpec::Transport;

struct HuntOptions {
  std::string file;
  std::vector<std::string> sets;
  std::string hurt = "goodput";
  std::vector<std::string> transports;
  std::size_t budget = 200;
  std::uint64_t seed = 1;
  std::size_t most_traffic = 3;
  std::size_t most_faults = 1;
  std::size_t jobs = 0;
  std::string resume;
  std::string output;
  bool json = false;
};

// The file's own workload, and what names parts of it, are taken away: `collectives`, `expect`, `run.int`, ...
std::vector<std::string> without_workload(const HuntOptions& o) {
  std::vector<std::string> sets = o.sets;
  const spec::LabAndDocument read = spec::load_with_document(o.file, o.sets);
  for (const char* key : {"collectives", "expect", "diagnosis", "compare"})
    if (read.document.find(key)) sets.push_back(std::string(key) + "=");
  if (const spec::Tree* run = read.document.find("run"))
    for (const char* key : {"int", "timeline"})
      if (run->find(key)) sets.push_back(std::string("run.") + key + "=");
  return sets;
}

class HuntRunner {
 public:
  HuntRunner(const HuntOptions& o, const hunt::Space& space, hunt::Hurt hurt)
      : o_(o), kept_(kept_runs(o.resume)), space_(space), hurt_(hurt), base_(without_workload(o)) {}

  std::vector<std::string> sets_of(const hunt::Case& c) const {
    std::vector<std::string> sets = base_;
    for (std::string& s : space_.sets(c)) sets.push_back(std::move(s));
    return sets;
  }

  std::vector<std::optional<hunt::Damage>> operator()(const std::vector<hunt::Case>& cases) {
    std::vector<std::optional<hunt::Damage>> out(cases.size());
    std::vector<std::vector<std::string>> commands;
    std::vector<std::pair<std::size_t, spec::Lab>> labs;  // of the commands: the case, and its lab
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::vector<std::string> sets = sets_of(cases[i]);
      try {
        labs.emplace_back(i, spec::load(o_.file, sets));
      } catch (const spec::SpecError& error) {
        refused = error.what();  // a combination that has no meaning in this lab
        continue;
      }
      commands.push_back(command(sets));
    }
    run_all(commands, {.parallel = o_.jobs, .kept = kept_ ? &*kept_ : nullptr}, [&](RunResult r) {
      if (r.exit_code == kUnbalanced) unbalanced = true;
      const auto& [i, lab] = labs[r.index];
      if (r.report.is_object())
        out[i] = hunt::damage_of(hurt_, lab, r.report);
      else
        refused = r.failure;
    });
    runs_ += cases.size();
    if (!o_.json && isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r  {} of at most {} runs   ", runs_, o_.budget);
    return out;
  }

  // The digest of the last case.
  std::string digest(const hunt::Case& c) const {
    std::vector<std::string> words = command(sets_of(c));
    words.emplace_back("--digest");
    std::string out;
    run_all({words}, {.parallel = 1}, [&](RunResult r) {
      if (r.report.is_object() && r.report["trace_digest"].is_string()) out = r.report["trace_digest"];
    });
    return out;
  }

  bool unbalanced = false;
  std::string refused;  // why a case came to nothing; of any

 private:
  std::vector<std::string> command(const std::vector<std::string>& sets) const {
    std::vector<std::string> words{o_.file};
    for (const std::string& s : sets) words.insert(words.end(), {"--set", s});
    return words;
  }

  const HuntOptions& o_;
  std::optional<KeptRuns> kept_;
  const hunt::Space& space_;
  hunt::Hurt hurt_;
  std::vector<std::string> base_;
  std::size_t runs_ = 0;
};

hunt::SpaceOptions space_options(const HuntOptions& o) {
  hunt::SpaceOptions options{{}, o.most_traffic, o.most_faults};
  for (const std::string& t : o.transports)
    options.transports.push_back(t == "uet" ? Transport::kUet : Transport::kRoce);
  return options;
}

int run_hunt(const HuntOptions& o) {
  constexpr std::size_t kLeastBudget = 10;
  const spec::Lab lab = spec::load(o.file, o.sets);
  if (lab.run.clock != spec::Clock::kVirtual)
    throw InputError(fmt::format("{}: run.clock is wall; expected virtual", o.file));
  if (o.budget < kLeastBudget)
    throw std::invalid_argument(fmt::format("--budget: {} runs; expected at least {}", o.budget, kLeastBudget));
  std::optional<hunt::Space> space;
  try {
    space.emplace(lab, space_options(o));
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: {}", o.file, error.what()));
  }
  taker_of_standard_output({{"--output", o.output}}, o.json);
  std::optional<ResultFile> output;
  if (!o.output.empty()) output.emplace(o.output, "--output");

  const auto hurt = std::ranges::find(hunt::hurt_words(), o.hurt, &hunt::HurtWord::word)->hurt;
  HuntRunner runner(o, *space, hurt);
  hunt::Report report{o.file, lab.name, hurt, {o.budget, 0.9, Seed{o.seed}}, {}, {}, o.output == "-" ? "" : o.output};
  report.found = hunt::hunt(*space, report.plan, std::ref(runner));
  if (!o.json && isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{:60}\r", "");
  if (!report.found.trials[report.found.worst].damage)
    throw std::runtime_error(fmt::format("{}: no case could be run; the last: {}", o.file, runner.refused));
  report.digest = runner.digest(report.found.smallest);
  if (output)
    output->write(changed_file(o.file, runner.sets_of(report.found.smallest),
                               fmt::format("{}, by railyard hunt --hurt {} --seed {}\n{}", o.file, o.hurt, o.seed,
                                           hunt::summary(report, *space))));
  if (o.json)
    std::puts(json_text(hunt::json(report, *space), 2).c_str());
  else if (o.output != "-")
    std::fputs(hunt::text(report, *space).c_str(), stdout);
  return runner.unbalanced ? kUnbalanced : kOk;
}

std::vector<std::string> hurt_names() {
  std::vector<std::string> names;
  for (const hunt::HurtWord& w : hunt::hurt_words()) names.emplace_back(w.word);
  return names;
}

}  // namespace

void add_hunt(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<HuntOptions>();
  command->add_option("FILE", o->file, "Fabric file (YAML): its fabric and QoS are kept, its workload is replaced")
      ->required();
  command->add_option("--set", o->sets, "Override a value of the file first")->type_name("PATH=VALUE");
  command->add_option("--hurt", o->hurt, "What to make worse, against what the fabric could give the same workload")
      ->check(CLI::IsMember(hurt_names()))
      ->capture_default_str();
  command->add_option("--budget", o->budget, "Maximum number of runs")->type_name("N")->capture_default_str();
  command->add_option("--seed", o->seed, "Seed of the search")->type_name("N")->capture_default_str();
  command->add_option("--traffic", o->most_traffic, "Maximum number of entries of the workload")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  command->add_option("--faults", o->most_faults, "Maximum number of faults; 0: none")
      ->check(CLI::Range(0, 4))
      ->capture_default_str();
  command
      ->add_option("--transports", o->transports,
                   "Transports of the workload (default: those of the file's workload, else roce)")
      ->delimiter(',')
      ->check(CLI::IsMember({"roce", "uet"}));
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor); no effect on results")
      ->type_name("N");
  add_resume_option(*command, o->resume);
  command->add_option("-o,--output", o->output, "Write the worst case to FILE, a fabric file that railyard run replays")
      ->type_name("FILE");
  command->add_flag("--json", o->json, "Print the outcome as JSON");
  command->footer(
      "Simulated annealing over workloads and faults, led by counters, as in Collie (NSDI 2022). The worst case is "
      "made\n"
      "smaller as long as 90 % of its damage remains. `railyard docs` has features, ranges and measures (search.md).\n"
      "FILE `-` is standard output, instead of the text.\n"
      "\n"
      "Examples:\n"
      "  railyard hunt topologies/incast-8to1.yaml --hurt p99 -o worst.yaml && railyard run worst.yaml\n"
      "  railyard hunt LAB.yaml --hurt pause --faults 0 --budget 400\n"
      "  railyard hunt LAB.yaml --hurt jct --seed 7 --json");
  command->callback([o, &exit_code] { exit_code = run_hunt(*o); });
}

}  // namespace railyard::tools
