// railyard place: where the ranks of a job, a trace or a collective should be.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/estimate/placement.h"
#include "control/estimate/placement_files.h"
#include "control/report/units.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/yaml/tree.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/find_job.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

struct PlaceOptions {
  std::string file;
  std::vector<std::string> sets;
  std::string job;
  std::string ranks;
  std::string hosts;
  std::string format = "mpirun";
  std::size_t rows = 24;
  bool json = false;
};

const std::map<std::string, estimate::Starter> kStarters{{"mpirun", estimate::Starter::kMpirun},
                                                         {"slurm", estimate::Starter::kSlurm},
                                                         {"torchrun", estimate::Starter::kTorchrun}};

std::string names_of(std::span<const jobs::Axis> axes) {
  std::vector<std::string_view> names;
  for (const jobs::Axis a : axes) names.push_back(name(a));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string time_text(Duration time) { return report::nanoseconds_text(static_cast<std::uint64_t>(time.ps / 1000)); }

// "+184 %"
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

double against(const estimate::Placement& p, const estimate::Placement& other) {
  return static_cast<double>(p.step.ps) / static_cast<double>(other.step.ps) - 1;
}

using Json = nlohmann::ordered_json;

Json json_of(const estimate::Advice& advice, const std::string& job) {
  const auto names = [](const std::vector<jobs::Axis>& axes) {
    Json all = Json::array();
    for (const jobs::Axis a : axes) all.push_back(name(a));
    return all;
  };
  const auto one = [&](const estimate::Placement& p) {
    return Json{{"hosts", name(p.hosts)}, {"order", names(advice.used(p))}, {"step_ps", p.step.ps}};
  };
  Json tried = Json::array();
  for (const estimate::Placement& p : advice.tried) tried.push_back(one(p));
  Json racks = nullptr;
  if (const auto& r = advice.racks)
    racks = {{"order", names(advice.used(advice.at_present()))},
             {"same_rack_ps", r->same.ps},
             {"cross_rack_ps", r->across.ps},
             {"difference", r->difference()},
             {"finding", r->is_finding()}};
  return {{"job", job}, {"now", one(advice.at_present())}, {"tried", std::move(tried)}, {"racks", std::move(racks)}};
}

void print_racks(const estimate::Advice& advice) {
  if (!advice.racks) return;
  const estimate::Racks& r = *advice.racks;
  const std::vector<jobs::Axis> order = advice.used(advice.at_present());
  fmt::print("\nRacks{}: same rack {}, cross-rack {}: the {} takes {:.1f} % longer.\n",
             order.empty() ? std::string() : fmt::format(" (order {})", names_of(order)), time_text(r.same),
             time_text(r.across), r.across >= r.same ? "latter" : "former", 100 * r.difference());
  if (r.is_finding())
    fmt::print("Finding: racks change the time by more than {:.0f} %. Put its hosts {}.\n", 100 * estimate::Racks::kFinding,
               r.across >= r.same ? "into as few racks as possible" : "into several racks");
}

// What to do with it; empty: nothing is quicker.
std::string advice_text(const estimate::Advice& advice, const PlaceOptions& o, const spec::CollectiveSpec& work, bool says_ranks) {
  const estimate::Placement& best = advice.tried.front();
  if (best.step >= advice.at_present().step) return "";
  std::string sets;
  if (!advice.has_order_of_now(best)) sets += fmt::format(" --set 'jobs.{}.parallelism.order=[{}]'", work.name, names_of(best.order));
  const std::string path = fmt::format("{}.{}", work.is_job() ? "jobs" : "collectives", work.name);
  if (best.ranks != advice.at_present().ranks && says_ranks) sets += fmt::format(" --set {}.ranks=", path);
  if (best.ranks != advice.at_present().ranks)
    sets += fmt::format(" --set {}.placement={}", path, o.ranks.empty() || o.ranks == "-" ? "FILE" : o.ranks);
  if (best.ranks != advice.at_present().ranks && o.ranks.empty()) sets += ", FILE by --ranks";
  return "Use it:" + sets;
}

// At the top of the files: what they do not say.
std::string note_of(const estimate::Advice& advice, const std::string& job) {
  const estimate::Placement& best = advice.tried.front();
  if (advice.has_order_of_now(best)) return "";
  return fmt::format("# Together with jobs.{}.parallelism.order: [{}]\n", job, names_of(best.order));
}

// Whether the file names its ranks, which a placement takes the place of.
bool says_ranks(const spec::Tree& document, const spec::CollectiveSpec& work) {
  const spec::Tree* list = document.find(work.is_job() ? "jobs" : "collectives");
  if (list == nullptr || list->kind != spec::Tree::Kind::kList) return false;
  return std::ranges::any_of(list->items, [&](const spec::Tree& one) {
    const spec::Tree* name = one.find("name");
    return name != nullptr && name->text == work.name && one.find("ranks") != nullptr;
  });
}

void print_table(const estimate::Advice& advice, const PlaceOptions& o, const spec::Lab& lab, const spec::CollectiveSpec& work,
                 bool says_ranks) {
  const std::size_t all = advice.tried.size();
  const std::size_t shown = std::min(o.rows, all);
  fmt::print("{} of {}: {} placement{}, estimated without queues{}\n\n", work.name, lab.name, all, all == 1 ? "" : "s",
             shown < all ? fmt::format("; the quickest {}", shown) : std::string());
  fmt::print("  {:<14}  {:<16} {:>12} {:>10}\n", "hosts", "order of ranks", work.is_job() ? "step" : "time", "");
  const auto line = [&](const estimate::Placement& p, bool is_now) {
    const std::string order = names_of(advice.used(p));
    fmt::print("  {:<14}  {:<16} {:>12} {:>10}{}\n", name(p.hosts), order.empty() ? "as said" : order, time_text(p.step),
               is_now ? "" : signed_percent(against(p, advice.at_present())), is_now ? "  now" : "");
  };
  for (std::size_t i = 0; i < shown; ++i) line(advice.tried[i], i == advice.now);
  if (shown <= advice.now) line(advice.at_present(), true);
  print_racks(advice);
  const std::string use = advice_text(advice, o, work, says_ranks);
  fmt::print("\n{}.\n", use.empty() ? "None is quicker than what the file says" : use);
}

int run_place(const PlaceOptions& o) {
  const std::string taker = taker_of_standard_output({{"--ranks", o.ranks}, {"--hosts", o.hosts}}, o.json);
  std::optional<ResultFile> ranks, hosts;
  if (!o.ranks.empty()) ranks.emplace(o.ranks, "--ranks");
  if (!o.hosts.empty()) hosts.emplace(o.hosts, "--hosts");
  const spec::LabAndDocument loaded = spec::load_with_document(o.file, o.sets);
  const spec::Lab& lab = loaded.lab;
  const std::size_t number = find_work(lab, o.file, o.job);
  const spec::CollectiveSpec& work = lab.collectives[number];
  const bool ranks_said = says_ranks(loaded.document, work);
  const auto advice = estimate::advise(lab, number);
  if (!advice) throw InputError(fmt::format("{}: {}", o.file, advice.error()));
  if (o.json) {
    std::puts(json_text(json_of(*advice, work.name), 2).c_str());
  } else if (taker.empty()) {
    print_table(*advice, o, lab, work, ranks_said);
  } else if (const std::string use = advice_text(*advice, o, work, ranks_said); !use.empty()) {
    fmt::print(stderr, "railyard: {}\n", use);  // standard output is a file's
  }
  const std::string note = note_of(*advice, work.name);
  if (ranks) ranks->write(estimate::rank_file(advice->tried.front(), note));
  if (hosts) hosts->write(estimate::host_file(advice->tried.front(), kStarters.at(o.format), note));
  return kOk;
}

}  // namespace

