#include "dataplane/switch/path/ecmp.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/frames.h"

namespace railyard {
namespace {

// Flows as two hosts have them: few addresses, any source port, any QP.
class EcmpTest : public ::testing::Test {
 protected:
  Packet flow(std::uint16_t source_port, std::uint32_t qp = 7, std::uint8_t host = 1) {
    wire::IpAddress source = test::ip("10.0.0.0");
    source.octets[15] = host;
    Packet* p = test::make_frame(pool, fecs, {.source = source, .source_port = source_port, .destination_qp = qp});
    const Packet copy = *p;
    pool.release(p);
    return copy;
  }
  static constexpr PortIndex kIn{0};

  PacketPools pools{1, {.elided_limit = 4, .real_limit = 4, .real_octets = 2048}};
  PacketPool& pool = pools[WorkerId{0}];
  FecTable fecs;
};

// Pearson's chi-square over n members has mean n - 1 and standard deviation sqrt(2 (n - 1)); six of them are allowed.
void expect_uniform(const std::vector<std::uint32_t>& counts) {
  double total = 0;
  for (const std::uint32_t c : counts) total += c;
  const double expected = total / static_cast<double>(counts.size());
  double chi_square = 0;
  for (const std::uint32_t c : counts) chi_square += (c - expected) * (c - expected) / expected;
  const auto freedom = static_cast<double>(counts.size() - 1);
  EXPECT_LT(chi_square, freedom + 6 * std::sqrt(2 * freedom));
  EXPECT_GT(chi_square, freedom - 6 * std::sqrt(2 * freedom)) << "too even for a hash";
}

TEST_F(EcmpTest, FlowsSpreadEvenlyOverTheMembers) {
  for (const std::uint32_t n : {8u, 64u}) {
    for (const std::uint64_t seed : {0u, 1u, 12345u}) {
      const Ecmp ecmp(seed, {});
      std::vector<std::uint32_t> by_port(n);
      for (std::uint32_t port = 0xC000; port < 0x10000; ++port) {
        const std::uint32_t member = ecmp.choose(flow(static_cast<std::uint16_t>(port)), kIn, n);
        ASSERT_LT(member, n);
        ++by_port[member];
      }
      expect_uniform(by_port);
      // 250 hosts with 64 consecutive ports each.
      std::vector<std::uint32_t> by_host(n);
      for (std::uint16_t port = 0xC000; port < 0xC040; ++port)
        for (unsigned host = 1; host <= 250; ++host)
          ++by_host[ecmp.choose(flow(port, 7, static_cast<std::uint8_t>(host)), kIn, n)];
      expect_uniform(by_host);
    }
  }
}

TEST_F(EcmpTest, AFlowKeepsItsPath) {
  const Ecmp ecmp(3, {.addresses = true, .ports = true, .destination_qp = true, .ingress_port = true});
  Packet p = flow(0xC001);
  const std::uint32_t member = ecmp.choose(p, kIn, 8);
  p.stream = 99;
  p.offset = 123'456;
  p.frame_octets = 64;
  p.traffic_class_octet = 0xFF;  // marked on the way
  EXPECT_EQ(ecmp.choose(p, kIn, 8), member);
}

// The word of a packet is a DestQP or an entropy value, and each counts only if it is asked for.
TEST_F(EcmpTest, TheEntropyOfUetCountsApartFromTheQueuePair) {
  Packet uet = flow(0xC000);
  const auto choices = [&](const EcmpFields& fields, std::uint32_t kind) {
    const Ecmp ecmp(5, fields);
    std::set<std::uint32_t> chosen;
    for (std::uint32_t value = 1; value <= 100; ++value) {
      uet.entropy = kind | value;
      chosen.insert(ecmp.choose(uet, kIn, 64));
    }
    return chosen.size();
  };
  EXPECT_GT(choices({.uet_entropy = true}, Packet::kUetEntropy), 30u);
  EXPECT_EQ(choices({.uet_entropy = true}, 0), 1u) << "a DestQP";
  EXPECT_EQ(choices({.destination_qp = true}, Packet::kUetEntropy), 1u);
  EXPECT_GT(choices({.destination_qp = true}, 0), 30u);
}

// How often a choice among 64 changes with one field; 63 of 64 times if the field counts.
TEST_F(EcmpTest, TheFieldsThatCountAreSelectable) {
  struct Case {
    EcmpFields fields;
    std::array<bool, 4> counts;  // addresses, ports, DestQP, ingress port
  };
  const Case cases[] = {
      {{}, {true, true, false, false}},
      {{.addresses = false, .ports = true, .destination_qp = false, .ingress_port = false},
       {false, true, false, false}},
      {{.addresses = true, .ports = false, .destination_qp = false, .ingress_port = false},
       {true, false, false, false}},
      {{.addresses = false, .ports = false, .destination_qp = true, .ingress_port = false},
       {false, false, true, false}},
      {{.addresses = false, .ports = false, .destination_qp = false, .ingress_port = true},
       {false, false, false, true}},
      {{.addresses = true, .ports = true, .destination_qp = true, .ingress_port = true}, {true, true, true, true}},
      {{.addresses = false, .ports = false, .destination_qp = false, .ingress_port = false},
       {false, false, false, false}},
  };
  for (const Case& c : cases) {
    const Ecmp ecmp(5, c.fields);
    const std::uint32_t base = ecmp.choose(flow(0xC000, 7, 1), kIn, 64);
    std::array<int, 4> changed{};
    for (std::uint8_t i = 1; i <= 100; ++i) {
      changed[0] += ecmp.choose(flow(0xC000, 7, static_cast<std::uint8_t>(1 + i)), kIn, 64) != base;
      changed[1] += ecmp.choose(flow(static_cast<std::uint16_t>(0xC000 + i), 7, 1), kIn, 64) != base;
      changed[2] += ecmp.choose(flow(0xC000, 7u + i, 1), kIn, 64) != base;
      changed[3] += ecmp.choose(flow(0xC000, 7, 1), PortIndex{i}, 64) != base;
    }
    for (std::size_t f = 0; f < 4; ++f) {
      if (c.counts[f]) {
        EXPECT_GT(changed[f], 90) << "field " << f;
      } else {
        EXPECT_EQ(changed[f], 0) << "field " << f;
      }
    }
  }
}

// Two tiers of eight uplinks each: the flows that took uplink 0 of the first tier.
TEST_F(EcmpTest, EqualSeedsPolariseTwoTiersAndDifferentSeedsDoNot) {
  const Ecmp first(1, {});
  const Ecmp same(1, {});
  const Ecmp other(2, {});
  std::vector<std::uint32_t> with_same(8);
  std::vector<std::uint32_t> with_other(8);
  for (std::uint32_t port = 0xC000; port < 0x10000; ++port) {
    const Packet p = flow(static_cast<std::uint16_t>(port));
    if (first.choose(p, kIn, 8) != 0) continue;
    ++with_same[same.choose(p, kIn, 8)];
    ++with_other[other.choose(p, kIn, 8)];
  }
  for (std::size_t m = 1; m < 8; ++m) EXPECT_EQ(with_same[m], 0u) << "they all decide alike again";
  expect_uniform(with_other);
}

// Neighbouring seeds are as different as any: what they choose agrees once in eight times.
TEST_F(EcmpTest, SeedsAreIndependent) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    int agree = 0;
    for (std::uint32_t port = 0xC000; port < 0xE000; ++port) {
      const Packet p = flow(static_cast<std::uint16_t>(port));
      agree += Ecmp(seed, {}).choose(p, kIn, 8) == Ecmp(seed + 1, {}).choose(p, kIn, 8);
    }
    EXPECT_NEAR(agree / 8192.0, 1.0 / 8, 0.02) << seed;  // a standard deviation is 0.0037
  }
}

}  // namespace
}  // namespace railyard
