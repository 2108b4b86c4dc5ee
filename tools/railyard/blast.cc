// railyard blast: each part of a fabric fails in a run of its own; one table of what that costs.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/blast/table.h"
#include "control/blast/timing.h"
#include "control/report/units.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/select.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {
namespace {

struct BlastOptions {
  std::vector<std::string> files;
  std::vector<std::string> sets;
  std::vector<std::string> kinds{"link", "nic", "switch", "rail"};
  std::vector<std::string> only;
  std::string at;
  std::string lasts;
  bool pairs = false;
  std::size_t most = 20000;  // runs
  std::size_t jobs = 0;
  std::string resume;
  std::size_t rows = 40;
  std::string csv;
  std::string html;
  bool json = false;
};

Duration time_of(const char* option, const std::string& text) {
  const auto t = spec::parse_duration(text);
  if (!t) throw std::invalid_argument(fmt::format("{}: {}", option, t.error()));
  return *t;
}

// "spine*", "link:leaf*".
bool is_wanted(const blast::Element& e, const std::vector<std::string>& only) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& word) {
           const std::string kind = std::string(blast::name(e.kind)) + ":";
           return spec::matches(word, e.name) || (word.starts_with(kind) && spec::matches(word.substr(kind.size()), e.name));
         });
}

std::vector<blast::Element> elements_of(const BlastOptions& o, const spec::Lab& lab, const std::string& file) {
  std::vector<blast::Kind> kinds;
  for (const std::string& word : o.kinds) {
    try {
      kinds.push_back(blast::parse_kind(word));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("--kinds: {}", error.what()));
    }
  }
  std::vector<blast::Element> all = blast::elements(lab, kinds);
  std::erase_if(all, [&](const blast::Element& e) { return !is_wanted(e, o.only); });
  if (all.empty())
    throw InputError(fmt::format("{}: nothing can fail: no part fits --kinds and --only; expected e.g. --only 'spine*'",
                                 file));
  if (o.pairs) all = blast::pairs(lab, all);
  if (all.size() > o.most)
    throw std::invalid_argument(fmt::format("{}: {} failures, a run each; expected at most {}, by --only or --kinds, or "
                                            "a higher --most",
                                            file, all.size(), o.most));
  if (all.empty())
    throw InputError(fmt::format("{}: --pairs: expected two parts or more that do not divide the hosts by themselves", file));
  return all;
}

std::string picoseconds(Duration d) { return fmt::format("{}ps", d.ps); }

RunResult run_one(const std::vector<std::string>& command, std::size_t jobs) {
  RunResult out;
  run_all({command}, {.parallel = jobs}, [&](RunResult r) { out = std::move(r); });
  return out;
}

blast::Result blast_file(const BlastOptions& o, const std::string& file, const spec::Lab& lab, ExitCode& code) {
  if (lab.run.clock != spec::Clock::kVirtual)
    throw InputError(fmt::format("{}: run.clock is wall; expected virtual", file));
  if (lab.traffic.empty() && lab.collectives.empty())
    throw InputError(fmt::format("{}: there is no traffic, so a failure costs nothing; expected `traffic:` or "
                                 "`collectives:`",
                                 file));
  const std::vector<blast::Element> elements = elements_of(o, lab, file);
  std::vector<std::string> plain{file};
  for (const std::string& s : o.sets) plain.insert(plain.end(), {"--set", s});
  // One failure at a time: the file's own do not happen.
  if (!lab.faults.empty()) plain.insert(plain.end(), {"--set", "faults=[]"});
  const auto checked = [&](RunResult r) {
    if (r.report.is_null())
      throw std::runtime_error(fmt::format("{}: the run without a failure: {}", file, r.failure));
    code = std::max(code, r.exit_code == kUnbalanced ? kUnbalanced : kOk);
    return std::move(r.report);
  };
  nlohmann::ordered_json without = checked(run_one(plain, 1));
  const bool open_ended = std::ranges::any_of(
      without["traffic"], [](const auto& t) { return t["with_end"].template get<std::uint64_t>() == 0; });
  const Duration load{without["load_interval"]["to_ns"].is_number()
                          ? without["load_interval"]["to_ns"].get<std::int64_t>() * 1000
                          : (lab.run.duration ? lab.run.duration->ps : 0)};
  const Duration at = o.at.empty() ? load / 3 : time_of("--at", o.at);
  const bool stays_broken = o.lasts == "unlimited";
  const Duration lasts = stays_broken          ? Duration{}
                         : o.lasts.empty() ? std::max(load / 3, blast::convergence(lab) * 2)
                                           : time_of("--for", o.lasts);
  if (!o.lasts.empty() && !stays_broken && lasts.ps <= 0)
    throw std::invalid_argument("--for: 0 is no failure; expected a time above 0, or unlimited");
  if (!open_ended && at >= load)
    throw std::invalid_argument(fmt::format("--at: {} is not before the end of the work ({}); expected less", o.at,
                                            report::time_text(load)));
  // Long enough for what is to be seen: the failure, the return, and what transports make of it.
  const Duration settle = blast::convergence(lab) * 2 + lab.routing.session_setup + blast::longest_silence(lab);
  Duration duration{};
  if (open_ended) {
    duration = std::max(lab.run.duration.value_or(Duration{}), at + lasts + settle);
  } else if (lab.run.duration || stays_broken) {
    constexpr std::int64_t kGivesUp = 10;  // seconds
    duration = std::max(lab.run.duration.value_or(Duration{}), (at + load) * 2 + lasts + Duration{kGivesUp * kPicosecondsPerSecond});
  }
  if (duration.ps > 0) {
    plain.insert(plain.end(), {"--duration", picoseconds(duration)});
    without = checked(run_one(plain, 1));
  }
  std::vector<std::vector<std::string>> runs;
  for (const blast::Element& e : elements) {
    runs.push_back(plain);
    for (const std::string& fault : blast::faults_of(e, at, lasts))
      runs.back().insert(runs.back().end(), {"--fault", fault});
  }
  blast::Result result{.file = file,
                       .name = lab.name,
                       .routing = spec::name(lab.routing.protocol),
                       .at = at,
                       .lasts = lasts,
                       .job_ns = blast::job_time(without)};
  std::vector<std::optional<blast::Cost>> costs(elements.size());
  const std::optional<KeptRuns> kept = kept_runs(o.resume);
  run_all(runs, {.parallel = o.jobs, .shows = !o.json && isatty(STDERR_FILENO) != 0, .kept = kept ? &*kept : nullptr}, [&](RunResult r) {
    if (r.exit_code == kUnbalanced) code = kUnbalanced;
    const blast::Element& e = elements[r.index];
    if (r.report.is_null()) {
      costs[r.index] = blast::Cost{.element = e, .failure = r.failure};
      code = code == kOk ? kFailed : code;
      return;
    }
    costs[r.index] = blast::cost_of(e, r.report, without, at, lasts, duration);
    costs[r.index]->divided = blast::divides(lab, e);
  });
  for (std::optional<blast::Cost>& c : costs)
    if (c) result.costs.push_back(std::move(*c));
  blast::sort_by_cost(result.costs);
  return result;
}

