#include "control/jobs/model.h"

namespace railyard::jobs {
namespace {

std::uint64_t product(int a, int b) noexcept { return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b); }

}  // namespace

std::uint64_t Model::attention_parameters() const noexcept {
  return 2 * product(hidden, hidden) + 2 * static_cast<std::uint64_t>(hidden) * kv_width();
}
std::uint64_t Model::mlp_parameters() const noexcept { return (gated ? 3u : 2u) * product(hidden, feed_forward); }
std::uint64_t Model::router_parameters() const noexcept { return product(hidden, experts); }
std::uint64_t Model::embedding_parameters() const noexcept { return product(vocabulary, hidden); }

std::uint64_t Model::parameters() const noexcept {
  const std::uint64_t mlps = experts > 0 ? static_cast<std::uint64_t>(experts) : 1;
  return static_cast<std::uint64_t>(layers) * (attention_parameters() + mlps * mlp_parameters() + router_parameters()) +
         2 * embedding_parameters();
}

std::uint64_t Model::active_parameters() const noexcept {
  const std::uint64_t mlps = experts > 0 ? static_cast<std::uint64_t>(experts_per_token) : 1;
  return static_cast<std::uint64_t>(layers) * (attention_parameters() + mlps * mlp_parameters() + router_parameters()) +
         2 * embedding_parameters();
}

double Model::attention_flops(int tokens) const noexcept {
  return 2 * static_cast<double>(attention_parameters()) + 4 * static_cast<double>(tokens) * hidden;
}
double Model::mlp_flops() const noexcept {
  const int mlps = experts > 0 ? experts_per_token : 1;
  return 2 * (mlps * static_cast<double>(mlp_parameters()) + static_cast<double>(router_parameters()));
}
double Model::output_flops() const noexcept { return 2 * static_cast<double>(embedding_parameters()); }

double Model::forward_flops(int tokens) const noexcept {
  return layers * (attention_flops(tokens) + mlp_flops()) + output_flops();
}

}  // namespace railyard::jobs
