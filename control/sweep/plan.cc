#include "control/sweep/plan.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "control/spec/column.h"

namespace railyard::sweep {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::uint64_t number(std::string_view text, const std::string& whole) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument(fmt::format("--seeds: '{}': expected a number, or a range such as 1-5", whole));
  return n;
}

}  // namespace

std::vector<std::string> Dimension::paths() const {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t plus = std::min(path.find('+', from), path.size());
    all.push_back(trimmed(std::string_view(path).substr(from, plus - from)));
    from = plus + 1;
  }
  return all;
}

std::vector<std::string> Dimension::sets(std::size_t value) const {
  std::vector<std::string> all;
  for (const std::string& p : paths()) all.push_back(p + "=" + values[value]);
  return all;
}

Dimension parse_dimension(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos)
    throw std::invalid_argument(
        fmt::format("--over: '{}': expected PATH=VALUE,VALUE,..., e.g. topology.spines=2,4", text));
  Dimension d{trimmed(std::string_view(text).substr(0, equals)),
              spec::split_at_commas(std::string_view(text).substr(equals + 1))};
  for (const std::string& path : d.paths())
    if (path.empty())
      throw std::invalid_argument(fmt::format(
          "--over: '{}': expected paths on both sides of '+', e.g. traffic.a.message+traffic.a.bytes", d.path));
  std::set<std::string> known;
  for (const std::string& value : d.values)
    if (!known.insert(value).second)
      throw std::invalid_argument(fmt::format("--over: {}: '{}' is given twice", d.path, value));
  if (d.values.size() == 1 && d.values[0].empty())
    throw std::invalid_argument(fmt::format("--over: {}: no value; expected {}=VALUE,VALUE,...", d.path, d.path));
  return d;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  constexpr std::uint64_t kMostSeeds = 10'000;
  const std::size_t dash = text.find('-');
  const std::uint64_t first = number(std::string_view(text).substr(0, dash), text);
  const std::uint64_t last = dash == text.npos ? first : number(std::string_view(text).substr(dash + 1), text);
  if (last < first || last - first >= kMostSeeds)
    throw std::invalid_argument(
        fmt::format("--seeds: '{}': expected an ascending range of at most {} seeds", text, kMostSeeds));
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t s = first;; ++s) {
    seeds.push_back(s);
    if (s == last) return seeds;
  }
}

std::vector<Point> points(const std::vector<Dimension>& dimensions, std::size_t seeds) {
  std::set<std::string> paths;
  std::size_t runs = std::max<std::size_t>(1, seeds);
  for (const Dimension& d : dimensions) {
    for (const std::string& path : d.paths())
      if (!paths.insert(path).second)
        throw std::invalid_argument(
            fmt::format("--over: {} is given twice; expected all its values in one option", path));
    if (runs > kMostRuns / d.values.size())
      throw std::invalid_argument(fmt::format("--over: more than {} runs", kMostRuns));
    runs *= d.values.size();
  }
  std::vector<Point> all{Point(dimensions.size(), 0)};
  for (;;) {
    Point next = all.back();
    std::size_t d = dimensions.size();
    while (d > 0 && ++next[d - 1] == dimensions[d - 1].values.size()) next[--d] = 0;
    if (d == 0) return all;
    all.push_back(std::move(next));
  }
}

}  // namespace railyard::sweep
