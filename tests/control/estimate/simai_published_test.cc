// All-reduces of workloads whose results SimAI publishes (aliyun/SimAI, docs/Tutorial.md, "RING VS NVLS" and "Spectrum-X
// architecture VS DCN+ architecture"): its workload files, its rates and latencies, its results of ns-3. (docs/fidelity.md)
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "control/spec/load.h"

namespace railyard::estimate {
namespace {

struct Simulated {
  int mebibytes;
  double tensor;  // busbw in GB/s: 32 GPUs, all-reduces of the eight in each host
  double data;    // 256 GPUs, all-reduces of the 32 on each rail
};

class SimAi : public testing::TestWithParam<Simulated> {
 protected:
  // GB/s of an all-reduce of `ranks`, from the time of the step without computing. `layer`: its fields after the first two.
  static double busbw(const std::string& layer, int hosts, const char* nvlink, int ranks, int mebibytes) {
    const int gpus = 8 * hosts;
    const auto file = std::filesystem::temp_directory_path() / fmt::format("simai-{}-{}.txt", gpus, mebibytes);
    std::ofstream(file) << "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: " << gpus
                        << " checkpoints: 0 checkpoint_initiates: 0\n1\nembedding_layer -1 " << layer << "\n";
    const std::string lab = fmt::format(R"(
name: simai
topology: {{ preset: rail-optimized, hosts: {}, rails: 8, spines: 1, host-link: {{ rate: 400Gbps, delay: 500ns }}, fabric-link: {{ rate: 400Gbps }} }}
hosts: {{ default: {{ gpus: 8, scale-up: {{ rate: {}, latency: 25ns }} }} }}
collectives: [ {{ name: step, trace: {}, step-cost: 2us }} ]
)",
                                        hosts, nvlink, file.string());
    const auto e = estimate(spec::parse(lab, "simai.yaml"));
    std::filesystem::remove(file);
    EXPECT_TRUE(e) << e.error();
    const double seconds = static_cast<double>(e->collectives[0].time.ps) / 1e12 - 556e-6;
    const double out = 2.0 * (ranks - 1) / ranks * mebibytes * 1048576 / seconds / 1e9;
    RecordProperty("busbw_GB_per_s", fmt::format("{:.2f}", out));
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Published, SimAi,
                         testing::Values(Simulated{16, 141.84, 33.095585}, Simulated{32, 153.68, 38.572166},
                                         Simulated{64, 160.60, 42.049648}, Simulated{128, 163.85, 44.036110},
                                         Simulated{256, 165.72, 45.101425}, Simulated{512, 166.68, 45.653648}),
                         [](const auto& info) { return fmt::format("all_reduce_{}_mib", info.param.mebibytes); });

// -ro -g 32 -gt H100 -bw 400Gbps -nvbw 1440Gbps, AS_SEND_LAT=2; NVLink's latency is 25 ns.
TEST_P(SimAi, TensorParallelRingInAHostWithinTenPercent) {
  const Simulated& p = GetParam();
  const std::string layer = fmt::format("556000 ALLREDUCE {} 1 NONE 0 1 NONE 0 1", p.mebibytes * 1048576);
  EXPECT_NEAR(busbw(layer, 4, "1440Gbps", 8, p.mebibytes), p.tensor, 0.1 * p.tensor);
}

// -topo Spectrum-X -g 256, AS_SEND_LAT=2; links of 400 Gb/s and 500 ns.
TEST_P(SimAi, DataParallelRingOnRailsWithinTenPercent) {
  const Simulated& p = GetParam();
  const std::string layer = fmt::format("556000 NONE 0 1 NONE 0 1 ALLREDUCE {} 1", p.mebibytes * 1048576);
  EXPECT_NEAR(busbw(layer, 32, "2880Gbps", 32, p.mebibytes), p.data, 0.1 * p.data);
}

}  // namespace
}  // namespace railyard::estimate
