// Ports behind DPDK's own virtual devices: rings, null devices and capture files, so that no privilege is needed.
#include "dataplane/port/ethdev_port.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <unistd.h>

#include "dataplane/base/hash.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/port/pcap_file.h"
#include "dataplane/wire/icrc.h"
#include "tests/support/frames.h"
#include "tests/support/temporary_file.h"

namespace railyard {
namespace {

using namespace literals;
using test::FrameSpec;
using test::TemporaryFile;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Octets = std::vector<std::byte>;

class EthdevPortTest : public ::testing::Test {
 protected:
  ~EthdevPortTest() override { EXPECT_EQ(pools.in_use(), 0u) << "a packet was lost, or given back twice"; }

  Packet* frame(const FrameSpec& spec) { return test::make_frame(pool, FecTable{}, spec); }
  // What it has received by now; the packets are given back.
  std::vector<Packet*> take(EthdevPort& port) {
    std::vector<Packet*> all;
    std::array<Packet*, 16> burst;
    for (std::size_t n = port.take(pool, burst); n > 0; n = port.take(pool, burst))
      all.insert(all.end(), burst.begin(), burst.begin() + static_cast<std::ptrdiff_t>(n));
    return all;
  }
  static Octets octets_of(const Packet& p) { return {p.header(), p.header() + p.header_octets + p.payload_octets}; }

