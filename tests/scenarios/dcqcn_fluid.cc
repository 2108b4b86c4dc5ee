#include "tests/scenarios/dcqcn_fluid.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace railyard::test {
namespace {

constexpr double kStep = 1e-6;

struct Feedback {
  double p;     // marking probability
  double rate;  // of one flow, packets a second
};

// How often the byte counter, or the timer, raises a flow's rate: once in `packets` without a mark.
double increases(double rate, double p, double packets) {
  if (p <= 0) return rate / packets;
  return rate * p / std::expm1(-packets * std::log1p(-p));
}
// The part of them that come after so many without a mark that fast recovery is over.
double beyond_recovery(double p, double packets) { return p < 1 ? std::exp(packets * std::log1p(-p)) : 0; }
// That a mark falls into so many packets.
double any_mark(double p, double packets) { return p < 1 ? -std::expm1(packets * std::log1p(-p)) : 1; }

}  // namespace

std::vector<FluidSample> integrate(const DcqcnFluid& m, int milliseconds) {
  const double bits = m.packet * 8;
  const double capacity = m.capacity / bits;
  const double additive = m.additive / bits;
  const double counter = m.byte_counter / m.packet;
  const auto delay = static_cast<std::size_t>(m.feedback_delay / kStep);
  std::vector<Feedback> past(delay, {0, capacity});
  double queue = 0;  // packets
  double rate = capacity;
  double target = capacity;
  double alpha = 1;
  std::vector<FluidSample> out(static_cast<std::size_t>(milliseconds));
  const std::size_t steps = out.size() * 1000;
  for (std::size_t i = 0; i < steps; ++i) {
    const double depth = queue * m.packet;
    const double p = depth <= m.kmin ? 0 : depth <= m.kmax ? m.pmax * (depth - m.kmin) / (m.kmax - m.kmin) : 1;
    Feedback& then = past[i % delay];
    const Feedback seen = then;
    then = {p, rate};
    const double by_bytes = increases(seen.rate, seen.p, counter);
    const double by_timer = increases(seen.rate, seen.p, m.timer * seen.rate);
    const double cut = any_mark(seen.p, m.cnp_interval * seen.rate);
    // Equations 6, 8, 7 and 5.
    const double alpha_change = m.g / m.alpha_interval * (any_mark(seen.p, m.alpha_interval * seen.rate) - alpha);
    const double target_change = -(target - rate) / m.cnp_interval * cut +
                                 additive * (beyond_recovery(seen.p, m.fast_recovery * counter) * by_bytes +
                                             beyond_recovery(seen.p, m.fast_recovery * m.timer * seen.rate) * by_timer);
    const double rate_change = -rate * alpha / (2 * m.cnp_interval) * cut + (target - rate) / 2 * (by_bytes + by_timer);
    alpha += kStep * alpha_change;
    target = std::min(capacity, target + kStep * target_change);
    rate = std::min(capacity, rate + kStep * rate_change);
    queue = std::max(0.0, queue + kStep * (m.flows * rate - capacity));
    FluidSample& sample = out[i / 1000];
    sample.offered += std::min(m.capacity, m.flows * rate * bits) / 1000;
    sample.queue += queue * m.packet / 1000;
  }
  return out;
}

}  // namespace railyard::test
