// Ports as the fabric file names them, with what stands at their other end: memory shared with another process.
#include "control/lab/open_port.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/run/eal.h"
#include "tests/support/frames.h"

namespace railyard::lab {
namespace {

namespace fs = std::filesystem;
using Octets = std::vector<std::byte>;

constexpr std::uint32_t kMtu = 9000;

class SharedMemoryPorts : public testing::Test {
 protected:
  SharedMemoryPorts() { fs::create_directories(folder_); }
  ~SharedMemoryPorts() override {
    EXPECT_EQ(pools_.in_use(), 0u) << "a packet was lost, or given back twice";
    fs::remove_all(folder_);
  }

  static const PoolConfig& pool_config() {
    static const PoolConfig config = [] {
      if (!eal_started()) start_eal({.memory_mib = 512, .huge_pages = false, .pci = false, .extra = {}});
      return PoolConfig{.elided_limit = 4096, .real_limit = 4096, .real_octets = 9728};
    }();
    return config;
  }
  OpenedPort open(spec::Attachment attachment) {
    spec::NicSpec nic;
    nic.attach = std::move(attachment);
    return open_port({"h1", 1}, nic, kMtu, {}, pool_);
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  // The two sides find each other in their own time.
  static bool comes_true(const std::function<bool()>& what) {
    for (int i = 0; i < 2000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  Octets sent(OutsidePort& from, std::uint32_t octets, std::uint32_t psn) {
    Packet* p = test::make_frame(pool_, FecTable{}, {.psn = psn, .frame_octets = octets, .real = true});
    Octets content;
    assemble(*p, content);
    EXPECT_EQ(from.give(pool_, {&p, 1}), 1u);
    return content;
  }
  // The next frame that comes out, after a time; the sender is polled, too, as by a NIC: it may have to try again.
  Octets taken(OutsidePort& at, OutsidePort& from) {
    Octets out;
    comes_true([&] {
      std::array<Packet*, 1> burst;
      EXPECT_EQ(from.take(pool_, burst), 0u);
      if (at.take(pool_, burst) == 0) return false;
      out.assign(burst[0]->header(), burst[0]->header() + burst[0]->header_octets + burst[0]->payload_octets);
      pool_.release(burst[0]);
      return true;
    });
    return out;
  }
  void expect_both_ways(OutsidePort& a, OutsidePort& b) {
    ASSERT_TRUE(comes_true([&] { return a.link_up() && b.link_up(); }));
    std::uint32_t psn = 0;
    for (const std::uint32_t octets : {100u, 1500u, kMtu + 18}) {
      const Octets there = sent(a, octets, psn);
      EXPECT_TRUE(taken(b, a) == there) << octets;
      const Octets back = sent(b, octets, ++psn);
      EXPECT_TRUE(taken(a, b) == back) << octets;
    }
  }

  PacketPools pools_{1, pool_config()};
  PacketPool& pool_ = pools_[WorkerId{0}];
  fs::path folder_ = fs::temp_directory_path() / ("open_port_test." + std::to_string(getpid()));
};

TEST_F(SharedMemoryPorts, CarryFramesUpToTheMtuByMemif) {
  const OpenedPort server = open(spec::AttachMemif{path("m.sock"), false, 3});
  EXPECT_EQ(server.socket, path("m.sock")) << "which is to be removed with it";
  const OpenedPort client = open(spec::AttachMemif{path("m.sock"), true, 3});
  EXPECT_EQ(client.socket, "");
  expect_both_ways(*server.port, *client.port);
}

// Whoever comes back is taken in again.
TEST_F(SharedMemoryPorts, SurviveARestartOfTheOtherSideByMemif) {
  const OpenedPort server = open(spec::AttachMemif{path("m.sock"), false, 0});
  for (int life = 0; life < 3; ++life) {
    const OpenedPort client = open(spec::AttachMemif{path("m.sock"), true, 0});
    expect_both_ways(*server.port, *client.port);
  }
  EXPECT_TRUE(comes_true([&] { return !server.port->link_up(); })) << "nobody is there any more";
}

// A virtual machine that is the server of its socket (QEMU: server=on): here DPDK's driver for such a NIC.
class VhostUserClient : public SharedMemoryPorts {
 protected:
  std::string machine() const {
    return "net_virtio_user7,server=1,queues=1,mac=02:00:00:00:00:02,path=" + path("v.sock");
  }
};

TEST_F(VhostUserClient, FindsAMachineThatComesLaterAndComesBack) {
  const OpenedPort client = open(spec::AttachVhostUser{path("v.sock"), true});
  EXPECT_EQ(client.socket, "") << "it is the machine's";
  EXPECT_FALSE(client.port->link_up());
  for (int life = 0; life < 2; ++life) {
    const OpenedPort vm = open(spec::AttachDpdk{machine()});
    expect_both_ways(*client.port, *vm.port);
  }
}

// A virtual machine that connects to our socket (QEMU's default).
TEST_F(SharedMemoryPorts, TakeInOneMachineAfterTheOtherByVhostUser) {
  const OpenedPort server = open(spec::AttachVhostUser{path("v.sock"), false});
  EXPECT_EQ(server.socket, path("v.sock")) << "which is to be removed with it";
  EXPECT_TRUE(fs::is_socket(path("v.sock")));
  EXPECT_FALSE(server.port->link_up());
  for (int life = 0; life < 2; ++life) {
    const OpenedPort vm =
        open(spec::AttachDpdk{"net_virtio_user8,queues=1,mac=02:00:00:00:00:02,path=" + path("v.sock")});
    expect_both_ways(*server.port, *vm.port);
  }
  EXPECT_TRUE(comes_true([&] { return !server.port->link_up(); })) << "nobody is there any more";
}

}  // namespace
}  // namespace railyard::lab
