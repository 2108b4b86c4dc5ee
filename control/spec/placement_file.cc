#include "control/spec/placement_file.h"

#include <map>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/spec/load.h"
#include "control/spec/suggest.h"
#include "control/spec/text_lines.h"

namespace railyard::spec {
namespace {

constexpr std::int64_t kMostPlaced = 65536;

struct PlacementColumns {
  std::optional<std::size_t> rank, host, rail;
  std::size_t count = 0;
};

PlacementColumns read_placement_heading(const Lines& lines, std::string_view line) {
  static const std::vector<std::string> known{"rank", "host", "rail"};
  PlacementColumns c;
  const auto names = split_at(line, ',', false);
  c.count = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::optional<std::size_t>* column = names[i] == "rank"   ? &c.rank
                                         : names[i] == "host" ? &c.host
                                         : names[i] == "rail" ? &c.rail
                                                              : nullptr;
    if (column == nullptr)
      lines.fail(fmt::format("unknown column '{}'; expected a first line with rank, host and optionally rail{}",
                             names[i], did_you_mean(std::string(names[i]), known)));
    if (*column) lines.fail(fmt::format("column '{}' is defined twice", names[i]));
    *column = i;
  }
  for (const auto& [column, name] : {std::pair{&c.rank, "rank"}, {&c.host, "host"}})
    if (!*column) lines.fail(fmt::format("column '{}' is missing; expected rank, host and optionally rail", name));
  return c;
}

PlacedRank placed_at(const Lab& lab, const Lines& lines, std::string_view host, std::optional<std::string_view> rail) {
  PlacedRank placed{std::string(host), 1};
  const NodeSpec* node = lab.find(placed.host);
  if (node == nullptr || node->kind != NodeSpec::Kind::kHost) {
    std::vector<std::string> hosts;
    for (const NodeSpec& n : lab.nodes)
      if (n.kind == NodeSpec::Kind::kHost) hosts.push_back(n.name);
    lines.fail(fmt::format("there is no host '{}'{}", host, did_you_mean(placed.host, hosts)));
  }
  if (rail) {
    const auto n = whole_number(*rail);
    if (!n || *n < 1 || static_cast<std::size_t>(*n) > node->nics.size())
      lines.fail(fmt::format("rail '{}': {} has {} NIC{}; expected {}", *rail, host, node->nics.size(),
                             node->nics.size() == 1 ? "" : "s",
                             node->nics.size() == 1 ? "1" : fmt::format("1..{}", node->nics.size())));
    placed.rail = static_cast<int>(*n);
  }
  if (!node->agent &&
      !std::holds_alternative<std::monostate>(node->nics[static_cast<std::size_t>(placed.rail) - 1].attach))
    lines.fail(fmt::format("{} is attached and has its own QPs; expected built-in hosts", host));
  return placed;
}

std::string described(const PlacedRank& p) { return fmt::format("{}, rail {}", p.host, p.rail); }

}  // namespace

std::vector<PlacedRank> read_placement_file(const Lab& lab, const std::string& file) {
  const std::string text = read_file(file);
  Lines lines(file, text);
  const auto heading = lines.next();
  if (!heading) lines.fail("is empty; expected a first line with rank, host and optionally rail");
  const PlacementColumns c = read_placement_heading(lines, *heading);
  std::map<std::int64_t, PlacedRank> by_rank;
  std::map<std::pair<std::string, int>, std::int64_t> taken;
  while (const auto line = lines.next()) {
    const auto fields = split_at(*line, ',', false);
    if (fields.size() != c.count)
      lines.fail(fmt::format("{} cells; expected {}, as in the first line", fields.size(), c.count));
    const auto rank = whole_number(fields[*c.rank]);
    if (!rank || *rank >= kMostPlaced)
      lines.fail(fmt::format("rank '{}'; expected a number from 0 to {}", fields[*c.rank], kMostPlaced - 1));
    const PlacedRank placed =
        placed_at(lab, lines, fields[*c.host], c.rail ? std::optional(fields[*c.rail]) : std::nullopt);
    if (const auto [found, is_new] = by_rank.try_emplace(*rank, placed); !is_new)
      lines.fail(fmt::format("rank {} is already at {}; expected each rank once", *rank, described(found->second)));
    if (const auto [found, is_new] = taken.try_emplace({placed.host, placed.rail}, *rank); !is_new)
      lines.fail(fmt::format("{} already has rank {}; expected each NIC once", described(placed), found->second));
  }
  if (by_rank.empty()) lines.fail("has no rank");
  std::vector<PlacedRank> all;
  for (const auto& [rank, placed] : by_rank) {
    if (rank != static_cast<std::int64_t>(all.size()))
      lines.fail(fmt::format("rank {} is missing, but there is a rank {}; expected all ranks from 0", all.size(),
                             by_rank.rbegin()->first));
    all.push_back(placed);
  }
  return all;
}

}  // namespace railyard::spec
