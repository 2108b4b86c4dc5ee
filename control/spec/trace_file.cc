#include "control/spec/trace_file.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "control/jobs/goal.h"
#include "control/spec/load.h"

namespace railyard::spec {
namespace {

[[noreturn]] void fail(const std::string& file, const jobs::TraceError& error) {
  throw SpecError({file, std::max(error.line, 1), 1}, error.text);
}

}  // namespace

TraceSpec read_trace_file(const std::string& file) {
  auto graph = jobs::read_goal(read_file(file));
  if (!graph) fail(file, graph.error());
  auto matches = jobs::check(*graph);
  if (!matches) fail(file, matches.error());
  return {std::make_shared<const jobs::JobGraph>(std::move(*graph)),
          std::make_shared<const jobs::Matches>(std::move(*matches))};
}

}  // namespace railyard::spec
