// The other side of two ports that share memory with us (vhost-user, memif), for benchmarks: sends UDP frames into one
// as fast as it takes them, and counts what comes out of the other.
//
// usage: memory_peer vhost-user|memif SOCKET0 SOCKET1 FRAME_OCTETS SECONDS
// Prints one line: packets received per second, and the frequency of the time-stamp counter in Hz.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

namespace {

constexpr std::uint16_t kDescriptors = 1024;
constexpr std::uint16_t kBurst = 32;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "memory_peer: %s\n", what);
  std::exit(1);
}

void start(std::uint16_t port, rte_mempool* pool, std::uint16_t mtu) {
  rte_eth_conf conf{};
  conf.rxmode.mtu = mtu;
  conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  if (rte_eth_dev_configure(port, 1, 1, &conf) != 0) fail("a port cannot be configured");
  if (rte_eth_rx_queue_setup(port, 0, kDescriptors, 0, nullptr, pool) != 0) fail("no receive queue");
  if (rte_eth_tx_queue_setup(port, 0, kDescriptors, 0, nullptr) != 0) fail("no transmit queue");
  // The other side may have made its socket, and not listen yet.
  for (int i = 0; rte_eth_dev_start(port) != 0; ++i) {
    if (i == 500) fail("a port does not start");
    rte_delay_us_sleep(10'000);
  }
}

// One UDP frame of `octets` (with FCS), ECT(0), from 10.1.0.2 to 10.2.0.2, to the switch's first port.
std::vector<std::uint8_t> make_frame(std::uint16_t octets) {
  const std::uint16_t length = static_cast<std::uint16_t>(octets - RTE_ETHER_CRC_LEN);
  std::vector<std::uint8_t> frame(length, 0);
  constexpr std::array<std::uint8_t, 14> kEthernet{2, 0, 0, 0, 0, 1, 2, 0, 0, 1, 0, 1, 0x08, 0x00};
  std::copy(kEthernet.begin(), kEthernet.end(), frame.begin());
  rte_ipv4_hdr ip{};
  ip.version_ihl = RTE_IPV4_VHL_DEF;
  ip.type_of_service = 2;
  ip.total_length = rte_cpu_to_be_16(static_cast<std::uint16_t>(length - RTE_ETHER_HDR_LEN));
  ip.time_to_live = 64;
  ip.next_proto_id = IPPROTO_UDP;
  ip.src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 1, 0, 2));
  ip.dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 2, 0, 2));
  ip.hdr_checksum = rte_ipv4_cksum(&ip);
  std::memcpy(frame.data() + RTE_ETHER_HDR_LEN, &ip, sizeof ip);
  rte_udp_hdr udp{};
  udp.src_port = rte_cpu_to_be_16(1000);
  udp.dst_port = rte_cpu_to_be_16(9);
  udp.dgram_len = rte_cpu_to_be_16(static_cast<std::uint16_t>(length - RTE_ETHER_HDR_LEN - sizeof ip));
  std::memcpy(frame.data() + RTE_ETHER_HDR_LEN + sizeof ip, &udp, sizeof udp);
  return frame;
}

void fill(rte_mbuf* m, std::span<const std::uint8_t> octets) {
  char* room = rte_pktmbuf_append(m, static_cast<std::uint16_t>(octets.size()));
  if (room == nullptr) fail("a frame does not fit its buffer");
  std::memcpy(room, octets.data(), octets.size());
}

