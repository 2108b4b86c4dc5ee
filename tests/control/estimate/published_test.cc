// Bus bandwidths of large all-reduces that others have measured with nccl-tests, on named systems. (docs/jobs.md, "Measured by
// others")
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "control/spec/load.h"

namespace railyard::estimate {
namespace {

struct Published {
  const char* name;
  int hosts;
  int nics;  // of each host, which has eight GPUs
  const char* link;
  const char* scale_up;
  double busbw;  // GB/s
};

class BusBandwidth : public testing::TestWithParam<Published> {};
INSTANTIATE_TEST_SUITE_P(
    Measured, BusBandwidth,
    testing::Values(
        // NVIDIA/nccl issue 812, 2023-03-31: DGX A100, 8 x 200 Gb/s InfiniBand, all-reduce.
        Published{"dgx_a100_8x200g", 4, 8, "200Gbps", "2400Gbps", 192},
        // NVIDIA/nccl-tests issue 119, 2022-11-17: three hosts, 8 A100 and 4 x HDR each, peak.
        Published{"three_a100_hosts_4x200g", 3, 4, "200Gbps", "2400Gbps", 96},
        // NVIDIA/nccl-tests issue 290, 2025-03-03: H100, two hosts, NCCL_ALGO=RING: 46 to 48 GB/s per NIC of 400 Gb/s.
        Published{"two_h100_hosts_8x400g", 2, 8, "400Gbps", "3600Gbps", 8 * 47}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(BusBandwidth, IsThatOfTheEstimateWithinTenPercent) {
  const Published& p = GetParam();
  const std::string yaml = fmt::format(R"(
name: published
topology: {{ preset: rail-optimized, hosts: {}, rails: {}, spines: 2, host-link: {{ rate: {} }}, fabric-link: {{ rate: 800Gbps }} }}
hosts: {{ default: {{ gpus: 8, scale-up: {{ rate: {} }} }} }}
collectives: [ {{ name: sum, collective: all-reduce, algorithm: ring, size: 1GiB, ranks: "h*" }} ]
)",
                                       p.hosts, p.nics, p.link, p.scale_up);
  const auto e = estimate(spec::parse(yaml, "published.yaml"), {});
  ASSERT_TRUE(e) << e.error();
  const double busbw = e->collectives[0].busbw_bps / 8e9;
  RecordProperty("busbw_GB_per_s", std::to_string(busbw));
  EXPECT_NEAR(busbw, p.busbw, 0.1 * p.busbw);
}

}  // namespace
}  // namespace railyard::estimate
