#include "control/spec/trace_file.h"

#include <algorithm>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "control/jobs/read_trace.h"
#include "control/spec/load.h"

namespace railyard::spec {
namespace {

[[noreturn]] void fail(const std::string& file, const jobs::TraceError& error) {
  throw SpecError({file, std::max(error.line, 1), 1}, error.text);
}

}  // namespace

TraceSpec read_trace_file(const std::string& file) {
  auto graph = jobs::read_trace(file, [](const std::filesystem::path& path) -> std::expected<std::string, std::string> {
    return read_file(path.string());
  });
  if (!graph) fail(graph.error().file.empty() ? file : graph.error().file, graph.error());
  auto matches = jobs::check(*graph);
  if (!matches) fail(file, matches.error());
  return {std::make_shared<const jobs::JobGraph>(std::move(*graph)),
          std::make_shared<const jobs::Matches>(std::move(*matches))};
}

}  // namespace railyard::spec
