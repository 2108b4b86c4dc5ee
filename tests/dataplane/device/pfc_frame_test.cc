#include "dataplane/device/pfc_frame.h"

#include <gtest/gtest.h>

#include "dataplane/wire/fcs.h"
#include "tests/dataplane/wire/octets.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

class PfcFrameTest : public ::testing::Test {
 protected:
  PacketPools pools{1, {.elided_limit = 2, .real_limit = 2, .real_octets = 2048}};
  PacketPool& pool = pools[WorkerId{0}];
};

// The verified vectors of roce-and-lossless.md §10.1, from source 02:00:00:00:00:01: octets and FCS.
TEST_F(PfcFrameTest, TheFrameOnTheWire) {
  struct Vector {
    PriorityMask enable;
    std::array<std::uint16_t, kPriorities> quanta;
    const char* octets;
    const char* fcs;
  };
  const std::string padding(2 * 26, '0');
  for (const Vector& v : {Vector{1 << 3, {0, 0, 0, 65535}, "0000 0000 0000 ffff 0000 0000 0000 0000", "b0b229c3"},
                          Vector{1 << 3, {}, "0000 0000 0000 0000 0000 0000 0000 0000", "d13178ac"},
                          Vector{3 << 3, {0, 0, 0, 1024}, "0000 0000 0000 0400 0000 0000 0000 0000", "7013313e"}}) {
    Packet* p = make_pfc_frame(pool, test::mac(1), v.enable, v.quanta);
    ASSERT_NE(p, nullptr);
    const std::string enable = v.enable == 1 << 3 ? "0008" : "0018";
    const auto expected =
        wire::hex("0180c2000001 020000000001 8808 0101 " + enable + " " + std::string(v.octets) + padding);
    const std::vector<std::byte> octets = test::octets_of(*p);
    EXPECT_EQ(wire::to_hex(octets), wire::to_hex(expected));
    std::byte fcs[4];
    wire::write_crc32(fcs, wire::fcs(octets));
    EXPECT_EQ(wire::to_hex(fcs), v.fcs);
    EXPECT_EQ(p->frame_octets, 64u);
    EXPECT_EQ(p->payload_octets, 0u);
    EXPECT_EQ(p->kind, FrameKind::kMacControl);
    EXPECT_FALSE(p->has(Packet::kElided));

    const auto read = read_pfc_frame(*p);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->enable, v.enable);
    EXPECT_EQ(read->quanta, v.quanta);
    pool.release(p);
  }
}

TEST_F(PfcFrameTest, LinkPauseIsNotUnderstood) {
  Packet* p = make_pfc_frame(pool, test::mac(1), 1, {5});
  p->header()[15] = std::byte{1};  // opcode 0x0001
  p->header()[14] = std::byte{0};
  EXPECT_EQ(read_pfc_frame(*p).error(), DropReason::kBadMacControl);
  pool.release(p);
}

TEST_F(PfcFrameTest, WithoutMemoryThereIsNone) {
  while (pool.allocate_elided() != nullptr) {
  }
  EXPECT_EQ(make_pfc_frame(pool, test::mac(1), 1, {5}), nullptr);
}

}  // namespace
}  // namespace railyard
