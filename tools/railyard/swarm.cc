// `railyard swarm`: random labs with random faults, many of them; what must hold is looked at all along.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/spec/load.h"
#include "control/swarm/coverage.h"
#include "control/swarm/generated_lab.h"
#include "control/swarm/shrink.h"
#include "control/swarm/tries.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/count_progress.h"
#include "tools/railyard/kept_runs.h"
#include "tools/railyard/planted_bug_option.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

constexpr int kMostQuestions = 150;  // while a failure is made smaller

struct Options {
  std::string seeds = "1-100";
  std::size_t jobs = 0;
  std::vector<std::string> only;
  std::string write;
  std::string lab;
  std::string planted;
  std::string resume;
  bool bars = false;
  bool keep_going = false;
  bool json = false;
};

struct Range {
  std::uint64_t first;
  std::uint64_t last;
};

Range parse_range(const std::string& text) {
  const auto bad = [&] {
    return CLI::ValidationError("--seeds", fmt::format("'{}': expected a number, or a range such as 1-1000", text));
  };
  const auto number = [&](std::string_view part) {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
    if (error != std::errc{} || end != part.data() + part.size()) throw bad();
    return n;
  };
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) return {number(text), number(text)};
  const Range r{number(std::string_view(text).substr(0, dash)), number(std::string_view(text).substr(dash + 1))};
  if (r.last < r.first) throw bad();
  return r;
}

// The names of a seed's traffic and faults that are not among `only`; all of them if that is empty.
std::set<std::string> left_out(const swarm::GeneratedLab& lab, const std::vector<std::string>& only) {
  std::set<std::string> out;
  if (only.empty()) return out;
  std::set<std::string> known;
  for (const auto* items : {&lab.traffic, &lab.collectives, &lab.faults})
    for (const swarm::GeneratedLab::Item& i : *items) {
      known.insert(i.name);
      if (std::ranges::find(only, i.name) == only.end()) out.insert(i.name);
    }
  for (const std::string& name : only)
    if (!known.contains(name))
      throw CLI::ValidationError("--only",
                                 fmt::format("seed {} has no '{}'; it has {}", lab.seed, name, fmt::join(known, ", ")));
  return out;
}

std::vector<std::string> names(const std::vector<swarm::GeneratedLab::Item>& items) {
  std::vector<std::string> out;
  for (const swarm::GeneratedLab::Item& i : items) out.push_back(i.name);
  return out;
}

// What is left of a failing seed when all that it does not need is taken away.
struct Smallest {
  std::vector<std::string> faults;
  std::vector<std::string> traffic;  // and collectives
  swarm::Outcome outcome;
};

Smallest make_smaller(const swarm::GeneratedLab& lab, const swarm::Outcome& failed, const std::vector<std::string>& only) {
  const std::set<std::string> given = left_out(lab, only);
  const std::string rule = failed.violations.front().rule;
  Smallest s{{}, {}, failed};
  for (const std::string& f : names(lab.faults))
    if (!given.contains(f)) s.faults.push_back(f);
  for (const auto* items : {&lab.traffic, &lab.collectives})
    for (const std::string& t : names(*items))
      if (!given.contains(t)) s.traffic.push_back(t);
  const auto fails = [&](const std::vector<std::string>& faults, const std::vector<std::string>& traffic) {
    std::vector<std::string> kept = faults;
    kept.insert(kept.end(), traffic.begin(), traffic.end());
    if (traffic.empty()) return false;
    const swarm::Outcome o = swarm::try_one({lab.seed, left_out(lab, kept), {}});
    if (!o.failed(rule)) return false;
    s.outcome = o;
    return true;
  };
  // With less traffic fewer faults may do.
  for (std::size_t before = 0; s.faults.size() + s.traffic.size() != before;) {
    before = s.faults.size() + s.traffic.size();
    s.faults = swarm::shrink(
        s.faults, [&](const auto& some) { return fails(some, s.traffic); }, kMostQuestions);
    s.traffic = swarm::shrink(
        s.traffic, [&](const auto& some) { return fails(s.faults, some); }, kMostQuestions);
  }
  return s;
}

std::string replay_command(const swarm::GeneratedLab& lab, const Smallest& s, const Options& o) {
  std::vector<std::string> only = s.faults;
  only.insert(only.end(), s.traffic.begin(), s.traffic.end());
  return fmt::format("railyard swarm --seeds {0}{1} --only {2} --write swarm-{0}.yaml", lab.seed,
                     o.planted.empty() ? "" : " --planted-bug " + o.planted, fmt::join(only, ","));
}

