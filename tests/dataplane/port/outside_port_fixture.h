// What tests of ports to the kernel share: packets, a host in a namespace, and what every such port must do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/packet/pool.h"
#include "dataplane/port/outside_port.h"
#include "tests/dataplane/port/host_namespace.h"
#include "tests/support/frames.h"

namespace railyard::test {

class OutsidePortFixture : public ::testing::Test {
 protected:
  using Octets = std::vector<std::byte>;

  // Skips where there are no namespaces.
  void SetUp() override;
  ~OutsidePortFixture() override;

  Packet* frame(const FrameSpec& spec);
  Octets octets(const FrameSpec& spec);
  static Octets octets_of(const Packet& p);
  // What has come in by now: kernels deliver before their sender goes on.
  std::vector<Packet*> take(OutsidePort& port);
  std::size_t release(const std::vector<Packet*>& packets);
  bool give(OutsidePort& port, const FrameSpec& spec);

  // Frames of any length pass between a port of this name and the host's eth0, octet for octet.
  void expect_whole_frames(OutsidePort& port, const std::string& name);
  // And with tags.
  void expect_tags_stay(OutsidePort& port);
  // A port with a pool of few(), where frames wait.
  void expect_to_wait_for_memory(OutsidePort& port);
  PacketPool& few() { return few_[WorkerId{0}]; }
  // What the host's kernel leaves to its NIC is done. Call give_addresses() first.
  void give_addresses() const;
  void expect_whole_checksums(OutsidePort& port);
  void expect_segmentation(OutsidePort& port);
  // TCP segments that leave together reach the host's kernel in one piece.
  void expect_joined_segments(OutsidePort& port);
  // Of what has come in, the frames of one protocol; the kernel's own ICMPv6 is left out.
  std::vector<Octets> take_of(OutsidePort& port, std::uint8_t protocol);
  static void expect_right_checksum(const Octets& frame);

  PacketPools pools{1, {.elided_limit = 4096, .real_limit = 8192, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  std::optional<HostNamespace> host;

 private:
  PacketPools few_{1, {.elided_limit = 64, .real_limit = 4, .real_octets = 9728}};
};

}  // namespace railyard::test
