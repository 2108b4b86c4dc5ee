#include "dataplane/port/ethdev_port.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "dataplane/base/hash.h"
#include "dataplane/packet/dpdk_log.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/port/seal.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

[[noreturn]] void fail(const std::string& device, const std::string& what) {
  throw std::runtime_error(fmt::format("port '{}': {}", device, what));
}

std::string reason(int code) { return rte_strerror(code < 0 ? -code : code); }

// The interface that a device's arguments name: "eth1" of "net_af_xdp0,iface=eth1,start_queue=1".
std::string interface_of(const std::string& device) {
  constexpr std::string_view kKey = ",iface=";
  const std::size_t at = device.find(kKey);
  return at == std::string::npos ? "IFACE" : device.substr(at + kKey.size(), device.find(',', at + 1) - at - kKey.size());
}

// A frame and its packet share a page: the driver of DPDK 22.11 knows no frames in several buffers, which the kernel has
// since Linux 6.6 (XDP_USE_SG). Packets are as large as the lab's largest MTU asks for.
void check_af_xdp(const EthdevPortConfig& config, const PacketPool& pool) {
  constexpr std::uint32_t kMostMtu = 3400;
  constexpr std::size_t kMostOctets = 3584;
  if (!config.device.starts_with("net_af_xdp")) return;
  if (config.mtu <= kMostMtu && pool.real_octets() <= kMostOctets) return;
  fail(config.device,
       fmt::format("DPDK's AF_XDP driver keeps a frame in one page (no multi-buffer), so it carries IP packets of at most {0} bytes, "
                   "and the lab has an mtu of {1}. Set mtu: {0} on all links; for jumbo frames use attach: {{ netdev: {2} }}",
                   kMostMtu, config.mtu > kMostMtu ? std::to_string(config.mtu) : fmt::format("more than {}", kMostMtu),
                   interface_of(config.device)));
}

constexpr std::uint16_t kPrefetchAhead = 4;
// A server that is not there is looked for now and then: after so many takes that find nothing, and so much time.
constexpr std::uint32_t kIdleTakes = 64;
constexpr std::chrono::seconds kLookAgainAfter{1};

}  // namespace

EthdevPort::EthdevPort(const EthdevPortConfig& config, PacketPool& pool)
    : device_(config.device), stream_(hash_string("port/" + config.device)) {
  const std::size_t comma = config.device.find(',');
  name_ = config.device.substr(0, comma);
  virtual_device_ = name_.starts_with("net_") || name_.starts_with("eth_");
  check_af_xdp(config, pool);
  DpdkLog log;
  if (const int ret = rte_dev_probe(config.device.c_str()); ret != 0) {
    if (virtual_device_)
      fail(device_, fmt::format("DPDK cannot create it: {}. Check the driver's name and arguments{}{}", reason(ret),
                                ret == -EPERM || ret == -EACCES ? ", and your privileges" : "", log.said()));
    fail(device_, fmt::format("DPDK cannot use it: {}. Check the PCI address, that the NIC is bound to vfio-pci "
                              "(dpdk-devbind.py), and run.hugepages{}",
                              reason(ret), log.said()));
  }
  if (rte_eth_dev_get_port_by_name(name_.c_str(), &id_) != 0) fail(device_, "it is not a network device");
  try {
    set_up(config, pool, log);
  } catch (...) {
    close();
    throw;
  }
}