void add_place(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<PlaceOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required()->type_name("FILE");
  command->add_option("--job", o->job, "Its name, or that of a trace or a collective; needed if the file has several")->type_name("NAME");
  command->add_option("--set", o->sets, "Set before, as in railyard run")->type_name("PATH=VALUE");
  command->add_option("--rows", o->rows, "Placements to print, the quickest first")->type_name("N")->capture_default_str();
  command->add_option("--ranks", o->ranks, "Write the quickest to FILE: rank, host, GPU (CSV), as `placement:` reads it")->type_name("FILE");
  CLI::Option* hosts = command->add_option("--hosts", o->hosts, "Write its hosts to FILE in their order, as --format says")->type_name("FILE");
  command->add_option("--format", o->format, "Who reads the hosts: mpirun (h1 slots=4), slurm (a line per task), torchrun (node ranks)")
      ->check(CLI::IsMember(kStarters))
      ->needs(hosts)
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--json", o->json, "Print all placements as JSON");
  command->footer(
      "Tries each order of the job's axes (tp, cp, dp, pp) with hosts as the file says, leaf by leaf, and across leaves, and\n"
      "estimates each without queues (`railyard estimate`). For traces and collectives it tries orders of hosts.\n"
      "If the quickest has another order of axes, the files name it in their first line. FILE `-` is standard output, instead of\n"
      "the table. NCCL's files of the same hosts: `railyard export nccl-topology`, `railyard export nccl-hca`.\n"
      "\n"
      "Examples:\n"
      "  railyard place topologies/scenarios/job-3d.yaml\n"
      "  railyard place LAB.yaml --job train --ranks ranks.csv --hosts hosts.txt\n"
      "  railyard place topologies/scenarios/chakra-trace.yaml\n"
      "  mpirun --hostfile hosts.txt ...\n"
      "  railyard place LAB.yaml --hosts tasks.txt --format slurm && SLURM_HOSTFILE=tasks.txt srun --distribution=arbitrary ...\n"
      "  railyard place LAB.yaml --hosts - --format torchrun   # torchrun has no host file: the options of each host");
  command->callback([o, &exit_code] { exit_code = run_place(*o); });
}

}  // namespace railyard::tools
