// What it costs to take frames from a port to the kernel, and to give them to it.
//
// usage: port_bench KIND FRAME_OCTETS SECONDS
//   KIND   tap, net_tap: a TAP, by our port or DPDK's driver; netdev, net_af_packet: one end of a veth pair likewise
// Root only: it makes its interfaces in a network namespace of its own. The host sends 256 frames, then the port takes
// them. Prints cycles of the time-stamp counter per frame, medians: to take it; to take it and, for the host, to send
// it (DPDK's TAP driver has a signal sent for each); to give one, in bursts of 32. Last the rate at which frames are
// taken while the host sends as fast as it can, in millions per second.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_cycles.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/port/ethdev_port.h"
#include "dataplane/port/packet_socket_port.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/port/tap_port.h"
#include "dataplane/run/eal.h"

namespace railyard {
namespace {

constexpr std::size_t kBurst = 32;
constexpr std::size_t kRound = 256;

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command + " failed");
}

// The host behind the port: one frame over and over.
class Sender {
 public:
  Sender(const std::string& interface, std::size_t octets) {
    frame_[0] = frame_[6] = 2;
    frame_[12] = 0x88;  // IEEE Std 802 local experimental EtherType 1
    frame_[13] = 0xB5;
    socket_ = FileDescriptor(socket(AF_PACKET, SOCK_RAW, 0));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error(interface + ": the sender cannot be bound");
    for (std::size_t i = 0; i < kRound; ++i) {
      octets_[i] = {frame_.data(), octets};
      messages_[i].msg_hdr.msg_iov = &octets_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  // Sends a round; returns how many frames went.
  std::size_t send() {
    const int sent = sendmmsg(socket_.get(), messages_.data(), kRound, 0);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }

 private:
  std::array<std::uint8_t, 9216> frame_{};
  std::array<iovec, kRound> octets_{};
  std::array<mmsghdr, kRound> messages_{};
  FileDescriptor socket_;
};

double median(std::vector<double>& values) {
  if (values.empty()) throw std::runtime_error("nothing came through");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double per_frame(std::uint64_t cycles, std::size_t frames) {
  return static_cast<double>(cycles) / static_cast<double>(frames);
}

void bench(const std::string& kind, std::size_t frame_octets, double seconds) {
  const std::size_t octets = frame_octets - wire::kFcsOctets;
  PacketPools pools(1, {.elided_limit = 4096, .real_limit = 16384, .real_octets = 9728});
  PacketPool& pool = pools[WorkerId{0}];
  std::unique_ptr<OutsidePort> port;
  std::string host = "tap0";  // the interface that the host uses
  if (kind == "netdev" || kind == "net_af_packet") {
    host = "eth0";
    run("ip link add ry0 mtu 9000 type veth peer name eth0 mtu 9000");
    run("ip link set ry0 up && ip link set eth0 up");
  }
  if (kind == "tap")
    port = std::make_unique<TapPort>(TapPortConfig{.interface = host, .mtu = 9000, .up = true}, pool);
  else if (kind == "netdev")
    port = std::make_unique<PacketSocketPort>(PacketSocketPortConfig{.interface = "ry0", .mtu = 9000}, pool);
  else if (kind == "net_tap")
    port = std::make_unique<EthdevPort>(EthdevPortConfig{.device = "net_tap0,iface=tap0", .mtu = 1500}, pool);
  else if (kind == "net_af_packet")
    port = std::make_unique<EthdevPort>(
        EthdevPortConfig{.device = "net_af_packet0,iface=ry0,blocksz=36864,framesz=9216,framecnt=1024"}, pool);
  else
    throw std::runtime_error("there is no kind " + kind);

  std::array<Packet*, kBurst> burst;
  std::vector<double> taken;
  std::vector<double> sent_and_taken;
  Sender sender(host, octets);
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    const std::uint64_t begin = rte_rdtsc();
    const std::size_t sent = sender.send();
    const std::uint64_t middle = rte_rdtsc();
    std::size_t arrived = 0;
    for (int in_vain = 0; arrived < sent && in_vain < 1000;) {
      const std::size_t n = port->take(pool, burst);
      for (std::size_t i = 0; i < n; ++i) pool.release(burst[i]);
      arrived += n;
      in_vain = n == 0 ? in_vain + 1 : 0;
    }
    if (arrived == 0) continue;
    const std::uint64_t now = rte_rdtsc();
    taken.push_back(per_frame(now - middle, arrived));
    sent_and_taken.push_back(per_frame(now - begin, arrived));
  }

  // While the host sends without a rest.
  std::uint64_t frames = 0;
  std::chrono::duration<double> passed{};
  {
    std::atomic<bool> stop = false;
    std::thread host_thread([&] {
      while (!stop) sender.send();
    });
    for (const auto begin = Clock::now(); passed.count() < seconds; passed = Clock::now() - begin) {
      const std::size_t n = port->take(pool, burst);
      for (std::size_t i = 0; i < n; ++i) pool.release(burst[i]);
      frames += n;
    }
    stop = true;
    host_thread.join();
  }

  std::vector<double> given;
  const auto end_of_giving = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end_of_giving) {
    for (Packet*& p : burst) {
      p = pool.allocate_real();
      if (p == nullptr) throw std::runtime_error("no packet memory");
      describe_received(*p, static_cast<std::uint32_t>(octets), 0, 0);
      std::memset(p->header(), 0, 14);
      p->header()[0] = p->header()[6] = std::byte{2};
      p->header()[12] = std::byte{0x88};
      p->header()[13] = std::byte{0xB5};
    }
    const std::uint64_t begin = rte_rdtsc();
    const std::size_t n = port->give(pool, burst);
    if (n > 0) given.push_back(per_frame(rte_rdtsc() - begin, n));
    for (std::size_t i = n; i < kBurst; ++i) pool.release(burst[i]);
  }
  std::printf("%.0f %.0f %.0f %.4f\n", median(taken), median(sent_and_taken), median(given),
              static_cast<double>(frames) / passed.count() / 1e6);
}

}  // namespace
}  // namespace railyard

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: port_bench tap|net_tap|netdev|net_af_packet FRAME_OCTETS SECONDS\n");
    return 2;
  }
  try {
    if (unshare(CLONE_NEWNET) != 0) throw std::runtime_error("needs root, for a network namespace of its own");
    railyard::start_eal({.memory_mib = 1024, .huge_pages = false, .pci = false, .extra = {}});
    railyard::bench(argv[1], static_cast<std::size_t>(std::atoi(argv[2])), std::atof(argv[3]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "port_bench: %s\n", e.what());
    return 1;
  }
}
