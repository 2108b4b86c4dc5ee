#include "dataplane/port/seal.h"

#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/wire/icrc.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;
using test::ip;
using test::VlanTag;

std::vector<std::byte> octets_of(rte_mbuf* m) {
  const std::byte* begin = rte_pktmbuf_mtod(m, const std::byte*);
  return {begin, begin + m->data_len};
}

class Seal : public ::testing::Test {
 protected:
  PacketPools pools{1, {.elided_limit = 64, .real_limit = 4, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  FecTable fecs;
};

// Real or synthetic, of either family, tagged or not: what leaves is what a capture would show.
TEST_F(Seal, EveryOctetIsRealAndTheIcrcIsRight) {
  const FrameSpec v4{.frame_octets = 4096, .stream = 5, .offset = 1000};
  const FrameSpec v6{.source = ip("2001:db8::1"), .destination = ip("2001:db8:1::1"), .frame_octets = 1500};
  const FrameSpec tagged{.tag = VlanTag{.vid = 9}, .frame_octets = 9000};
  for (FrameSpec spec : {v4, v6, tagged}) {
    for (const bool real : {false, true}) {
      spec.real = real;
      Packet* p = test::make_frame(pool, fecs, spec);
      std::vector<std::byte> expected;
      assemble(*p, expected);
      rte_mbuf* m = seal(p, pool);
      ASSERT_NE(m, nullptr);
      EXPECT_EQ(m->nb_segs, 1);
      EXPECT_EQ(m->pkt_len, spec.frame_octets - 4);
      EXPECT_EQ(m->ol_flags, 0u) << "nothing is asked of the device";
      EXPECT_EQ(octets_of(m), expected);
      EXPECT_TRUE(wire::icrc_matches(std::span(expected).subspan(spec.tag ? 18 : 14)));
      rte_pktmbuf_free(m);
      EXPECT_EQ(pools.in_use(), 0u) << "freed by a device, it is back";
    }
  }
}

TEST_F(Seal, AnIcrcThatIsThereIsLeftAlone) {
  Packet* made = test::make_frame(pool, fecs, {.frame_octets = 256, .real = true});
  std::vector<std::byte> octets;
  assemble(*made, octets);
  pool.release(made);
  octets.back() ^= std::byte{0xFF};  // the guest's own, and wrong
  rte_mbuf* m = seal(test::make_frame(pool, fecs, octets), pool);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(octets_of(m), octets);
  rte_pktmbuf_free(m);
}

TEST_F(Seal, WithoutMemoryThePacketIsUntouched) {
  std::vector<Packet*> all;
  for (int i = 0; i < 4; ++i) all.push_back(pool.allocate_real());
  Packet* p = test::make_frame(pool, fecs, {.frame_octets = 4096});
  const Packet before = *p;
  EXPECT_EQ(seal(p, pool), nullptr);
  EXPECT_EQ(p->flags, before.flags);
  EXPECT_EQ(p->payload_octets, before.payload_octets);
  pool.release(p);
  for (Packet* q : all) pool.release(q);
  EXPECT_EQ(pools.in_use(), 0u);
}

}  // namespace
}  // namespace railyard
