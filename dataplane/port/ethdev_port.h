// A host or network outside, behind any device that DPDK can drive: vhost-user, TAP, memif, AF_PACKET, a PCI NIC, ...
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "dataplane/base/counter.h"
#include "dataplane/packet/pool.h"
#include "dataplane/port/outside_port.h"

struct rte_mbuf;

namespace railyard {

struct EthdevPortConfig {
  // A virtual device by its driver's name and arguments ("net_tap0,iface=tap0"), or a PCI address ("0000:03:00.0").
  std::string device;
  std::uint32_t mtu = 9216;  // longest IP packet that the link carries
  std::uint16_t descriptors = 1024;
};

class EthdevPort final : public OutsidePort {
 public:
  // Creates and starts the device. Throws std::runtime_error with the device and what would help. `pool`: where
  // received packets come from.
  EthdevPort(const EthdevPortConfig& config, PacketPool& pool);
  ~EthdevPort() override;
  EthdevPort(const EthdevPort&) = delete;
  EthdevPort& operator=(const EthdevPort&) = delete;

  std::size_t take(PacketPool& pool, std::span<Packet*> packets) override;
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override;
  void release_packets(PacketPool& pool) override;

  bool link_up() const override;
  PortAbilities abilities() const override { return abilities_; }
  OutsidePortCounters counters() const override;

 private:
  static constexpr std::size_t kBurst = 32;

  void set_up(const EthdevPortConfig& config, PacketPool& pool, class DpdkLog& log);
  void in_interrupt_thread(void (EthdevPort::*action)());
  void close();
  void close_device();
  Packet* adopt(PacketPool& pool, rte_mbuf* mbuf);
  bool send_staged();
  void look_for_server();

  std::string device_;
  std::string name_;  // of the device, as DPDK knows it
  std::uint16_t id_ = 0;
  bool virtual_device_ = false;
  bool looks_for_server_ = false;
  // A driver that has just connected is given its time: closed before it was greeted, it would take the server with it.
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::atomic<bool> started_ = true;
  std::uint32_t idle_ = 0;     // takes in a row that found nothing
  mutable std::mutex asking_;  // about the link
  PortAbilities abilities_;
  std::uint64_t stream_;
  std::array<rte_mbuf*, kBurst> staged_;  // made ready, and not taken by the device yet
  std::size_t staged_from_ = 0;
  std::size_t staged_to_ = 0;
  Counter received_;
  Counter sent_;
  Counter no_memory_;
};

}  // namespace railyard
