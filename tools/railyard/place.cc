// railyard place: where the ranks of a job should be.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/estimate/placement.h"
#include "control/report/units.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
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
  std::size_t rows = 8;
  bool json = false;
};

std::string order_text(const estimate::Placement& p) {
  std::vector<std::string_view> names;
  for (const jobs::Axis a : p.order) names.push_back(name(a));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string time_text(Duration time) { return report::nanoseconds_text(static_cast<std::uint64_t>(time.ps / 1000)); }

// As `placement:` reads it.
std::string rank_file(const estimate::Placement& p) {
  const bool gpus = p.ranks.front().gpu > 0;
  std::string out = fmt::format("rank,host,{}\n", gpus ? "gpu" : "rail");
  for (std::size_t r = 0; r < p.ranks.size(); ++r)
    out += fmt::format("{},{},{}\n", r, p.ranks[r].nic.node, gpus ? p.ranks[r].gpu : p.ranks[r].nic.port);
  return out;
}

// Each host once, in the order of its first rank, with how many ranks it has: what mpirun --hostfile reads.
std::string host_file(const estimate::Placement& p) {
  std::vector<std::pair<std::string, int>> hosts;
  for (const spec::RankAt& r : p.ranks) {
    const auto found = std::ranges::find(hosts, r.nic.node, &std::pair<std::string, int>::first);
    if (found == hosts.end())
      hosts.emplace_back(r.nic.node, 1);
    else
      ++found->second;
  }
  std::string out;
  for (const auto& [host, slots] : hosts) out += fmt::format("{} slots={}\n", host, slots);
  return out;
}

int run_place(const PlaceOptions& o) {
  const std::string taker = taker_of_standard_output({{"--ranks", o.ranks}, {"--hosts", o.hosts}}, o.json);
  std::optional<ResultFile> ranks, hosts;
  if (!o.ranks.empty()) ranks.emplace(o.ranks, "--ranks");
  if (!o.hosts.empty()) hosts.emplace(o.hosts, "--hosts");
  const spec::Lab lab = spec::load(o.file, o.sets);
  const std::size_t job = find_job(lab, o.file, o.job);
  const auto advice = estimate::advise(lab, job);
  if (!advice) throw InputError(fmt::format("{}: {}", o.file, advice.error()));
  const estimate::Placement& best = advice->tried.front();
  const auto percent = [&](Duration step) {
    return 100 * (static_cast<double>(step.ps) / static_cast<double>(advice->now.step.ps) - 1);
  };
  if (o.json) {
    using Json = nlohmann::ordered_json;
    const auto one = [](const estimate::Placement& p) {
      Json order = Json::array();
      for (const jobs::Axis a : p.order) order.push_back(name(a));
      return Json{{"hosts", name(p.hosts)}, {"order", std::move(order)}, {"step_ps", p.step.ps}};
    };
    Json tried = Json::array();
    for (const estimate::Placement& p : advice->tried) tried.push_back(one(p));
    std::puts(json_text(Json{{"job", lab.collectives[job].name}, {"now", one(advice->now)}, {"tried", std::move(tried)}}, 2).c_str());
  } else if (taker.empty()) {
    fmt::print("{} of {}: {} placements, estimated\n\n", lab.collectives[job].name, lab.name, advice->tried.size());
    fmt::print("  {:<14}  {:<16} {:>12} {:>9}\n", "hosts", "order of ranks", "step", "");
    fmt::print("  {:<14}  {:<16} {:>12} {:>9}\n", "as it is now", order_text(advice->now), time_text(advice->now.step), "");
    for (std::size_t i = 0; i < std::min(o.rows, advice->tried.size()); ++i) {
      const estimate::Placement& p = advice->tried[i];
      fmt::print("  {:<14}  {:<16} {:>12} {:>+8.1f}%\n", name(p.hosts), order_text(p), time_text(p.step), percent(p.step));
    }
    const estimate::Placement& worst = advice->tried.back();
    fmt::print("\nThe slowest of them: hosts {}, order {}: {}.\n", name(worst.hosts), order_text(worst), time_text(worst.step));
    // The guides call this worth acting on.
    constexpr double kFinding = 1.3;
    if (static_cast<double>(worst.step.ps) > kFinding * static_cast<double>(best.step.ps))
      fmt::print("Placement matters here: the slowest takes {:.1f} times as long as the quickest.\n",
                 static_cast<double>(worst.step.ps) / static_cast<double>(best.step.ps));
    if (best.step < advice->now.step)
      fmt::print("Use it: --set 'jobs.{}.parallelism.order=[{}]'{}.\n", lab.collectives[job].name, order_text(best),
                 best.hosts == estimate::HostOrder::kAsSaid ? "" : ", with the placement of --ranks");
    else
      fmt::print("None is quicker than what the file says.\n");
  }
  if (ranks) ranks->write(rank_file(best));
  if (hosts) hosts->write(host_file(best));
  return kOk;
}

}  // namespace

void add_place(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<PlaceOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required()->type_name("FILE");
  command->add_option("--job", o->job, "Its name; needed if the file has several")->type_name("NAME");
  command->add_option("--set", o->sets, "Set before, as in railyard run")->type_name("PATH=VALUE");
  command->add_option("--rows", o->rows, "Placements to print, the quickest first")->type_name("N")->capture_default_str();
  command->add_option("--ranks", o->ranks, "Write the quickest to FILE: rank, host, GPU (CSV), as `placement:` reads it")->type_name("FILE");
  command->add_option("--hosts", o->hosts, "Write its hosts to FILE in their order, as mpirun --hostfile reads them")->type_name("FILE");
  command->add_flag("--json", o->json, "Print all placements as JSON");
  command->footer(
      "Tries each order of the job's axes (tp, cp, dp, pp) with hosts as the file says, leaf by leaf, and across leaves, and\n"
      "estimates each (`railyard estimate`). FILE `-` is standard output, instead of the table. NCCL's files of the same hosts:\n"
      "`railyard export nccl-topology`, `railyard export nccl-hca`.\n"
      "\n"
      "Examples:\n"
      "  railyard place topologies/scenarios/job-3d.yaml\n"
      "  railyard place LAB.yaml --job train --ranks ranks.csv --hosts hosts.txt\n"
      "  torchrun --nnodes 8 ...        # on the hosts of hosts.txt, in this order; Slurm: SLURM_HOSTFILE");
  command->callback([o, &exit_code] { exit_code = run_place(*o); });
}

}  // namespace railyard::tools
