#include "dataplane/packet/assemble.h"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/icrc.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;
using test::ip;
using test::mac;
using test::make_frame;
using test::VlanTag;

class Assemble : public ::testing::Test {
 protected:
  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  FecTable fecs;

  std::vector<std::byte> whole(const FrameSpec& spec) {
    Packet* p = make_frame(pool, fecs, spec);
    std::vector<std::byte> out(3, std::byte{0xEE});  // what was in it is gone
    assemble(*p, out);
    pool.release(p);
    return out;
  }
};

// Ethernet to ICRC, all but the FCS: Ethernet 14 (tag 4), IP 20 or 40, UDP 8, BTH 12, payload, ICRC 4.
TEST_F(Assemble, AnElidedFrameBecomesWhole) {
  struct Case {
    FrameSpec spec;
    std::size_t l3;
    std::size_t headers;
  };
  const FrameSpec v6{.source = ip("2001:db8::1"), .destination = ip("2001:db8:1::1"), .frame_octets = 4096};
  for (const Case& c : {Case{{.frame_octets = 4096}, 14, 54}, Case{v6, 14, 74},
                        Case{{.tag = VlanTag{.vid = 9}, .frame_octets = 4096}, 18, 58}}) {
    FrameSpec spec = c.spec;
    spec.stream = 77;
    spec.offset = 12345;
    const std::vector<std::byte> frame = whole(spec);
    ASSERT_EQ(frame.size(), 4096u - 4);
    const auto view = wire::parse_frame(frame);
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->header_octets, c.headers);
    EXPECT_EQ(view->ip_octets, frame.size() - c.l3);
    EXPECT_TRUE(wire::icrc_matches(std::span(frame).subspan(c.l3)));
    EXPECT_TRUE(payload_matches(77, 12345, std::span(frame).subspan(c.headers, 4096 - 4 - 4 - c.headers)));
  }
}

TEST_F(Assemble, RealAndElidedFramesOfOneIdentityAreTheSameOctets) {
  EXPECT_EQ(whole({.real = true, .stream = 5, .offset = 999}), whole({.real = false, .stream = 5, .offset = 999}));
}

// roce-and-lossless §2.4: behind the payload, zeros.
TEST_F(Assemble, RocePaddingIsZeros) {
  for (const FrameSpec& spec :
       {FrameSpec{.frame_octets = 1000, .stream = 77},
        FrameSpec{.source = ip("2001:db8::1"), .destination = ip("2001:db8:1::1"), .frame_octets = 1000, .stream = 77}})
    for (std::uint8_t pad = 0; pad <= 3; ++pad) {
      Packet* p = make_frame(pool, fecs, spec);
      wire::write<wire::Bth::PadCnt>(p->header() + p->header_octets - wire::Bth::kOctets, pad);
      std::vector<std::byte> out;
      assemble(*p, out);
      const std::size_t end = p->header_octets + std::size_t{p->payload_octets};
      for (std::size_t i = end - pad; i < end; ++i) EXPECT_EQ(out[i], std::byte{0});
      EXPECT_TRUE(payload_matches(77, p->offset, std::span(out).subspan(p->header_octets, p->payload_octets - pad)));
      EXPECT_TRUE(wire::icrc_matches(std::span(out).subspan(p->l3_offset)));
      pool.release(p);
    }
}

TEST_F(Assemble, AShortFrameIsPaddedWithZeros) {
  std::array<std::byte, 64> octets{};
  const std::size_t n = wire::write_arp_request(octets, {.destination = wire::kBroadcastMac, .source = mac(2)},
                                                ip("10.0.0.1"), ip("10.0.1.1"));
  ASSERT_EQ(n, 42u);
  Packet* p = make_frame(pool, fecs, std::span(octets).first(n));
  std::vector<std::byte> out;
  assemble(*p, out);
  pool.release(p);
  ASSERT_EQ(out.size(), 60u);
  EXPECT_TRUE(std::equal(octets.begin(), octets.begin() + 42, out.begin()));
  for (std::size_t i = 42; i < 60; ++i) EXPECT_EQ(out[i], std::byte{0});
}

}  // namespace
}  // namespace railyard
