#include "control/machine/files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

namespace railyard::machine {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n";
  const std::size_t from = text.find_first_not_of(kSpaces);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpaces) - from + 1);
}

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

// A kernel has no more.
constexpr int kMostProcessors = 8192;

}  // namespace

std::filesystem::path Files::at(std::string_view path) const {
  return root_ / std::filesystem::path(path).relative_path();
}

std::optional<std::string> Files::text(std::string_view path) const {
  std::ifstream file(at(path));
  if (!file) return std::nullopt;
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  return std::string(trimmed(all));
}

std::optional<std::int64_t> Files::number(std::string_view path) const {
  const auto text = this->text(path);
  return text ? to_number<std::int64_t>(*text) : std::nullopt;
}

bool Files::exists(std::string_view path) const {
  std::error_code ignored;
  return std::filesystem::exists(at(path), ignored);
}

std::vector<std::string> Files::names(std::string_view folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(at(folder), error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  std::ranges::sort(names);
  return names;
}

std::string Files::link(std::string_view path) const {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(at(path), error);
  return error ? std::string() : target.filename().string();
}

std::vector<int> read_processors(std::string_view text) {
  std::vector<int> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto first = to_number<int>(part);
    const std::size_t dash = part.find('-');
    const auto last = dash == std::string_view::npos ? first : to_number<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMostProcessors) return {};
    for (int p = *first; p <= *last; ++p) out.push_back(p);
  }
  return out;
}

std::string processors_text(const std::vector<int>& processors) {
  std::string out;
  for (std::size_t i = 0; i < processors.size();) {
    std::size_t end = i + 1;
    while (end < processors.size() && processors[end] == processors[end - 1] + 1) ++end;
    if (!out.empty()) out += ',';
    out += end - i == 1 ? fmt::format("{}", processors[i]) : fmt::format("{}-{}", processors[i], processors[end - 1]);
    i = end;
  }
  return out;
}

std::string chosen_word(std::string_view text) {
  const std::size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::string(trimmed(text));
  return std::string(text.substr(open + 1, close - open - 1));
}

std::optional<std::int64_t> number_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.starts_with(':')) line.remove_prefix(1);
    if (!line.empty() && (line[0] == ' ' || line[0] == '\t')) return to_number<std::int64_t>(trimmed(line));
  }
  return std::nullopt;
}

}  // namespace railyard::machine
