#include "dataplane/packet/pool.h"

#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rte_mbuf.h>

namespace railyard {
namespace {

constexpr WorkerId kFirst{0};
constexpr WorkerId kSecond{1};
constexpr PoolConfig kSmall{.elided_limit = 6, .real_limit = 3, .real_octets = 2000};

// In DPDK's memory, or anywhere.
class PacketPoolIn : public testing::TestWithParam<bool> {
 protected:
  static PoolConfig in_memory(PoolConfig config) { return config.anywhere = GetParam(), config; }
};
INSTANTIATE_TEST_SUITE_P(EitherMemory, PacketPoolIn, testing::Bool(),
                         [](const auto& p) { return p.param ? "Anywhere" : "Dpdk"; });

TEST_P(PacketPoolIn, AFreshPacketHasItsHeadersBehindTheMetadata) {
  PacketPools pools(1, in_memory(kSmall));
  Packet* p = pools[kFirst].allocate_elided();
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->header_at, kHeaderAt);
  EXPECT_EQ(p->flags, 0);
  EXPECT_EQ(p->home, kFirst);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u) << "one cache line of metadata";
  EXPECT_EQ(packet_of(mbuf_of(p)), p);
  // Ethernet, IPv4, UDP and BTH (54 octets) end with the second cache line.
  EXPECT_EQ((reinterpret_cast<std::uintptr_t>(p->header()) + 54) % 64, 0u);
  pools[kFirst].release(p);
}

TEST_P(PacketPoolIn, RealPacketsHaveRoomForPayload) {
  PacketPools pools(1, in_memory(kSmall));
  std::vector<Packet*> packets;
  for (int i = 0; i < 3; ++i) packets.push_back(pools[kFirst].allocate_real());
  // Filled to the brim they do not touch each other.
  for (std::size_t i = 0; i < packets.size(); ++i)
    std::memset(packets[i]->header(), static_cast<int>(i), kSmall.real_octets);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    EXPECT_TRUE(packets[i]->has(Packet::kRealPool));
    EXPECT_EQ(packets[i]->header()[0], std::byte{static_cast<std::uint8_t>(i)});
    EXPECT_EQ(packets[i]->header()[kSmall.real_octets - 1], std::byte{static_cast<std::uint8_t>(i)});
    EXPECT_EQ(packets[i]->home, kFirst);
    pools[kFirst].release(packets[i]);
  }
}

TEST_P(PacketPoolIn, PeekingTellsWhatTheNextAllocationsGive) {
  PacketPools pools(1, in_memory(kSmall));
  PacketPool& pool = pools[kFirst];
  std::vector<Packet*> held{pool.allocate_elided(), pool.allocate_elided()};
  std::vector<Packet*> told(3);
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(pool.peek_elided(told), 3u);
    EXPECT_EQ(pool.in_use(), 2u) << "nothing is taken";
  }
  for (Packet* const p : told) {
    EXPECT_EQ(pool.allocate_elided(), p);
    EXPECT_EQ(p->header(), fresh_header(p));
    held.push_back(p);
  }
  // One is left.
  EXPECT_EQ(pool.peek_elided(told), 1u);
  EXPECT_EQ(pool.allocate_elided(), told[0]);
  held.push_back(told[0]);
  EXPECT_EQ(pool.peek_elided(told), 0u);
  ASSERT_EQ(pool.peek_real(std::span(told).first(2)), 2u);
  EXPECT_EQ(pool.allocate_real(), told[0]);
  held.push_back(told[0]);
  for (Packet* const p : held) pool.release(p);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_P(PacketPoolIn, AtTheLimitThereIsNothingMoreAndThatIsRemembered) {
  PacketPools pools(1, in_memory(kSmall));
  PacketPool& pool = pools[kFirst];
  std::vector<Packet*> out;
  for (int i = 0; i < 6; ++i) out.push_back(pool.allocate_elided());
  EXPECT_EQ(std::set<Packet*>(out.begin(), out.end()).size(), 6u) << "no packet twice";
  EXPECT_FALSE(pool.exhausted());
  EXPECT_EQ(pool.allocate_elided(), nullptr);
  EXPECT_TRUE(pool.exhausted());
  EXPECT_TRUE(pools.exhausted());
  EXPECT_NE(pool.allocate_real(), nullptr) << "the real ones have a limit of their own";

  pool.release(out.back());
  EXPECT_EQ(pool.allocate_elided(), out.back()) << "last in, first out";
  EXPECT_TRUE(pool.exhausted()) << "for the rest of the run";
}

