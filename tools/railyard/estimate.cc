// railyard estimate: how long collectives and jobs take, in seconds instead of hours.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/estimate/table.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/slow_collectives.h"

namespace railyard::tools {
namespace {

struct EstimateOptions {
  std::vector<std::string> files;
  std::vector<std::string> sets;
  std::string chunk = "64MiB";
  std::size_t links = 5;
  bool json = false;
};

int run_estimate(const EstimateOptions& o) {
  const auto chunk = spec::parse_size(o.chunk);
  if (!chunk) throw std::invalid_argument(fmt::format("--chunk: {}", chunk.error()));
  if (chunk->n > (std::int64_t{1} << 30)) throw std::invalid_argument(fmt::format("--chunk: {} is above 1GiB; expected less", o.chunk));
  std::vector<spec::Lab> labs;
  for (const std::string& file : o.files) {
    labs.push_back(spec::load(file, o.sets));
    if (labs.back().collectives.empty())
      throw InputError(fmt::format("{}: there is nothing to estimate; expected `jobs:` or `collectives:`", file));
  }
  std::vector<estimate::Named> all;
  for (std::size_t i = 0; i < labs.size(); ++i) {
    auto one = estimate::estimate(labs[i], {.least_chunk = static_cast<std::uint32_t>(chunk->n)});
    if (!one) throw InputError(fmt::format("{}: {}", o.files[i], one.error()));
    all.push_back({o.files[i], labs[i].name, std::move(*one)});
  }
  if (o.json) {
    std::puts(json_text(estimate::json(all), 2).c_str());
    return kOk;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    fmt::print("{}{}", i > 0 ? "\n" : "", estimate::text(all[i], o.links));
    fmt::print("{}", slow_estimates_text(o.files[i], o.sets, all[i].of.collectives));
    if (!labs[i].traffic.empty() || !labs[i].faults.empty())
      fmt::print("\nThe lab has traffic or faults, which an estimate leaves out.\n");
  }
  if (all.size() > 1) fmt::print("\n{}", estimate::comparison_text(all));
  return kOk;
}

}  // namespace

void add_estimate(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<EstimateOptions>();
  command->add_option("SPEC", o->files, "Fabric files (YAML); several are compared")->required()->type_name("FILE");
  command->add_option("--set", o->sets, "Set in all of them, as in railyard run")->type_name("PATH=VALUE");
  command->add_option("--chunk", o->chunk, "Messages that are smaller by the file (`chunk`) have up to this size; 0: as the file says")
      ->type_name("SIZE")
      ->capture_default_str();
  command->add_option("--links", o->links, "Busiest links to print; those of the same load are one. One of links between switches is always there")->type_name("N")->capture_default_str();
  command->add_flag("--json", o->json, "Print all figures as JSON");
  command->footer(
      "Messages are fluid: each has its max-min fair share of the links on its way. No packets are made, so 1,024 GPUs take\n"
      "seconds. Queues, congestion control, pauses and losses are left out: times are those of a network that shares its\n"
      "links perfectly. `railyard docs` says how far runs are from that (jobs.md).\n"
      "\n"
      "Examples:\n"
      "  railyard estimate topologies/designs/job-1024-gpus.yaml\n"
      "  railyard estimate topologies/scenarios/job-64-rails.yaml topologies/scenarios/job-64-oversubscribed.yaml\n"
      "  railyard estimate LAB.yaml --set jobs.train.model=llama-70b");
  command->callback([o, &exit_code] { exit_code = run_estimate(*o); });
}

}  // namespace railyard::tools
