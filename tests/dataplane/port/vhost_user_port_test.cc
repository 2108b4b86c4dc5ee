// A port of a virtual machine, with DPDK's driver for such a machine's NIC at the other end: what a guest leaves to its
// NIC (checksums, by VIRTIO_NET_F_CSUM) is done when the frame is here.
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <unistd.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/port/ethdev_port.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

namespace fs = std::filesystem;
using Octets = std::vector<std::byte>;

constexpr std::uint16_t kMtu = 9000;

bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 2000; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// The NIC of a guest that leaves UDP checksums to it, at a vhost-user socket.
class Guest {
 public:
  Guest(const std::string& socket, rte_mempool* pool) {
    const std::string arguments = "path=" + socket + ",queues=1,mac=02:00:00:00:00:02";
    if (rte_eal_hotplug_add("vdev", kName, arguments.c_str()) != 0 || rte_eth_dev_get_port_by_name(kName, &id_) != 0) return;
    rte_eth_conf conf{};
    conf.rxmode.mtu = kMtu;
    conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    started_ = rte_eth_dev_configure(id_, 1, 1, &conf) == 0 &&
               rte_eth_rx_queue_setup(id_, 0, 256, static_cast<unsigned>(SOCKET_ID_ANY), nullptr, pool) == 0 &&
               rte_eth_tx_queue_setup(id_, 0, 256, static_cast<unsigned>(SOCKET_ID_ANY), nullptr) == 0 &&
               rte_eth_dev_start(id_) == 0;
  }
  ~Guest() {
    if (started_) rte_eth_dev_stop(id_);
    rte_eal_hotplug_remove("vdev", kName);
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  bool started() const { return started_; }
  bool send(rte_mbuf* m) const { return rte_eth_tx_burst(id_, 0, &m, 1) == 1; }

 private:
  static constexpr const char* kName = "net_virtio_user6";
  std::uint16_t id_ = 0;
  bool started_ = false;
};

class VhostUserPortTest : public testing::Test {
 protected:
  VhostUserPortTest() { fs::create_directories(folder_); }
  ~VhostUserPortTest() override {
    EXPECT_EQ(pools_.in_use(), 0u) << "a packet was lost, or given back twice";
    fs::remove_all(folder_);
  }

  // `whole` in pieces of at most `piece` octets, its UDP checksum (which covers what follows the IP header) asked for:
  // in its place stands the pseudo-header's, as every stack leaves it.
  rte_mbuf* asks_for_checksum(Octets whole, std::size_t piece) {
    constexpr std::size_t kL3 = wire::Ethernet::kOctets;
    constexpr std::size_t kL4 = kL3 + wire::Ipv4::kOctets;
    std::uint16_t pseudo = rte_ipv4_phdr_cksum(reinterpret_cast<const rte_ipv4_hdr*>(whole.data() + kL3), 0);
    std::memcpy(whole.data() + kL4 + 6, &pseudo, sizeof pseudo);
    rte_mbuf* head = nullptr;
    for (std::size_t at = 0; at < whole.size(); at += piece) {
      const std::size_t n = std::min(piece, whole.size() - at);
      rte_mbuf* m = rte_pktmbuf_alloc(pool_.mempool_for_ports());
      if (m == nullptr) return nullptr;
      std::memcpy(rte_pktmbuf_append(m, static_cast<std::uint16_t>(n)), whole.data() + at, n);
      if (head == nullptr)
        head = m;
      else if (rte_pktmbuf_chain(head, m) != 0)
        return nullptr;
    }
    head->l2_len = kL3;
    head->l3_len = wire::Ipv4::kOctets;
    head->ol_flags = RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_IPV4;
    return head;
  }
  Octets frame(std::uint32_t octets) {
    Packet* p = test::make_frame(pool_, FecTable{}, {.frame_octets = octets, .real = true});
    Octets content;
    assemble(*p, content);
    pool_.release(p);
    return content;
  }

  PacketPools pools_{1, {.elided_limit = 4096, .real_limit = 4096, .real_octets = 9728}};
  PacketPool& pool_ = pools_[WorkerId{0}];
  fs::path folder_ = fs::temp_directory_path() / ("vhost_user_port_test." + std::to_string(getpid()));
};

TEST_F(VhostUserPortTest, CompletesTheChecksumsThatAGuestLeavesToItsNicAlsoOfChains) {
  const std::string socket = (folder_ / "v.sock").string();
  EthdevPort port({.device = "net_vhost77,queues=1,iface=" + socket, .mtu = kMtu}, pool_);
  EXPECT_TRUE(port.abilities().completes_checksums) << "as it says of itself";
  const Guest guest(socket, pool_.mempool_for_ports());
  ASSERT_TRUE(guest.started());
  ASSERT_TRUE(comes_true([&] { return port.link_up(); }));
  for (const std::uint32_t octets : {100u, 1501u, kMtu + 18u})
    for (const std::size_t piece : {std::size_t{10'000}, std::size_t{64}, std::size_t{1001}}) {
      const Octets sent = frame(octets);
      if (sent.size() / piece > 100) continue;  // more pieces than its queue takes
      rte_mbuf* m = asks_for_checksum(sent, piece);
      ASSERT_NE(m, nullptr);
      ASSERT_TRUE(guest.send(m)) << octets << " in pieces of " << piece;
      Octets taken;
      ASSERT_TRUE(comes_true([&] {
        std::array<Packet*, 1> burst;
        if (port.take(pool_, burst) == 0) return false;
        taken.assign(burst[0]->header(), burst[0]->header() + burst[0]->header_octets + burst[0]->payload_octets);
        pool_.release(burst[0]);
        return true;
      }));
      ASSERT_EQ(taken.size(), sent.size());
      const auto view = wire::parse_frame(taken);
      ASSERT_TRUE(view.has_value());
      EXPECT_EQ(wire::transport_checksum(view->source, view->destination, view->protocol,
                                         std::span(taken).subspan(view->l4_offset)),
                0)
          << octets << " in pieces of " << piece;
      // Nothing else of the frame has changed: the ICRC stands on it.
      Octets rest = taken;
      std::memcpy(rest.data() + view->l4_offset + 6, sent.data() + view->l4_offset + 6, 2);
      EXPECT_EQ(rest, sent);
    }
}

}  // namespace
}  // namespace railyard