  PacketPools pools{1, {.elided_limit = 4096, .real_limit = 4096, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
};

// A ring gives back what was put in.
TEST_F(EthdevPortTest, WhatIsGivenLeavesWithEveryOctetAndWhatIsTakenIsAsItCame) {
  EthdevPort port({.device = "net_ring_whole"}, pool);
  std::vector<Packet*> given{frame({.psn = 1, .frame_octets = 64}), frame({.psn = 2, .frame_octets = 4096}),
                             frame({.psn = 3, .frame_octets = 9000, .real = true})};
  std::vector<Octets> expected(3);
  for (std::size_t i = 0; i < 3; ++i) assemble(*given[i], expected[i]);
  ASSERT_EQ(port.give(pool, given), 3u);
  const std::vector<Packet*> taken = take(port);
  ASSERT_EQ(taken.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Packet& p = *taken[i];
    const Octets octets = octets_of(p);
    // The shortest is not padded by a ring; a MAC would.
    EXPECT_TRUE(std::equal(octets.begin(), octets.end(), expected[i].begin())) << i;
    EXPECT_TRUE(wire::icrc_matches(std::span(octets).subspan(14)));
    EXPECT_EQ(p.frame_octets, std::max<std::size_t>(octets.size() + 4, 64));
    EXPECT_EQ(p.header_octets, std::min<std::size_t>(octets.size(), 256)) << "enough for all headers";
    EXPECT_EQ(p.stream, hash_string("port/net_ring_whole"));
    EXPECT_EQ(p.offset, i) << "its number at this port";
    EXPECT_FALSE(p.has(Packet::kElided));
    EXPECT_TRUE(p.has(Packet::kFromPort));
    pool.release(taken[i]);
  }
  EXPECT_EQ(port.counters().sent, 3u);
  EXPECT_EQ(port.counters().received, 3u);
  EXPECT_TRUE(port.link_up());
}

TEST_F(EthdevPortTest, ADeviceThatIsFullHoldsPacketsBackWithoutLossAndInOrder) {
  EthdevPort port({.device = "net_ring_full"}, pool);
  std::uint32_t next = 0;
  // The ring has room for 1023; a burst of 32 more is staged, and then nothing is taken.
  for (bool stuck = false; !stuck;) {
    std::vector<Packet*> burst;
    for (std::uint32_t i = 0; i < 20; ++i) burst.push_back(frame({.psn = next + i, .frame_octets = 200}));
    const std::size_t n = port.give(pool, burst);
    next += static_cast<std::uint32_t>(n);
    for (std::size_t i = n; i < burst.size(); ++i) pool.release(burst[i]);
    stuck = n == 0;
  }
  EXPECT_EQ(next, 1040u);
  EXPECT_EQ(port.counters().sent, 1023u);
  std::vector<Packet*> taken = take(port);
  Packet* one_more = frame({.psn = next, .frame_octets = 200});
  ASSERT_EQ(port.give(pool, {&one_more, 1}), 1u);
  for (Packet* p : take(port)) taken.push_back(p);
  ASSERT_EQ(taken.size(), 1041u);
  for (std::uint32_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(wire::parse_frame(octets_of(*taken[i]))->psn, i);
    pool.release(taken[i]);
  }
}

// What the device had no room for goes on its way when there is some, also if nobody has anything more to send.
TEST_F(EthdevPortTest, TheLastPacketsDoNotWaitForOthers) {
  EthdevPort port({.device = "net_ring_last"}, pool);
  for (std::size_t given = 0; given < 1040; given += 20) {
    std::vector<Packet*> burst;
    for (int i = 0; i < 20; ++i) burst.push_back(frame({.frame_octets = 200}));
    ASSERT_EQ(port.give(pool, burst), 20u);
  }
  EXPECT_EQ(port.counters().sent, 1023u);
  const std::vector<Packet*> taken = take(port);
  EXPECT_EQ(taken.size(), 1040u);
  for (Packet* p : taken) pool.release(p);
}

// A guest may hand over a packet in pieces.
TEST_F(EthdevPortTest, ChainsOfBuffersArriveInOnePiece) {
  EthdevPort port({.device = "net_ring_chain"}, pool);
  std::uint16_t id = 0;
  ASSERT_EQ(rte_eth_dev_get_port_by_name("net_ring_chain", &id), 0);
  Packet* made = frame({.frame_octets = 9000});
  Octets whole;
  assemble(*made, whole);
  pool.release(made);
  // Pieces of 54 octets and up: the first mbuf has room for the rest, or it has not.
  for (const bool first_is_full : {false, true}) {
    rte_mempool* mempool = pool.mempool_for_ports();
    rte_mbuf* head = nullptr;
    std::size_t from = 0;
    for (const std::size_t n : {std::size_t{54}, std::size_t{4000}, whole.size() - 4054}) {
      rte_mbuf* m = rte_pktmbuf_alloc(mempool);
      ASSERT_NE(m, nullptr);
      if (first_is_full && head == nullptr) m->data_off = static_cast<std::uint16_t>(m->buf_len - n);
      std::memcpy(rte_pktmbuf_append(m, static_cast<std::uint16_t>(n)), whole.data() + from, n);
      from += n;
      if (head == nullptr)
        head = m;
      else
        ASSERT_EQ(rte_pktmbuf_chain(head, m), 0);
    }
    ASSERT_EQ(rte_eth_tx_burst(id, 0, &head, 1), 1);
    const std::vector<Packet*> taken = take(port);
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(octets_of(*taken[0]), whole);
    EXPECT_EQ(taken[0]->frame_octets, 9000u);
    pool.release(taken[0]);
  }
  EXPECT_EQ(port.counters().no_memory, 0u);
}

TEST_F(EthdevPortTest, AGiantKeepsItsLengthAndItsFirstOctets) {
  EthdevPort port({.device = "net_ring_giant"}, pool);
  std::uint16_t id = 0;
  ASSERT_EQ(rte_eth_dev_get_port_by_name("net_ring_giant", &id), 0);
  rte_mbuf* head = nullptr;
  for (int i = 0; i < 3; ++i) {  // 27,000 octets: more than any frame of the fabric
    rte_mbuf* m = rte_pktmbuf_alloc(pool.mempool_for_ports());
    ASSERT_NE(rte_pktmbuf_append(m, 9000), nullptr);
    if (head == nullptr)
      head = m;
    else
      ASSERT_EQ(rte_pktmbuf_chain(head, m), 0);
  }
  ASSERT_EQ(rte_eth_tx_burst(id, 0, &head, 1), 1);
  const auto taken = take(port);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0]->frame_octets, 27'004u) << "by which the NIC drops it";
  EXPECT_EQ(port.counters().no_memory, 0u);
  pool.release(taken[0]);
}

TEST_F(EthdevPortTest, CaptureFilesAreDevicesToo) {
  TemporaryFile in("in.pcap");
  TemporaryFile out("out.pcap");
  Packet* made = frame({.frame_octets = 1500});
  Octets octets;
  assemble(*made, octets);
  pool.release(made);
  {
    PcapWriter writer = PcapWriter::open(in.path()).value();
    const std::span<const std::byte> piece(octets);
    for (int i = 0; i < 3; ++i) writer.write(Instant{} + 1_us * i, {&piece, 1});
    ASSERT_TRUE(writer.close().has_value());
  }
  {
    EthdevPort port({.device = "net_pcap_files,rx_pcap=" + in.name() + ",tx_pcap=" + out.name()}, pool);
    const std::vector<Packet*> taken = take(port);
    ASSERT_EQ(taken.size(), 3u);
    for (const Packet* p : taken) EXPECT_EQ(octets_of(*p), octets);
    EXPECT_EQ(port.give(pool, taken), 3u) << "and out again";
  }
  const auto written = read_pcap(out.path());
  ASSERT_TRUE(written.has_value()) << written.error();
  ASSERT_EQ(written->size(), 3u);
  for (const CapturedFrame& f : *written) EXPECT_EQ(f.octets, octets);
}

TEST_F(EthdevPortTest, WhatADeviceDoesNotGiveBackItFrees) {
  EthdevPort port({.device = "net_null_sink"}, pool);
  for (int i = 0; i < 100; ++i) {
    Packet* p = frame({.frame_octets = 1000, .real = i % 2 == 0});
    ASSERT_EQ(port.give(pool, {&p, 1}), 1u);
  }
  EXPECT_EQ(port.counters().sent, 100u);
}

TEST_F(EthdevPortTest, WhatCannotBeIsNamedWithWhatWouldHelp) {
  EXPECT_THAT([&] { EthdevPort({.device = "net_nonesuch0"}, pool); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("port 'net_nonesuch0'"), HasSubstr("driver's name"))));
  EXPECT_THAT([&] { EthdevPort({.device = "0000:ff:1f.7"}, pool); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("port '0000:ff:1f.7'"), HasSubstr("vfio-pci"))));
  EXPECT_THAT([&] { EthdevPort({.device = "net_pcap_none,rx_pcap=/nowhere.pcap,tx_iface=x"}, pool); },
              ThrowsMessage<std::runtime_error>(HasSubstr("net_pcap_none")));
  // What could not be set up is given back: the second attempt says the same.
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(
        [&] { EthdevPort({.device = "net_memif_gone,role=server,id=0,socket-abstract=no,socket=/nowhere/x"}, pool); },
        ThrowsMessage<std::runtime_error>(HasSubstr("DPDK cannot create it")));
  EthdevPort port({.device = "net_ring_twice"}, pool);
  EXPECT_THAT([&] { EthdevPort({.device = "net_ring_twice"}, pool); },
              ThrowsMessage<std::runtime_error>(HasSubstr("port 'net_ring_twice'")));
}

TEST_F(EthdevPortTest, AfXdpIsRefusedPacketsAboveAPage) {
  EXPECT_THAT([&] { EthdevPort({.device = "net_af_xdp0,iface=eth7,start_queue=1", .mtu = 9000}, pool); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("no multi-buffer"), HasSubstr("an mtu of 9000"), HasSubstr("Set mtu: 3400"),
                                                      HasSubstr("{ netdev: eth7 }"))));
  // Its own link may be shorter: packets are as long as any link of the lab wants.
  EXPECT_THAT([&] { EthdevPort({.device = "net_af_xdp0,iface=eth7", .mtu = 1500}, pool); },
              ThrowsMessage<std::runtime_error>(HasSubstr("an mtu of more than 3400")));
}

TEST_F(EthdevPortTest, ATapIsRefusedPacketsThatItsDriverWouldChokeOn) {
  if (access("/dev/net/tun", R_OK | W_OK) != 0 || geteuid() != 0) GTEST_SKIP() << "needs root and /dev/net/tun";
  EXPECT_THAT([&] { EthdevPort({.device = "net_tap7,iface=rytest7", .mtu = 9000}, pool); },
              ThrowsMessage<std::runtime_error>(HasSubstr("set mtu: 1500 on its link")));
  EthdevPort port({.device = "net_tap8,iface=rytest8", .mtu = 1500}, pool);
  // It works; what comes out of it, if anything, is the kernel's own (neighbour discovery).
  for (Packet* p : take(port)) pool.release(p);
}

}  // namespace
}  // namespace railyard
