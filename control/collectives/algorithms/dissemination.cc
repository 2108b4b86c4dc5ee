#include <limits>

#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

// Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization" (1988): in round k each rank tells the one
// 2^k places on that it, and all whom it has heard of, are there.
void barrier(Plan& plan) {
  const std::uint32_t n = plan.ranks();
  for (std::uint32_t k = 0; k < plan.rounds(); ++k)
    for (std::uint32_t r = 0; r < n; ++r) plan.arrive(r, (r + (1u << k)) % n, k + 1);
}

double transfers(const Layout& layout, double /*octets*/) {
  return static_cast<double>(layout.ranks) * std::numeric_limits<std::uint32_t>::digits;
}

}  // namespace

constinit const Algorithm kDissemination{
    .name = "dissemination",
    .help = "in round k each rank tells the one 2^k ranks on; log2 n steps",
    .barrier = barrier,
    .transfers = transfers,
};

}  // namespace railyard::collectives
