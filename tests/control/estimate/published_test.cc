// Times that others have measured with nccl-tests, on named systems, size by size. (docs/fidelity.md, "Tables of nccl-tests")
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "control/spec/load.h"

namespace railyard::estimate {
namespace {

// GB/s of busbw, of a rail-optimized fabric.
double estimated(int hosts, int nics, const char* link, const std::string& profile, const std::string& keys) {
  const std::string yaml = fmt::format(R"(
name: published
topology: {{ preset: rail-optimized, hosts: {}, rails: {}, spines: 2, host-link: {{ rate: {} }}, fabric-link: {{ rate: 800Gbps }} }}
hosts: {{ default: {{ {} }} }}
collectives: [ {{ name: measured, ranks: "h*", {} }} ]
)",
                                       hosts, nics, link, profile, keys);
  const auto e = estimate(spec::parse(yaml, "published.yaml"), {});
  EXPECT_TRUE(e) << e.error();
  return e ? e->collectives[0].busbw_bps / 8e9 : 0;
}

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
  const double busbw = estimated(p.hosts, p.nics, p.link, fmt::format("gpus: 8, scale-up: {{ rate: {} }}", p.scale_up),
                                 "collective: all-reduce, algorithm: ring, size: 1GiB");
  RecordProperty("busbw_GB_per_s", std::to_string(busbw));
  EXPECT_NEAR(busbw, p.busbw, 0.1 * p.busbw);
}

// A table: what was run, on what, and out-of-place busbw in GB/s by size. All costs are those of the protocol.
struct Table {
  const char* name;
  int hosts;
  int nics;
  const char* link;
  const char* server;
  const char* keys;
  struct Row {
    const char* size;
    double busbw;
  };
  std::vector<Row> rows;
};