void EthdevPort::set_up(const EthdevPortConfig& config, PacketPool& pool, DpdkLog& log) {
  rte_eth_dev_info info;
  if (const int ret = rte_eth_dev_info_get(id_, &info); ret != 0) fail(device_, reason(ret));
  rte_eth_conf conf{};
  // Frames of the fabric's size where the driver can tell; many virtual ones carry any size and report a small limit.
  const std::uint32_t frame_overhead = wire::Ethernet::kOctets + wire::kFcsOctets + wire::Vlan::kOctets;
  conf.rxmode.mtu = std::min<std::uint32_t>(config.mtu, info.max_mtu > 0 ? info.max_mtu : config.mtu);
  if (info.max_rx_pktlen > frame_overhead)
    conf.rxmode.mtu = std::min<std::uint32_t>(conf.rxmode.mtu, info.max_rx_pktlen - frame_overhead);
  if ((info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0)
    conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  if (const int ret = rte_eth_dev_configure(id_, 1, 1, &conf); ret != 0)
    fail(device_, fmt::format("cannot be configured with one queue each way: {}", reason(ret)));
  // The TAP driver neither sends nor drops a frame that is longer than it can: it would stop the port for good.
  if (name_.starts_with("net_tap") && config.mtu > conf.rxmode.mtu)
    fail(
        device_,
        fmt::format("its driver carries IP packets of at most {} bytes; set mtu: {} on its link (of a trunk: port-mtu)",
                    conf.rxmode.mtu, conf.rxmode.mtu));
  std::uint16_t rx = config.descriptors;
  std::uint16_t tx = config.descriptors;
  rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx, &tx);
  rte_mempool* mempool = pool.mempool_for_ports();
  if (mempool == nullptr) fail(device_, "no packet memory left for its receive queue; raise run.memory");
  const auto socket = static_cast<unsigned>(SOCKET_ID_ANY);
  if (const int ret = rte_eth_rx_queue_setup(id_, 0, rx, socket, nullptr, mempool); ret != 0)
    fail(device_, fmt::format("no receive queue: {}{}", reason(ret), log.said()));
  if (const int ret = rte_eth_tx_queue_setup(id_, 0, tx, socket, nullptr); ret != 0)
    fail(device_, fmt::format("no transmit queue: {}{}", reason(ret), log.said()));
  // memif as client does not start before there is a server, and looks for it when it is asked about its link.
  looks_for_server_ = name_.starts_with("net_memif") && config.device.find("role=client") != std::string::npos;
  if (const int ret = rte_eth_dev_start(id_); ret != 0) {
    if (!looks_for_server_) fail(device_, fmt::format("does not start: {}{}", reason(ret), log.said()));
    started_ = false;
  }
  rte_eth_promiscuous_enable(id_);  // a driver that cannot takes every frame anyway
  const auto is_one_of = [this](std::initializer_list<const char*> drivers) {
    return std::ranges::any_of(drivers, [this](const char* d) { return name_.starts_with(d); });
  };
  // Memory shared with the other side: there is nothing between. Such drivers carry what fits a packet, whatever they
  // say.
  const bool is_memory = is_one_of({"net_vhost", "net_memif", "net_virtio_user", "net_ring"});
  abilities_.pfc = is_memory ? PortAbilities::Pfc::kYes : PortAbilities::Pfc::kUnverified;
  const std::uint32_t mtu = is_memory ? config.mtu : conf.rxmode.mtu;
  abilities_.largest_frame = mtu + std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets};
  abilities_.completes_checksums = is_one_of({"net_vhost", "net_tap"});
}

void EthdevPort::release_packets(PacketPool&) {
  rte_pktmbuf_free_bulk(staged_.data() + staged_from_, static_cast<unsigned>(staged_to_ - staged_from_));
  staged_from_ = staged_to_;
}

EthdevPort::~EthdevPort() {
  rte_pktmbuf_free_bulk(staged_.data() + staged_from_, static_cast<unsigned>(staged_to_ - staged_from_));
  close();
}

// memif's handshakes are handled by the EAL's interrupt thread, and nothing keeps its driver from closing a device in
// the middle of one: such devices are closed by that thread (rte_alarm.h). Not at the first occasion, but at the
// second: the driver's server panics if whom it accepts is gone already (it closes a socket that the EAL still
// watches), so what was connected to before is accepted first.
void EthdevPort::in_interrupt_thread(void (EthdevPort::*action)()) {
  // Both threads have it: the one that waits may go on before the other has let go of it.
  struct Call {
    EthdevPort* port;
    void (EthdevPort::*action)();
    std::atomic<bool> done = false;
  };
  using Shared = std::shared_ptr<Call>;
  // The EAL's lock orders the two threads. ThreadSanitizer does not see into it, but this.
  static std::atomic<unsigned> handed_over;
  constexpr std::uint64_t kNext = 1;  // microseconds
  const auto second = [](void* at) {
    static_cast<void>(handed_over.load(std::memory_order_acquire));
    const std::unique_ptr<Shared> theirs(static_cast<Shared*>(at));
    Call& c = **theirs;
    (c.port->*c.action)();
    c.done.store(true, std::memory_order_release);
    c.done.notify_one();
  };
  static constexpr rte_eal_alarm_callback kSecond = second;
  const auto first = [](void* at) {
    if (rte_eal_alarm_set(kNext, kSecond, at) != 0) kSecond(at);
  };
  const auto call = std::make_shared<Call>(this, action);
  auto theirs = std::make_unique<Shared>(call);
  handed_over.fetch_add(1, std::memory_order_release);
  if (!name_.starts_with("net_memif") || rte_eal_alarm_set(kNext, first, theirs.get()) != 0) return (this->*action)();
  static_cast<void>(theirs.release());  // second() has it now
  call->done.wait(false, std::memory_order_acquire);
}

void EthdevPort::close() { in_interrupt_thread(&EthdevPort::close_device); }

void EthdevPort::close_device() {
  rte_eth_dev_stop(id_);
  rte_eth_dev_info info;
  const bool known = rte_eth_dev_info_get(id_, &info) == 0;
  rte_eth_dev_close(id_);
  if (known) rte_dev_remove(info.device);
}

