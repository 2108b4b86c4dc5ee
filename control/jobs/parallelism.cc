#include "control/jobs/parallelism.h"

#include <algorithm>

namespace railyard::jobs {

std::string_view name(Axis axis) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"tp", "cp", "dp", "pp"};
  return kNames[static_cast<std::size_t>(axis)];
}

int Parallelism::ranks() const noexcept {
  int all = 1;
  for (const int d : degrees) all *= d;
  return all;
}

Coordinates coordinates(const Parallelism& p, int rank) noexcept {
  Coordinates at{};
  for (const Axis axis : p.order) {
    at[static_cast<std::size_t>(axis)] = rank % p.degree(axis);
    rank /= p.degree(axis);
  }
  return at;
}

int rank_at(const Parallelism& p, const Coordinates& at) noexcept {
  int rank = 0;
  int step = 1;
  for (const Axis axis : p.order) {
    rank += at[static_cast<std::size_t>(axis)] * step;
    step *= p.degree(axis);
  }
  return rank;
}

std::vector<std::uint32_t> group(const Parallelism& p, const Coordinates& at, std::initializer_list<Axis> axes) {
  std::vector<Coordinates> all{at};
  for (const Axis axis : axes) {
    std::vector<Coordinates> more;
    for (const Coordinates& c : all)
      for (int i = 0; i < p.degree(axis); ++i) {
        more.push_back(c);
        more.back()[static_cast<std::size_t>(axis)] = i;
      }
    all = std::move(more);
  }
  std::vector<std::uint32_t> ranks;
  for (const Coordinates& c : all) ranks.push_back(static_cast<std::uint32_t>(rank_at(p, c)));
  std::ranges::sort(ranks);
  return ranks;
}

namespace {

std::vector<std::uint32_t> along_data(const Parallelism& p, Coordinates at, int first, int step, int count) {
  std::vector<std::uint32_t> ranks;
  for (int i = 0; i < count; ++i) {
    at[static_cast<std::size_t>(Axis::kData)] = first + i * step;
    ranks.push_back(static_cast<std::uint32_t>(rank_at(p, at)));
  }
  return ranks;
}

}  // namespace

std::vector<std::uint32_t> data_neighbours(const Parallelism& p, const Coordinates& at, int size) {
  return along_data(p, at, at[static_cast<std::size_t>(Axis::kData)] / size * size, 1, size);
}

std::vector<std::uint32_t> data_replicas(const Parallelism& p, const Coordinates& at, int size) {
  return along_data(p, at, at[static_cast<std::size_t>(Axis::kData)] % size, size, p.degree(Axis::kData) / size);
}

}  // namespace railyard::jobs
