#include "control/spec/placement_file.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/load.h"
#include "control/spec/suggest.h"
#include "control/spec/text_lines.h"

namespace railyard::spec {
namespace {

constexpr std::int64_t kMostPlaced = 65536;

struct PlacementColumns {
  std::optional<std::size_t> rank, host, rail, gpu;
  std::size_t count = 0;
};

PlacementColumns read_placement_heading(const Lines& lines, std::string_view line) {
  static const std::vector<std::string> known{"rank", "host", "rail", "gpu"};
  PlacementColumns c;
  const auto names = split_at(line, ',', false);
  c.count = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::optional<std::size_t>* column = names[i] == "rank"   ? &c.rank
                                         : names[i] == "host" ? &c.host
                                         : names[i] == "rail" ? &c.rail
                                         : names[i] == "gpu"  ? &c.gpu
                                                              : nullptr;
    if (column == nullptr)
      lines.fail(fmt::format("unknown column '{}'; expected a first line with rank, host and optionally rail or gpu{}",
                             names[i], did_you_mean(std::string(names[i]), known)));
    if (*column) lines.fail(fmt::format("column '{}' is defined twice", names[i]));
    *column = i;
  }
  for (const auto& [column, name] : {std::pair{&c.rank, "rank"}, {&c.host, "host"}})
    if (!*column) lines.fail(fmt::format("column '{}' is missing; expected rank, host and optionally rail or gpu", name));
  if (c.rail && c.gpu) lines.fail("found the columns rail and gpu; expected one of the two: a GPU has its NIC");
  return c;
}

PlacedRank placed_at(const Lab& lab, const Lines& lines, std::string_view host, std::optional<std::string_view> rail,
                     std::optional<std::string_view> gpu) {
  PlacedRank placed{std::string(host), 1, 0};
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
  const HostProfile& profile = lab.hosts.at(node->profile);
  if (profile.gpus && !gpu)
    lines.fail(fmt::format("{} has GPUs (hosts.{}.gpus); expected a column gpu instead of rail", host, node->profile));
  if (gpu) {
    const auto n = whole_number(*gpu);
    if (!profile.gpus) lines.fail(fmt::format("gpu '{}': the profile of {} has no gpus; expected a column rail", *gpu, host));
    if (!n || *n < 1 || *n > *profile.gpus)
      lines.fail(fmt::format("gpu '{}': {} has {}; expected 1..{}", *gpu, host, *profile.gpus, *profile.gpus));
    placed.gpu = static_cast<int>(*n);
    placed.rail = gpu_nic(profile, node->nics.size(), placed.gpu);
  }
  if (!node->agent &&
      !std::holds_alternative<std::monostate>(node->nics[static_cast<std::size_t>(placed.rail) - 1].attach))
    lines.fail(fmt::format("{} is attached and has its own QPs; expected built-in hosts", host));
  return placed;
}

std::string described(const PlacedRank& p) {
  return p.gpu > 0 ? fmt::format("{}, GPU {}", p.host, p.gpu) : fmt::format("{}, rail {}", p.host, p.rail);
}

}  // namespace

std::vector<PlacedRank> read_placement_file(const Lab& lab, const std::string& file) {
  const std::string text = read_file(file);
  Lines lines(file, text);
  const auto heading = lines.next();
  if (!heading) lines.fail("is empty; expected a first line with rank, host and optionally rail or gpu");
  const PlacementColumns c = read_placement_heading(lines, *heading);
  std::map<std::int64_t, PlacedRank> by_rank;
  std::map<std::tuple<std::string, int, int>, std::int64_t> taken;
  while (const auto line = lines.next()) {
    const auto fields = split_at(*line, ',', false);
    if (fields.size() != c.count)
      lines.fail(fmt::format("{} cells; expected {}, as in the first line", fields.size(), c.count));
    const auto rank = whole_number(fields[*c.rank]);
    if (!rank || *rank >= kMostPlaced)
      lines.fail(fmt::format("rank '{}'; expected a number from 0 to {}", fields[*c.rank], kMostPlaced - 1));
    const auto cell = [&](const std::optional<std::size_t>& column) {
      return column ? std::optional(fields[*column]) : std::nullopt;
    };
    const PlacedRank placed = placed_at(lab, lines, fields[*c.host], cell(c.rail), cell(c.gpu));
    if (const auto [found, is_new] = by_rank.try_emplace(*rank, placed); !is_new)
      lines.fail(fmt::format("rank {} is already at {}; expected each rank once", *rank, described(found->second)));
    if (const auto [found, is_new] = taken.try_emplace({placed.host, placed.rail, placed.gpu}, *rank);
        !is_new)
      lines.fail(fmt::format("{} already has rank {}; expected each {} once", described(placed), found->second,
                             placed.gpu > 0 ? "GPU" : "NIC"));
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
