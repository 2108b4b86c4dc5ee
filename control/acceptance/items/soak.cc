// For long under load, and what all of this says of a larger cluster.
#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"
#include "control/spec/collective_ranks.h"

namespace railyard::acceptance {
namespace {

Finding soak(const Subject& s, const Runs& runs) {
  const auto& report = report_of(runs, ProbeKind::kSoak);
  Finding f;
  f.answer = Answer::kPass;
  f.threshold = "no packet lost, every packet accounted for, no deadlock";
  std::uint64_t packets = 0, lost = 0, corrupted = 0;
  for (const auto& flow : report["flows"]) {
    packets += flow["packets"].get<std::uint64_t>();
    if (flow["lost"].is_number()) lost += flow["lost"].get<std::uint64_t>();
    if (flow["corrupted"].is_number()) corrupted += flow["corrupted"].get<std::uint64_t>();
  }
  const std::size_t runs_of_it = report.contains("intervals") ? report["intervals"].get<std::size_t>() : 1;
  f.found = fmt::format("{} packets in {} of simulated time at 80 % load{}, {} lost", report::count_text(packets),
                        report::time_text(s.settings.soak),
                        runs_of_it > 1 ? fmt::format(" ({} runs, each with a seed of its own)", runs_of_it) : "",
                        report::count_text(lost));
  for (const char* name : {"lossless", "deadlock", "data"})
    if (const auto v = verdict_of(report, name); v && v->first == "fail") {
      f.answer = Answer::kFail;
      f.evidence.push_back(fmt::format("{}: {}", name, v->second));
    }
  if (lost + corrupted > 0) f.answer = Answer::kFail;
  f.evidence.push_back("simulated time; --soak sets it. Hours of wall time belong to a live lab");
  return f;
}

Finding scale(const Subject& s, const Runs&) {
  Finding f;
  std::size_t hosts = 0, gpus = 0;
  for (const spec::NodeSpec& n : s.lab.nodes) {
    if (n.kind != spec::NodeSpec::Kind::kHost || n.reduces) continue;
    ++hosts;
    gpus += static_cast<std::size_t>(s.lab.hosts.at(n.profile).gpus.value_or(static_cast<int>(n.nics.size())));
  }
  f.answer = Answer::kReport;
  f.found = fmt::format("validated: {} hosts, {} NICs, {} GPUs", hosts, s.nics.size(), gpus);
  if (!s.settings.planned_gpus) return f;
  f.threshold = fmt::format("{} GPUs are planned", report::count_text(*s.settings.planned_gpus));
  f.answer = gpus < *s.settings.planned_gpus ? Answer::kWarn : Answer::kPass;
  if (f.answer == Answer::kWarn)
    f.found += fmt::format(", {} of what is planned: incast, collisions and collectives grow with the number of ranks",
                           share_text(static_cast<double>(gpus) / static_cast<double>(*s.settings.planned_gpus)));
  return f;
}

}  // namespace

namespace list {
const Item kSoak{"soak",
                 "Does it hold for long at 80 % load?",
                 "draft-calabria-bmwg-ai-fabric-training-bench T12.1: load; design guides: no loss",
                 {ProbeKind::kSoak},
                 soak};
const Item kScale{"scale", "What was validated, of what is planned?", "design guides: say it", {}, scale};
}  // namespace list

}  // namespace railyard::acceptance