// So that the switch knows who is behind its second port: an ARP request for its own address.
void say_hello(std::uint16_t port, rte_mempool* pool) {
  constexpr std::array<std::uint8_t, 60> kArp{
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2,  0, 0, 2, 0, 1, 0x08, 0x06,               // Ethernet
      0,    1,    8,    0,    6,    4,    0,  1, 2, 0, 0, 2, 0,    1,    10, 2, 0, 2,  // request, from 10.2.0.2
      0,    0,    0,    0,    0,    0,    10, 2, 0, 1};
  rte_mbuf* m = rte_pktmbuf_alloc(pool);
  if (m == nullptr) fail("no packet memory");
  fill(m, kArp);
  while (rte_eth_tx_burst(port, 0, &m, 1) == 0) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail("usage: memory_peer vhost-user|memif SOCKET0 SOCKET1 FRAME_OCTETS SECONDS");
  const bool memif = std::strcmp(argv[1], "memif") == 0;
  const auto octets = static_cast<std::uint16_t>(std::atoi(argv[4]));
  const double seconds = std::atof(argv[5]);
  if (octets < 64 || octets > 9000 || !(seconds > 0)) fail("expected 64..9000 octets and a positive time");

  std::vector<std::string> args{"memory_peer", "--no-huge", "--no-pci", "--no-telemetry", "--no-shconf",
                                "-m",         "512",       "--lcores", "0@(0-1)"};
  for (int i = 0; i < 2; ++i)
    args.push_back(memif ? "--vdev=net_memif" + std::to_string(i) +
                               ",role=client,id=0,socket-abstract=no,rsize=10,bsize=9344,socket=" + argv[2 + i]
                         : "--vdev=net_virtio_user" + std::to_string(i) + ",path=" + argv[2 + i] +
                               ",queues=1,queue_size=1024,mrg_rxbuf=1");
  std::vector<char*> raw;
  for (std::string& a : args) raw.push_back(a.data());
  if (rte_eal_init(static_cast<int>(raw.size()), raw.data()) < 0) fail("the EAL does not start");
  if (rte_eth_dev_count_avail() != 2) fail("not both sockets could be connected");
  rte_mempool* pool = rte_pktmbuf_pool_create("peer", 8191, 256, 0, 9216, 0);
  if (pool == nullptr) fail("no packet memory");
  // memif's driver says that it carries no more than 1500, and carries what its buffers hold.
  const std::uint16_t mtu = memif ? 1500 : 9000;
  start(0, pool, mtu);
  start(1, pool, mtu);
  for (std::uint16_t p = 0; p < 2; ++p) {  // memif says hello when it starts, and nobody may listen yet
    rte_eth_link link{};
    for (int i = 0; i < 1000 && link.link_status != RTE_ETH_LINK_UP; ++i) {
      rte_eth_link_get_nowait(p, &link);
      rte_delay_us_sleep(10'000);
      if (memif && i % 50 == 49 && link.link_status != RTE_ETH_LINK_UP) {
        rte_eth_dev_stop(p);
        rte_eth_dev_start(p);
      }
    }
    if (link.link_status != RTE_ETH_LINK_UP) fail("nobody is at the other side");
  }
  say_hello(1, pool);

  const std::vector<std::uint8_t> frame = make_frame(octets);
  std::array<rte_mbuf*, kBurst> out{};
  std::array<rte_mbuf*, kBurst> in{};
  std::uint16_t ready = 0;
  const std::uint64_t hz = rte_get_tsc_hz();
  std::uint64_t received = 0;
  std::uint64_t begin = 0;
  const auto run_for = [&](double time) {
    const std::uint64_t end = rte_get_tsc_cycles() + static_cast<std::uint64_t>(time * static_cast<double>(hz));
    received = 0;
    begin = rte_get_tsc_cycles();
    while (rte_get_tsc_cycles() < end) {
      if (ready == 0 && rte_pktmbuf_alloc_bulk(pool, out.data(), kBurst) == 0) {
        for (rte_mbuf* m : out) fill(m, frame);
        ready = kBurst;
      }
      if (ready > 0)
        ready = static_cast<std::uint16_t>(ready - rte_eth_tx_burst(0, 0, out.data() + (kBurst - ready), ready));
      const std::uint16_t n = rte_eth_rx_burst(1, 0, in.data(), kBurst);
      rte_pktmbuf_free_bulk(in.data(), n);
      received += n;
    }
  };
  run_for(seconds / 4);  // until everybody is warm
  run_for(seconds);
  const double took = static_cast<double>(rte_get_tsc_cycles() - begin) / static_cast<double>(hz);
  std::printf("%.0f %lu\n", static_cast<double>(received) / took, static_cast<unsigned long>(hz));
  std::fflush(stdout);
  for (std::uint16_t p = 0; p < 2; ++p) rte_eth_dev_stop(p);
  return 0;
}
