#include "dataplane/nic/receive_buffer.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

Packet* packet(std::uintptr_t n) { return reinterpret_cast<Packet*>(n * 64); }
constexpr Priority kLossless{3};
constexpr Priority kFour{4};

// The host takes 10 Gb/s: 800 ps per octet.
class ReceiveBufferTest : public ::testing::Test {
 protected:
  ReceiveBuffer buffer{{.rate = 10_Gbps, .capacity = {10'000}, .xoff = {4'000}, .xon = {2'000}}};
};

TEST_F(ReceiveBufferTest, WithoutARateItIsNotLimited) {
  EXPECT_TRUE(buffer.limited());
  EXPECT_FALSE(ReceiveBuffer(ReceiveConfig{}).limited());
  EXPECT_FALSE(ReceiveBuffer().limited());
}

TEST_F(ReceiveBufferTest, FramesAreReadyInOrderWhenTheirLastOctetHasBeenTaken) {
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.next(), Instant::never());
  buffer.push(at(1_us), packet(1), 1000, kLossless);  // 800 ns
  buffer.push(at(1_us), packet(2), 500, kFour);       // behind it
  buffer.push(at(5_us), packet(3), 1000, kLossless);  // long after
  EXPECT_EQ(buffer.size(), 3u);
  EXPECT_EQ(buffer.front(), packet(1));
  EXPECT_EQ(buffer.next(), at(1'800_ns));
  const ReceiveBuffer::Held first = buffer.pop();
  EXPECT_EQ(first.packet, packet(1));
  EXPECT_EQ(first.octets, 1000u);
  EXPECT_EQ(first.priority, kLossless);
  EXPECT_EQ(buffer.next(), at(2'200_ns));
  buffer.pop();
  EXPECT_EQ(buffer.next(), at(5'800_ns));
  buffer.pop();
  EXPECT_TRUE(buffer.empty());
}

TEST_F(ReceiveBufferTest, HoldsAsMuchAsItHasRoom) {
  buffer.push(at(0_ns), packet(1), 9'000, kLossless);
  EXPECT_TRUE(buffer.fits(kLossless, 1'000));
  EXPECT_FALSE(buffer.fits(kLossless, 1'001));
  buffer.pop();
  EXPECT_TRUE(buffer.fits(kLossless, 10'000));
}

// Class 4 is lossy: it pauses nobody, and does not take the room of those who do.
TEST_F(ReceiveBufferTest, ALossyClassIsCutWhereALosslessOnePauses) {
  ReceiveBuffer mixed{{.capacity = {10'000}, .xoff = {4'000}, .xon = {2'000}, .lossless = 1 << 3}};
  mixed.push(at(0_ns), packet(1), 3'000, kFour);
  EXPECT_TRUE(mixed.fits(kFour, 1'000));
  EXPECT_FALSE(mixed.fits(kFour, 1'001));
  EXPECT_TRUE(mixed.fits(kLossless, 7'000));
  mixed.push(at(0_ns), packet(2), 1'000, kFour);
  EXPECT_FALSE(mixed.wants_xoff(kFour, false));
  mixed.push(at(0_ns), packet(3), 4'000, kLossless);
  EXPECT_TRUE(mixed.wants_xoff(kLossless, false));
}

// A lossless class whose sender is not told to stop takes no more than a lossy one: others pause for the rest.
TEST_F(ReceiveBufferTest, ALosslessClassWithoutPfcIsCutWhereItWouldPause) {
  ReceiveBuffer mixed{{.capacity = {10'000}, .xoff = {4'000}, .xon = {2'000}, .pfc = 1 << 3}};
  EXPECT_TRUE(mixed.fits(kFour, 4'000));
  EXPECT_FALSE(mixed.fits(kFour, 4'001));
  EXPECT_TRUE(mixed.fits(kLossless, 10'000));
  mixed.set_pfc(1 << 4);
  EXPECT_TRUE(mixed.fits(kFour, 10'000));
  EXPECT_FALSE(mixed.fits(kLossless, 4'001));
}

TEST_F(ReceiveBufferTest, PausesAtXoffAndLetsGoAtXon) {
  buffer.push(at(0_ns), packet(1), 3'999, kLossless);
  EXPECT_FALSE(buffer.wants_xoff(kLossless, false));
  buffer.push(at(0_ns), packet(2), 1, kLossless);
  EXPECT_TRUE(buffer.wants_xoff(kLossless, false)) << "at or above";
  EXPECT_FALSE(buffer.wants_xoff(kFour, false)) << "each class for itself";
  buffer.pop();
  EXPECT_FALSE(buffer.wants_xoff(kLossless, true));
  buffer.push(at(0_ns), packet(3), 2'000, kLossless);
  EXPECT_TRUE(buffer.wants_xoff(kLossless, true)) << "2001 octets: not yet";
  EXPECT_FALSE(buffer.wants_xoff(kLossless, false)) << "nor would it begin here";
  buffer.pop();
  EXPECT_FALSE(buffer.wants_xoff(kLossless, true)) << "2000 octets: at or below";
}

TEST_F(ReceiveBufferTest, ShowsWhatItHolds) {
  Packet packets[2]{};
  packets[0].stream = 5;
  packets[1].stream = 6;
  for (Packet& p : packets) buffer.push(at(0_ns), &p, 100, kLossless);
  std::uint64_t sum = 0;
  buffer.for_each([&](const Packet& p) { sum = sum * 10 + p.stream; });
  EXPECT_EQ(sum, 56u);
}

}  // namespace
}  // namespace railyard
