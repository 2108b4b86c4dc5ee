// The fluid model of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section
// 5): N flows of one rate over one bottleneck.
#pragma once

#include <vector>

namespace railyard::test {

// Parameters as the paper has them in its table 2; rates in b/s, sizes in octets, times in seconds.
struct DcqcnFluid {
  double flows = 2;
  double capacity = 40e9;
  double packet = 1106;  // on the wire
  double kmin = 5e3;
  double kmax = 200e3;
  double pmax = 0.01;
  double g = 1.0 / 256;
  double cnp_interval = 50e-6;    // tau
  double alpha_interval = 55e-6;  // tau'
  double byte_counter = 10e6;     // B
  double timer = 55e-6;           // T
  double fast_recovery = 5;       // F
  double additive = 40e6;         // R_AI
  double feedback_delay = 4e-6;   // tau*
};

// One millisecond each.
struct FluidSample {
  double offered = 0;  // mean of all flows' rates together, b/s, at most the capacity
  double queue = 0;    // mean, octets
};

// Euler's method in steps of a microsecond, from all flows at the line's rate. Hyper increase is not in the model.
std::vector<FluidSample> integrate(const DcqcnFluid& model, int milliseconds);

}  // namespace railyard::test