void print_failure(const swarm::GeneratedLab& lab, const Smallest& s, const Options& o) {
  fmt::print("seed {} FAILED\n", lab.seed);
  for (const swarm::Violation& v : s.outcome.violations) fmt::print("  {}: {}\n", v.rule, v.what);
  if (s.faults.empty())
    fmt::print("  fails without faults; traffic:\n");
  else
    fmt::print("  smallest list of faults that fails in the same way:\n");
  for (const swarm::GeneratedLab::Item& i : lab.faults)
    if (std::ranges::find(s.faults, i.name) != s.faults.end()) fmt::print("    - {{ name: {}, {} }}\n", i.name, i.yaml);
  if (!s.faults.empty()) fmt::print("  with traffic\n");
  for (const auto* items : {&lab.traffic, &lab.collectives})
    for (const swarm::GeneratedLab::Item& i : *items)
      if (std::ranges::find(s.traffic, i.name) != s.traffic.end())
        fmt::print("    - {{ name: {}, {} }}\n", i.name, i.yaml);
  fmt::print("  again: {}\n", replay_command(lab, s, o));
}

nlohmann::ordered_json json_of(const swarm::GeneratedLab& lab, const Smallest& s, const Options& o) {
  nlohmann::ordered_json j{{"seed", lab.seed},
                           {"faults", nlohmann::json::array()},
                           {"traffic", nlohmann::json::array()},
                           {"collectives", nlohmann::json::array()}};
  for (const auto& [key, items, kept] : {std::tuple{"faults", &lab.faults, &s.faults},
                                         {"traffic", &lab.traffic, &s.traffic},
                                         {"collectives", &lab.collectives, &s.traffic}})
    for (const swarm::GeneratedLab::Item& i : *items)
      if (std::ranges::find(*kept, i.name) != kept->end()) j[key].push_back({{"name", i.name}, {"yaml", i.yaml}});
  j["violations"] = nlohmann::json::array();
  for (const swarm::Violation& v : s.outcome.violations)
    j["violations"].push_back({{"rule", v.rule}, {"what", v.what}});
  j["again"] = replay_command(lab, s, o);
  return j;
}

// --resume: what came of seeds before.
class StoredSeeds {
 public:
  explicit StoredSeeds(const Options& o) : kept_(kept_runs(o.resume)), planted_(o.planted) {}

  std::optional<swarm::Outcome> find(const swarm::Task& task) const {
    const auto before = kept_ ? KeptRuns::read(file_of(task)) : std::nullopt;
    if (!before) return std::nullopt;
    swarm::Outcome outcome = swarm::Outcome::from_json(before->output);
    outcome.seed = task.seed;
    return outcome;
  }
  // Not what may come out otherwise another time.
  void keep(const swarm::Task& task, const swarm::Outcome& outcome) const {
    if (kept_ && !outcome.failed("crash") && !outcome.failed("time"))
      KeptRuns::keep(file_of(task), {0, kOk, outcome.json(), {}, false});
  }

 private:
  std::filesystem::path file_of(const swarm::Task& task) const {
    return kept_->file_named_by(fmt::format("\nswarm {} without {} planted {}", task.seed, fmt::join(task.without, ","), planted_));
  }

  std::optional<KeptRuns> kept_;
  std::string planted_;
};

int run_file(const Options& o) {
  const swarm::Outcome outcome = swarm::try_one({0, {}, spec::read_file(o.lab)});
  if (o.json) std::puts(outcome.json().c_str());
  for (const swarm::Violation& v : outcome.violations)
    if (!o.json) fmt::print("{}: {}\n", v.rule, v.what);
  if (!o.json && !outcome.failed()) fmt::print("{} packet-hops; all invariants held\n", outcome.hops);
  if (!outcome.unverified.empty()) fmt::print(stderr, "railyard: unverified: {}\n", outcome.unverified);
  if (outcome.failed()) return kFailed;
  return outcome.unverified.empty() ? kOk : kUnverified;
}

