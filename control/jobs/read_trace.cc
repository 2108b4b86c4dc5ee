#include "control/jobs/read_trace.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "control/jobs/chakra.h"
#include "control/jobs/goal.h"
#include "control/jobs/graph_builder.h"
#include "control/jobs/nccl_log.h"
#include "control/jobs/simai.h"

namespace railyard::jobs {
namespace {

using Wrong = std::unexpected<TraceFileError>;

std::expected<JobGraph, TraceFileError> read_ranks(const std::filesystem::path& first, const FileReader& read) {
  const std::string name = first.filename().string();
  constexpr std::string_view kEnd = ".0.et";
  if (!name.ends_with(kEnd)) return Wrong({{0, fmt::format("'{}'; expected the file of rank 0, NAME.0.et", name)}, {}});
  const std::string base = name.substr(0, name.size() - kEnd.size());
  const auto beside = [&](const std::string& file) { return first.parent_path() / file; };
  std::vector<std::string> texts;
  std::vector<ChakraFile> files;
  for (std::size_t r = 0;; ++r) {
    const std::filesystem::path file = beside(fmt::format("{}.{}.et", base, r));
    if (r > 0 && !std::filesystem::exists(file)) break;
    if (r == kMostTraceRanks) return Wrong({{0, fmt::format("more than {} ranks", kMostTraceRanks)}, {}});
    auto text = read(file);
    if (!text) return Wrong({{0, text.error()}, file.string()});
    texts.push_back(std::move(*text));
    files.push_back({file.string(), {}});
  }
  for (std::size_t r = 0; r < files.size(); ++r) files[r].octets = texts[r];
  std::string groups;
  if (const std::filesystem::path file = beside(base + ".json"); std::filesystem::exists(file)) {
    auto text = read(file);
    if (!text) return Wrong({{0, text.error()}, file.string()});
    groups = std::move(*text);
  }
  return read_chakra(files, groups);
}

bool is_goal(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(first);
  return text.starts_with("num_ranks") || text.starts_with("//") || text.starts_with("/*") || text.starts_with("rank");
}

}  // namespace

std::expected<JobGraph, TraceFileError> read_trace(const std::filesystem::path& file, const FileReader& read) {
  if (file.extension() == ".et") return read_ranks(file, read);
  const auto text = read(file);
  if (!text) return Wrong({{0, text.error()}, {}});
  const auto of_this_file = [](std::expected<JobGraph, TraceError> graph) -> std::expected<JobGraph, TraceFileError> {
    if (!graph) return Wrong({graph.error(), {}});
    return std::move(*graph);
  };
  if (file.extension() == ".goal" || is_goal(*text)) return of_this_file(read_goal(*text));
  if (is_simai(*text)) return of_this_file(read_simai(*text));
  if (is_nccl_log(*text)) return of_this_file(read_nccl_log(*text));
  return Wrong({{1, "no format of traces that is known; expected GOAL (num_ranks N), a workload of SimAI (HYBRID_TRANSFORMER...), a "
                                  "log of NCCL (NCCL INFO), or the Chakra trace of rank 0 (NAME.0.et)"}, {}});
}

}  // namespace railyard::jobs