// Makes a received mbuf a packet; nullptr if it cannot be one (then it is freed and counted).
Packet* EthdevPort::adopt(PacketPool& pool, rte_mbuf* m) {
  if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0) {
    // The pieces do not fit the first mbuf: they are copied into a packet that holds any frame of the fabric. A longer
    // one is a giant, which the NIC will drop by its length: its first octets are enough.
    Packet* whole = pool.allocate_real();
    if (whole == nullptr) {
      no_memory_.increment();
      rte_pktmbuf_free(m);
      return nullptr;
    }
    const std::uint32_t octets = rte_pktmbuf_pkt_len(m);
    const auto kept = static_cast<std::uint32_t>(std::min<std::size_t>(octets, pool.real_octets()));
    if (const void* at = rte_pktmbuf_read(m, 0, kept, whole->header()); at != whole->header())
      std::memcpy(whole->header(), at, kept);
    rte_pktmbuf_free(m);
    describe_received(*whole, octets, stream_, received_.read());
    return whole;
  }
  Packet* p = packet_of(m);
  p->header_at = static_cast<std::uint16_t>(rte_pktmbuf_mtod(m, std::byte*) - reinterpret_cast<std::byte*>(p));
  p->flags = Packet::kFromPort;
  p->home = pool.owner();
  describe_received(*p, m->data_len, stream_, received_.read());
  return p;
}

std::size_t EthdevPort::take(PacketPool& pool, std::span<Packet*> packets) {
  if (staged_from_ < staged_to_) send_staged();  // nothing more may come to be given for a long time
  std::array<rte_mbuf*, kBurst> burst;
  std::uint16_t n = 0;
  if (started_) [[likely]]
    n = rte_eth_rx_burst(id_, 0, burst.data(), static_cast<std::uint16_t>(std::min(packets.size(), burst.size())));
  std::size_t taken = 0;
  for (std::uint16_t i = 0; i < n; ++i) {
    if (i + kPrefetchAhead < n) {  // what was copied since has pushed them out of the first cache
      __builtin_prefetch(burst[i + kPrefetchAhead]);
      __builtin_prefetch(packet_of(burst[i + kPrefetchAhead]), 1);
    }
    Packet* p = adopt(pool, burst[i]);
    if (p == nullptr) continue;
    received_.increment();
    packets[taken++] = p;
  }
  idle_ = taken == 0 ? idle_ + 1 : 0;
  if (idle_ == kIdleTakes) [[unlikely]] {
    idle_ = 0;
    if (looks_for_server_) look_for_server();
  }
  return taken;
}

// The driver looks once, when it starts.
void EthdevPort::look_for_server() {
  const std::unique_lock only_one(asking_, std::try_to_lock);
  const auto now = std::chrono::steady_clock::now();
  if (!only_one.owns_lock() || now < looked_ + kLookAgainAfter) return;
  looked_ = now;
  rte_eth_link link;
  if (started_) {
    if (rte_eth_link_get_nowait(id_, &link) != 0 || link.link_status == RTE_ETH_LINK_UP) return;
    rte_eth_dev_stop(id_);
  }
  started_ = rte_eth_dev_start(id_) == 0;
}

// Whether nothing is left that the device did not take.
bool EthdevPort::send_staged() {
  if (!started_) [[unlikely]]
    return staged_from_ == staged_to_;
  const std::uint16_t sent =
      rte_eth_tx_burst(id_, 0, staged_.data() + staged_from_, static_cast<std::uint16_t>(staged_to_ - staged_from_));
  sent_.add(sent);
  staged_from_ += sent;
  return staged_from_ == staged_to_;
}

std::size_t EthdevPort::give(PacketPool& pool, std::span<Packet* const> packets) {
  if (!send_staged()) return 0;
  staged_from_ = staged_to_ = 0;
  for (; staged_to_ < packets.size() && staged_to_ < kBurst; ++staged_to_) {
    staged_[staged_to_] = seal(packets[staged_to_], pool);
    if (staged_[staged_to_] == nullptr) break;
  }
  send_staged();
  return staged_to_;
}

bool EthdevPort::link_up() const {
  const std::lock_guard only_one(asking_);
  if (!started_) return false;
  rte_eth_link link;
  return rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

OutsidePortCounters EthdevPort::counters() const {
  OutsidePortCounters c;
  c.received = received_.read();
  c.sent = sent_.read();
  c.no_memory = no_memory_.read();
  rte_eth_stats stats;
  if (rte_eth_stats_get(id_, &stats) == 0) {
    c.host_ring_full = stats.imissed;
    c.no_memory += stats.rx_nombuf;
  }
  return c;
}

}  // namespace railyard