TEST_P(PacketPoolIn, GrowsChunkByChunkUpToItsLimit) {
  // Several whole chunks and a part.
  PacketPools pools(1, in_memory({.elided_limit = 10'000, .real_limit = 1, .real_octets = 128}));
  PacketPool& pool = pools[kFirst];
  std::set<Packet*> out;
  for (int i = 0; i < 10'000; ++i) {
    Packet* p = pool.allocate_elided();
    ASSERT_NE(p, nullptr) << i;
    out.insert(p);
  }
  EXPECT_EQ(out.size(), 10'000u);
  EXPECT_EQ(pool.in_use(), 10'000u);
  EXPECT_EQ(pool.allocate_elided(), nullptr);
  for (Packet* p : out) pool.release(p);
  EXPECT_EQ(pool.in_use(), 0u);
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(out.contains(pool.allocate_elided()));
}

// So that the next allocation finds it in the processor's cache; but a worker that only receives does not keep all.
TEST(PacketPool, PacketsOfOthersAreKeptAsLongAsThereAreFew) {
  constexpr std::uint32_t kLimit = 1600, kKept = 100;  // one in 16
  PacketPools pools(2, {.elided_limit = kLimit, .real_limit = 1, .real_octets = 128, .anywhere = true});
  std::vector<Packet*> sent;
  for (std::uint32_t i = 0; i < kKept + 1; ++i) sent.push_back(pools[kFirst].allocate_elided());
  for (Packet* const p : sent) pools[kSecond].release(p);
  EXPECT_EQ(pools.in_use(), 0u);
  EXPECT_EQ(sent[kKept - 1]->home, kSecond);
  EXPECT_EQ(sent[kKept]->home, kFirst) << "that is enough of them";
  EXPECT_EQ(pools[kSecond].allocate_elided(), sent[kKept - 1]) << "last in, first out";
  // The one that went home is found there when the pool is empty.
  std::set<Packet*> all;
  for (std::uint32_t i = 0; i < kLimit - kKept; ++i) all.insert(pools[kFirst].allocate_elided());
  EXPECT_TRUE(all.contains(sent[kKept]));
  EXPECT_EQ(all.size(), kLimit - kKept);
  EXPECT_FALSE(pools.exhausted());
  EXPECT_EQ(pools.in_use(), kLimit - kKept + 1);
}

TEST(PacketPool, InUseCountsWhatIsOut) {
  PacketPools pools(2, kSmall);
  EXPECT_EQ(pools.in_use(), 0u);
  Packet* a = pools[kFirst].allocate_elided();
  Packet* b = pools[kFirst].allocate_real();
  Packet* c = pools[kSecond].allocate_elided();
  EXPECT_EQ(pools[kFirst].in_use(), 2u);
  EXPECT_EQ(pools[kSecond].in_use(), 1u);
  EXPECT_EQ(pools.in_use(), 3u);
  pools[kFirst].release(a);
  EXPECT_EQ(pools.in_use(), 2u);
  pools[kSecond].release(b);  // comes home over a ring: back already
  EXPECT_EQ(pools[kFirst].in_use(), 0u);
  EXPECT_EQ(pools[kSecond].in_use(), 1u);
  pools[kSecond].release(c);
  EXPECT_EQ(pools.in_use(), 0u);
}

TEST(PacketPool, WhatAnotherWorkerReleasesComesHome) {
  PacketPools pools(2, kSmall);
  std::set<Packet*> elided;
  std::set<Packet*> real;
  for (int i = 0; i < 6; ++i) elided.insert(pools[kFirst].allocate_elided());
  for (int i = 0; i < 3; ++i) real.insert(pools[kFirst].allocate_real());
  for (Packet* p : elided) pools[kSecond].release(p);
  for (Packet* p : real) pools[kSecond].release(p);

  // All of them again, each of its kind; none has stayed with the second worker.
  for (int i = 0; i < 6; ++i) EXPECT_EQ(elided.erase(pools[kFirst].allocate_elided()), 1u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(real.erase(pools[kFirst].allocate_real()), 1u);
  EXPECT_FALSE(pools.exhausted());
  EXPECT_EQ(pools[kFirst].in_use(), 9u);
  EXPECT_EQ(pools[kSecond].in_use(), 0u);
}

TEST(PacketPool, PacketsFreedIntoTheirMbufPoolAreFoundAgain) {
  PacketPools pools(1, kSmall);
  std::vector<Packet*> out;
  for (int i = 0; i < 6; ++i) out.push_back(pools[kFirst].allocate_elided());
  EXPECT_EQ(pools.in_use(), 6u);
  rte_pktmbuf_free(mbuf_of(out[2]));  // as a DPDK port does when it has sent it
  EXPECT_EQ(pools.in_use(), 5u);
  EXPECT_EQ(pools[kFirst].allocate_elided(), out[2]);
  EXPECT_FALSE(pools.exhausted());
}

TEST(PacketPool, APortsPacketGoesBackToThePortsMempool) {
  PacketPools pools(2, kSmall);
  rte_mempool* mempool = pools[kFirst].mempool_for_ports();
  ASSERT_NE(mempool, nullptr);
  EXPECT_EQ(pools[kFirst].mempool_for_ports(), mempool);
  rte_mbuf* mbuf = rte_pktmbuf_alloc(mempool);
  ASSERT_NE(mbuf, nullptr);
  EXPECT_EQ(pools.in_use(), 1u);
  Packet* p = packet_of(mbuf);
  p->home = kFirst;
  p->flags = Packet::kFromPort | Packet::kRealPool;
  pools[kSecond].release(p);
  EXPECT_EQ(pools.in_use(), 0u);
  EXPECT_EQ(rte_mempool_in_use_count(mempool), 0u);
}

}  // namespace
}  // namespace railyard