int run(const Options& o) {
  const Range range = parse_range(o.seeds);
  if (!o.lab.empty()) return run_file(o);
  if (!o.write.empty() || !o.only.empty()) {
    if (range.first != range.last)
      throw CLI::ValidationError("--seeds", "--only and --write need a single seed; expected one number");
    const swarm::GeneratedLab lab = swarm::generate(range.first);
    const std::set<std::string> without = left_out(lab, o.only);
    if (!o.write.empty()) write_file(o.write, lab.text(without), "--write");
  }
  std::vector<swarm::Task> tasks;
  for (std::uint64_t seed = range.first;; ++seed) {
    tasks.push_back({seed, {}, {}});
    if (!o.only.empty()) tasks.back().without = left_out(swarm::generate(seed), o.only);
    if (seed == range.last) break;
  }

  swarm::Coverage coverage;
  std::vector<swarm::Outcome> failed;
  const auto add = [&](swarm::Outcome outcome) {
    coverage.add(outcome);
    if (outcome.failed()) failed.push_back(std::move(outcome));
    return failed.empty() || o.keep_going;
  };
  const StoredSeeds stored(o);
  std::vector<swarm::Task> open;
  for (swarm::Task& task : tasks) {
    auto before = stored.find(task);
    if (!before)
      open.push_back(std::move(task));
    else if (!add(std::move(*before)))
      break;
  }
  if (failed.empty() || o.keep_going) {
    CountProgress progress("seeds", open.size(), tasks.size() - open.size(), !o.json && isatty(STDERR_FILENO) != 0);
    swarm::try_all(open, o.jobs, [&](std::size_t index, swarm::Outcome outcome) {
      progress.one_more();
      stored.keep(open[index], outcome);
      return add(std::move(outcome));
    });
  }

  std::ranges::sort(failed, {}, &swarm::Outcome::seed);
  const std::vector<std::string> missed = o.bars && failed.empty() ? coverage.missed({}) : std::vector<std::string>{};
  nlohmann::ordered_json report;
  report["coverage"] = nlohmann::ordered_json::parse(coverage.json());
  report["failed"] = nlohmann::json::array();
  for (const swarm::Outcome& f : failed) {
    const swarm::GeneratedLab lab = swarm::generate(f.seed);
    const Smallest smallest = make_smaller(lab, f, o.only);
    if (o.json)
      report["failed"].push_back(json_of(lab, smallest, o));
    else
      print_failure(lab, smallest, o);
  }
  report["missed"] = missed;
  if (o.json) {
    std::puts(json_text(report, 2).c_str());
  } else {
    std::fputs(coverage.text().c_str(), stdout);
    for (const std::string& m : missed) fmt::print("below the coverage bar: {}\n", m);
    fmt::print("{} of {} seeds failed\n", failed.size(), coverage.seeds());
  }
  return failed.empty() && missed.empty() ? kOk : kFailed;
}

}  // namespace

void add_swarm(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<Options>();
  command->add_option("--seeds", o->seeds, "Seeds of the labs: a range or one (default 1-100)")->type_name("A-B");
  command->add_option("--jobs", o->jobs, "Parallel processes (default: one per processor); no effect on results")
      ->type_name("N");
  command->add_option("--only", o->only, "One seed: keep only this traffic and these faults, e.g. t1,f3")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("--write", o->write, "One seed: write its fabric file")->type_name("FILE");
  command->add_option("--lab", o->lab, "Use this fabric file (with a duration) instead of seeds")->type_name("FILE");
  command->add_flag("--bars", o->bars, "Also fail if the seeds cover too little: hops, XOFF, drops, faults");
  command->add_flag("--keep-going", o->keep_going, "Continue after a seed that fails");
  command->add_flag("--json", o->json, "Print the outcome as JSON");
  add_resume_option(*command, o->resume);
  add_planted_bug_option(*command, o->planted);
  command->footer(
      "A seed is a fabric with classes, traffic and faults. While faults are active: packet accounting balances, "
      "memory is\nconsistent, and no packet is lost, duplicated or reordered without a fault or setting that explains "
      "it. RoCEv2 and\nUET messages are delivered once with correct data, or fail for a reason. After the faults, all "
      "queues drain and\nno PDC remains. For a seed that fails, the swarm searches the smallest list of faults that "
      "still fails.\n\n"
      "Examples:\n"
      "  railyard swarm --seeds 1-1000 --bars\n"
      "  railyard swarm --seeds 17 --only f2,t1 --write swarm-17.yaml && railyard run swarm-17.yaml\n"
      "  railyard swarm --lab topologies/scenarios/flap.yaml --json");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace railyard::tools
