// How a training job is spread over its ranks: degrees of parallelism, and who belongs together.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace railyard::jobs {

// Tensor, context, data and pipeline parallelism.
enum class Axis : std::uint8_t { kTensor, kContext, kData, kPipeline };
inline constexpr std::array kAxes{Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline};
std::string_view name(Axis axis) noexcept;  // "tp"

struct Parallelism {
  // By axis.
  std::array<int, 4> degrees{1, 1, 1, 1};
  // Ranks that share out the experts of a layer: neighbours on the data axis, whose degree it divides.
  int expert = 1;
  // The axis along which consecutive ranks differ, the next one, ... Megatron-LM's order.
  std::array<Axis, 4> order{Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline};

  int degree(Axis axis) const noexcept { return degrees[static_cast<std::size_t>(axis)]; }
  int& degree(Axis axis) noexcept { return degrees[static_cast<std::size_t>(axis)]; }
  int ranks() const noexcept;
  bool operator==(const Parallelism&) const = default;
};

// Where a rank is on each axis.
using Coordinates = std::array<int, 4>;
Coordinates coordinates(const Parallelism& parallelism, int rank) noexcept;
int rank_at(const Parallelism& parallelism, const Coordinates& at) noexcept;

// The ranks that differ from `at` along `axes` only, in their order.
std::vector<std::uint32_t> group(const Parallelism& parallelism, const Coordinates& at, std::initializer_list<Axis> axes);
// Of the data axis, the neighbours among which a part is shared out in `size` ranks; and those that have the same place in
// their own such neighbourhood.
std::vector<std::uint32_t> data_neighbours(const Parallelism& parallelism, const Coordinates& at, int size);
std::vector<std::uint32_t> data_replicas(const Parallelism& parallelism, const Coordinates& at, int size);

}  // namespace railyard::jobs