int run_blast(const BlastOptions& o) {
  const std::string taker = taker_of_standard_output({{"--csv", o.csv}, {"--html", o.html}}, o.json);
  std::optional<ResultFile> csv, html;
  if (!o.csv.empty()) csv.emplace(o.csv, "--csv");
  if (!o.html.empty()) html.emplace(o.html, "--html");
  // What is wrong with any of them is said before anything runs.
  std::vector<spec::Lab> labs;
  for (const std::string& file : o.files) {
    labs.push_back(spec::load(file, o.sets));
    static_cast<void>(elements_of(o, labs.back(), file));
  }
  ExitCode code = kOk;
  std::vector<blast::Result> results;
  for (std::size_t i = 0; i < labs.size(); ++i) results.push_back(blast_file(o, o.files[i], labs[i], code));
  if (o.json) {
    std::puts(json_text(blast::json(results), 2).c_str());
  } else if (taker.empty()) {
    for (const blast::Result& r : results) fmt::print("{}\n", blast::text(r, o.rows));
    if (results.size() > 1) fmt::print("Side by side\n\n{}", blast::comparison_text(results));
  }
  if (csv) csv->write(blast::csv(results));
  if (html) html->write(blast::page(results, labs));
  return code;
}

}  // namespace

void add_blast(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<BlastOptions>();
  command->add_option("SPEC", o->files, "Fabric files (YAML); several are compared")->required()->type_name("FILE");
  command->add_option("--set", o->sets, "Set in all runs, as in railyard run")->type_name("PATH=VALUE");
  command
      ->add_option("--kinds", o->kinds,
                   "What fails: link (between switches), nic, switch, rail, rack (its switches and hosts), port (it sends in "
                   "vain and keeps its signal), maintenance (a switch is drained first)")
      ->delimiter(',')
      ->type_name("KINDS")
      ->capture_default_str();
  command
      ->add_option("--only", o->only, "Only parts whose name fits, e.g. 'spine*' or 'link:leaf1*'; repeat for more")
      ->type_name("NAME");
  command->add_flag("--pairs", o->pairs, "Let each two of them fail together");
  command->add_option("--most", o->most, "Maximum number of failures")->type_name("N")->capture_default_str();
  command->add_option("--at", o->at, "When it fails (default: after a third of the load)")->type_name("TIME");
  command
      ->add_option("--for", o->lasts,
                   "For how long, or `unlimited` (default: a third of the load, and twice the time that routing takes)")
      ->type_name("TIME");
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor)")->type_name("N");
  add_resume_option(*command, o->resume);
  command->add_option("--rows", o->rows, "Maximum number of rows of a table")->type_name("N")->capture_default_str();
  command->add_option("--csv", o->csv, "Write all failures to FILE, one row each (CSV)")->type_name("FILE");
  command->add_option("--html", o->html, "Write a page to FILE: the topology coloured by cost, and all tables")
      ->type_name("FILE");
  command->add_flag("--json", o->json, "Print all figures as JSON");
  command->footer(
      "Each failure is a run of its own, compared with the run without it: packets lost, time to repair, stretch of the\n"
      "job, and what never came back. Single points of failure come first. `railyard docs` has the definitions (blast.md).\n"
      "FILE `-` is standard output, instead of the table.\n"
      "\n"
      "Examples:\n"
      "  railyard blast topologies/scenarios/remote-cut.yaml\n"
      "  railyard blast LAB.yaml --only 'spine*' --for unlimited --html blast.html\n"
      "  railyard blast RAILS.yaml FAT-TREE.yaml --kinds switch,rail      # designs side by side\n"
      "  railyard blast LAB.yaml --pairs --kinds link --only 'leaf1*'");
  command->callback([o, &exit_code] { exit_code = run_blast(*o); });
}

}  // namespace railyard::tools
