#include "tools/railyard/find_job.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "control/spec/input_error.h"

namespace railyard::tools {

std::size_t find_job(const spec::Lab& lab, const std::string& file, const std::string& name) {
  std::vector<std::string> names;
  std::size_t found = 0;
  for (std::size_t i = 0; i < lab.collectives.size(); ++i) {
    const spec::CollectiveSpec& c = lab.collectives[i];
    if (!c.is_job() || c.job->inference) continue;
    if (c.name == name) return i;
    names.push_back(c.name);
    found = i;
  }
  if (names.empty() && std::ranges::any_of(lab.collectives, &spec::CollectiveSpec::is_job))
    throw InputError(fmt::format("{}: its jobs are of inference; expected one of training", file));
  if (names.empty()) throw InputError(fmt::format("{}: there is no job; expected `jobs:`", file));
  if (!name.empty())
    throw std::invalid_argument(fmt::format("--job: there is no job '{}'; expected one of {}", name, fmt::join(names, ", ")));
  if (names.size() > 1)
    throw std::invalid_argument(
        fmt::format("{} has {} jobs; expected --job with one of {}", file, names.size(), fmt::join(names, ", ")));
  return found;
}

std::size_t find_work(const spec::Lab& lab, const std::string& file, const std::string& name) {
  std::vector<std::string> names;
  std::size_t found = 0, jobs = 0, job = 0;
  for (std::size_t i = 0; i < lab.collectives.size(); ++i) {
    const spec::CollectiveSpec& c = lab.collectives[i];
    if (c.is_job() && c.job->inference) continue;
    if (c.name == name) return i;
    names.push_back(c.name);
    found = i;
    if (c.is_job()) jobs += 1, job = i;
  }
  if (names.empty() && !lab.collectives.empty())
    throw InputError(fmt::format("{}: its jobs are of inference; expected one of training, a trace or a collective", file));
  if (names.empty()) throw InputError(fmt::format("{}: there is nothing to place; expected `jobs:` or `collectives:`", file));
  if (!name.empty())
    throw std::invalid_argument(fmt::format("--job: there is no job or collective '{}'; expected one of {}", name, fmt::join(names, ", ")));
  if (jobs == 1) return job;
  if (names.size() > 1)
    throw std::invalid_argument(
        fmt::format("{} has {} jobs and collectives; expected --job with one of {}", file, names.size(), fmt::join(names, ", ")));
  return found;
}

}  // namespace railyard::tools