class NcclTests : public testing::TestWithParam<Table> {};
INSTANTIATE_TEST_SUITE_P(
    Measured, NcclTests,
    testing::Values(
        // dstackai/dstack, examples/clusters/crusoe/README.md: two Crusoe hosts, 8 A100 80 GB and 8 x 200 Gb/s InfiniBand each.
        Table{"crusoe_a100_ring", 2, 8, "200Gbps", "hgx-a100", "collective: all-reduce, algorithm: ring, protocol: simple",
              {{"32MiB", 128.20}, {"64MiB", 147.23}, {"128MiB", 169.65}, {"256MiB", 186.39}, {"512MiB", 189.91},
               {"1GiB", 192.25}, {"2GiB", 194.06}}},
        // oracle-quickstart/oci-hpc-oke, README.md: two BM.GPU4.8, 8 A100 40 GB and 1,600 Gb/s of RoCE each; beyond the rate
        // of the NICs, so trees.
        Table{"oci_a100_tree", 2, 8, "200Gbps", "hgx-a100", "collective: all-reduce, algorithm: tree, protocol: simple",
              {{"1GiB", 219.12}, {"2GiB", 220.16}, {"4GiB", 235.63}, {"8GiB", 237.94}}},
        // The README of a later version: NCCL 2.25, rings.
        Table{"oci_a100_ring", 2, 8, "200Gbps", "hgx-a100", "collective: all-reduce, algorithm: ring, protocol: simple",
              {{"1GiB", 186.83}, {"2GiB", 189.15}, {"4GiB", 190.02}}},
        // wutz/k8s-in-action, mpi-operator/README.md: two hosts, 8 H100 and 8 x 400 Gb/s InfiniBand each.
        Table{"h100_ring", 2, 8, "400Gbps", "hgx-h100", "collective: all-reduce, algorithm: ring, protocol: simple",
              {{"512MiB", 383.79}, {"1GiB", 387.14}, {"2GiB", 390.61}, {"4GiB", 392.29}, {"8GiB", 391.45}}},
        // lessizzmore/create-a3mega-ztan-fork, ztan-NCCL-test-result: two A3 Mega, 8 H100 and 8 x 200 Gb/s (TCPXO) each; beyond
        // the rate of the NICs, so trees.
        Table{"a3_mega_tree", 2, 8, "200Gbps", "hgx-h100", "collective: all-reduce, algorithm: tree, protocol: simple",
              {{"4GiB", 330.58}, {"8GiB", 338.82}}},
        // dstackai/dstack, examples/clusters/gcp/README.md: two A3 Mega, all_gather_perf.
        Table{"a3_mega_all_gather", 2, 8, "200Gbps", "hgx-h100", "collective: all-gather, protocol: simple",
              {{"512MiB", 174.02}, {"1GiB", 181.94}, {"2GiB", 185.34}, {"4GiB", 187.45}, {"8GiB", 188.54}}},
        // NVIDIA/nccl issue 1368: five hosts, 8 H100 and 4 x 400 Gb/s RoCE each, NCCL_ALGO=Ring.
        Table{"five_h100_hosts_ring", 5, 4, "400Gbps", "hgx-h100", "collective: all-reduce, algorithm: ring, protocol: simple",
              {{"1GiB", 190}}},
        // NVIDIA/nccl-tests issue 212: 370 GB/s in one host, NCCL_ALGO=RING.
        Table{"one_h100_host_ring", 1, 8, "400Gbps", "hgx-h100", "collective: all-reduce, algorithm: ring, protocol: simple",
              {{"8GiB", 370}}},
        // prasad-nair-amd/alibaba, README.md, tests 11 and 12: two hosts, 8 MI355X and 8 x 400 Gb/s RoCE (AINIC) each, RCCL 2.27.7.
        Table{"mi355x_ring", 2, 8, "400Gbps", "mi300x-8", "collective: all-reduce, algorithm: ring, protocol: simple",
              {{"256MiB", 371.25}, {"512MiB", 377.19}, {"1GiB", 379.72}, {"16GiB", 385.98}}},
        Table{"mi355x_all_to_all", 2, 8, "400Gbps", "mi300x-8", "collective: all-to-all, protocol: simple",
              {{"64MiB", 83.78}, {"128MiB", 86.83}, {"256MiB", 87.23}, {"512MiB", 88.13}, {"1GiB", 89.45}, {"16GiB", 91.09}}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(NcclTests, AreWithinTenPercentOfTheEstimate) {
  const Table& t = GetParam();
  for (const Table::Row& row : t.rows) {
    const double busbw = estimated(t.hosts, t.nics, t.link, fmt::format("server: {}", t.server),
                                   fmt::format("{}, size: {}", t.keys, row.size));
    RecordProperty(row.size, fmt::format("{:.1f}", busbw));
    EXPECT_NEAR(busbw, row.busbw, 0.1 * row.busbw) << row.size;
  }
}

// NVIDIA/nccl-tests issue 322: 128 hosts, 8 H100 and 8 x 400 Gb/s RoCE each; NCCL_ALGO=Ring, NCCL_PROTO=LL128, NVLS off. Its eight
// channels are alike: one stands for them here, with the NICs of a host as one. Of eight channels, each GPU sends seven over NVLink
// and one over its NIC; of one, all but the last GPU send all over NVLink, so that NVLink is faster in the same proportion.
TEST(NcclTestsOfManyHosts, RingsOf1024GpusAreWithinTenPercent) {
  for (const auto& [size, busbw] : {std::pair{"4GiB", 338.16}, std::pair{"16GiB", 367.29}}) {
    const auto e = estimate(spec::parse(fmt::format(R"(
name: many
topology: {{ preset: rail-optimized, hosts: 128, rails: 1, spines: 2, host-link: {{ rate: 3200Gbps }} }}
hosts: {{ default: {{ gpus: 8, gpu-nics: [1, 1, 1, 1, 1, 1, 1, 1], scale-up: {{ rate: 4114Gbps }} }} }}
collectives: [ {{ name: sum, ranks: "h*", collective: all-reduce, algorithm: ring, protocol: ll128, channels: 1, chunk: 64MiB, size: {} }} ]
)",
                                                    size),
                                        "many.yaml"),
                            {});
    ASSERT_TRUE(e) << e.error();
    EXPECT_NEAR(e->collectives[0].busbw_bps / 8e9, busbw, 0.1 * busbw) << size;
  }
}

// The latency of small ones: a tree with LL. Of the Crusoe hosts, 28 to 31 us up to 1 KiB.
TEST(NcclTestsOfSmallSizes, TakeTheLatencyOfATree) {
  for (const auto& [size, us] : {std::pair{"8B", 27.70}, std::pair{"64B", 28.41}, std::pair{"1KiB", 30.79}}) {
    const auto e = estimate(spec::parse(fmt::format(R"(
name: small
topology: {{ preset: rail-optimized, hosts: 2, rails: 8, spines: 2, host-link: {{ rate: 200Gbps }}, fabric-link: {{ rate: 800Gbps }} }}
hosts: {{ default: {{ server: hgx-a100 }} }}
collectives: [ {{ name: sum, collective: all-reduce, size: {}, protocol: auto }} ]
)",
                                                    size),
                                        "small.yaml"));
    ASSERT_TRUE(e) << e.error();
    EXPECT_EQ(e->collectives[0].algorithm, "tree");
    EXPECT_NEAR(static_cast<double>(e->collectives[0].time.ps) / 1e6, us, 0.1 * us) << size;
  }
}

}  // namespace
}  // namespace railyard::estimate
