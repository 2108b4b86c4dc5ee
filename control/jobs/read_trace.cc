#include "control/jobs/read_trace.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
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

// The first rank after `rank` that has a file beside `first`, `base`.<rank>.et.
std::optional<std::uint64_t> later_rank(const std::filesystem::path& first, const std::string& base, std::size_t rank) {
  std::optional<std::uint64_t> found;
  std::error_code ignored;
  const std::filesystem::path folder = first.has_parent_path() ? first.parent_path() : std::filesystem::path(".");
  for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(base + ".") || !name.ends_with(".et") || name.size() < base.size() + 5) continue;
    const std::string_view digits = std::string_view(name).substr(base.size() + 1, name.size() - base.size() - 4);
    std::uint64_t number = 0;
    const auto [behind, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (bad == std::errc{} && behind == digits.data() + digits.size() && number > rank && (!found || number < *found)) found = number;
  }
  return found;
}

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
  if (const auto later = later_rank(first, base, files.size()))
    return Wrong({{0, fmt::format("{0}.{1}.et is missing, but {0}.{2}.et is there; expected a file of each rank", base, files.size(), *later)}, {}});
  for (std::size_t r = 0; r < files.size(); ++r) files[r].octets = texts[r];
  ChakraFile groups;
  std::string groups_text;
  if (const std::filesystem::path file = beside(base + ".json"); std::filesystem::exists(file)) {
    auto text = read(file);
    if (!text) return Wrong({{0, text.error()}, file.string()});
    groups_text = std::move(*text);
    groups = {file.string(), groups_text};
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
