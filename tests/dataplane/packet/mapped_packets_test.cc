#include "dataplane/packet/mapped_packets.h"

#include <cstring>
#include <new>

#include <gtest/gtest.h>
#include <rte_mbuf.h>

namespace railyard {
namespace {

constexpr std::uint32_t kRoom = 256;

std::uintptr_t address(const Packet* packet) { return reinterpret_cast<std::uintptr_t>(packet); }

TEST(MappedPackets, EachHasItsMbufInFrontAndItsRoomBehind) {
  const MappedPackets packets(5000, kRoom);
  ASSERT_EQ(packets.size(), 5000u);
  const std::uintptr_t stride = address(packets[1]) - address(packets[0]);
  EXPECT_GE(stride, sizeof(rte_mbuf) + sizeof(Packet) + kRoom);
  EXPECT_EQ(stride / 64 % 2, 1u) << "an even number of cache lines would share few sets of a cache";
  for (std::uint32_t i = 0; i < packets.size(); ++i) {
    ASSERT_EQ(address(packets[i]), address(packets[0]) + i * stride);
    ASSERT_EQ(address(packets[i]) % 64, 0u);
  }
}

TEST(MappedPackets, AllIsZeroAndMayBeWritten) {
  const MappedPackets packets(3, kRoom);
  for (std::uint32_t i = 0; i < packets.size(); ++i) {
    auto* const begin = reinterpret_cast<std::byte*>(packets[i]) - sizeof(rte_mbuf);
    const std::size_t octets = sizeof(rte_mbuf) + sizeof(Packet) + kRoom;
    for (std::size_t k = 0; k < octets; ++k) ASSERT_EQ(begin[k], std::byte{0}) << i << ' ' << k;
    std::memset(begin, 0xff, octets);
  }
}

TEST(MappedPackets, MoreThanTheMachineHasIsRefused) {
  EXPECT_THROW(MappedPackets(~std::uint32_t{0}, 1u << 30), std::bad_alloc);
}

}  // namespace
}  // namespace railyard
