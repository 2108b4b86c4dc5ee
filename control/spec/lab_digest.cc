#include "control/spec/lab_digest.h"

#include <cstdint>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/to_yaml.h"
#include "control/spec/value.h"
#include "dataplane/base/hash.h"

namespace railyard::spec {

std::string lab_digest(Lab lab) {
  lab.run.seed = {};
  lab.run.workers = 1;
  lab.run.cores = {};
  lab.run.budgets = {};
  lab.run.timeline = false;
  lab.compare = {};
  lab.diagnosis = {};
  lab.expect = {};
  lab.sites = {};
  lab.trunks = {};
  std::uint64_t digest = 0;
  // Files by what they say, wherever they are.
  for (TrafficSpec& t : lab.traffic) {
    for (const ListedFlow& f : t.listed)
      for (const char c : fmt::format("{} {} {} {} {} {} {} {}\n", format(f.from), format(f.to), f.bytes.n, f.start.ps,
                                      f.trigger, f.send_done, f.recv_done, f.connection))
        digest = mix64(digest ^ static_cast<unsigned char>(c));
    for (const ListedTrigger& trigger : t.triggers)
      for (const char c : fmt::format("{} {} {}\n", trigger.number, static_cast<int>(trigger.kind), trigger.count))
        digest = mix64(digest ^ static_cast<unsigned char>(c));
    if (!t.file.empty()) t.file = std::filesystem::path(t.file).filename();
  }
  for (CollectiveSpec& collective : lab.collectives) {
    for (const PlacedRank& p : collective.placed)
      for (const char c : fmt::format("{} {} {}\n", p.host, p.rail, p.gpu)) digest = mix64(digest ^ static_cast<unsigned char>(c));
    for (const std::uint64_t octets : collective.octets) digest = mix64(digest ^ octets);
    if (const auto& graph = collective.traced.graph; graph != nullptr)
      for (const std::vector<jobs::Operation>& own : graph->ranks)
        for (const jobs::Operation& o : own)
          for (const char c : fmt::format("{} {} {} {} {} {} {} {} {}\n", static_cast<int>(o.kind), o.stream, o.peer, o.tag,
                                          o.octets, o.time.ps, o.collective, fmt::join(o.after, ","), fmt::join(o.with, ",")))
            digest = mix64(digest ^ static_cast<unsigned char>(c));
    if (const auto& graph = collective.traced.graph; graph != nullptr)
      for (const jobs::Collective& o : graph->collectives)
        for (const char c : fmt::format("{} {} {} {} {}\n", static_cast<int>(o.operation), o.octets, o.root,
                                        fmt::join(graph->communicators[o.communicator], ","), fmt::join(o.matrix, ",")))
          digest = mix64(digest ^ static_cast<unsigned char>(c));
    if (collective.job && !collective.job->model.said.empty())
      collective.job->model.said = std::filesystem::path(collective.job->model.said).filename();
    for (std::string* file : {&collective.placement, &collective.matrix, &collective.trace})
      if (!file->empty()) *file = std::filesystem::path(*file).filename();
  }
  for (const char c : to_yaml(lab)) digest = mix64(digest ^ static_cast<unsigned char>(c));
  return fmt::format("{:016x}", digest);
}

}  // namespace railyard::spec
