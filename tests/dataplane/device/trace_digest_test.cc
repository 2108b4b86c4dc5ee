#include "dataplane/device/trace_digest.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/frames.h"

namespace railyard {
namespace {

class TraceDigestTest : public ::testing::Test {
 protected:
  ~TraceDigestTest() override { pool.release(p); }
  PacketPools pools{1, {.elided_limit = 4, .real_limit = 4, .real_octets = 2048}};
  PacketPool& pool = pools[WorkerId{0}];
  Packet* p = test::make_frame(pool, FecTable{}, {.frame_octets = 1000, .stream = 4, .offset = 8});

  std::uint64_t of(DeviceId device, PortIndex port, Instant at) const {
    TraceDigest d;
    d.departure(device, port, at, *p);
    return d.value();
  }
};

TEST_F(TraceDigestTest, EverythingThatCountsChangesIt) {
  const std::uint64_t original = of(DeviceId{1}, PortIndex{2}, Instant{3});
  std::set<std::uint64_t> seen{original};
  const auto changed = [&](std::uint64_t digest) { EXPECT_TRUE(seen.insert(digest).second); };
  changed(of(DeviceId{2}, PortIndex{2}, Instant{3}));
  changed(of(DeviceId{1}, PortIndex{3}, Instant{3}));
  changed(of(DeviceId{1}, PortIndex{2}, Instant{4}));
  const auto with = [&](auto change, auto undo) {
    change();
    changed(of(DeviceId{1}, PortIndex{2}, Instant{3}));
    undo();
    EXPECT_EQ(of(DeviceId{1}, PortIndex{2}, Instant{3}), original);
  };
  with([&] { ++p->stream; }, [&] { --p->stream; });
  with([&] { ++p->offset; }, [&] { --p->offset; });
  with([&] { ++p->payload_octets; }, [&] { --p->payload_octets; });
  with([&] { ++p->frame_octets; }, [&] { --p->frame_octets; });
  for (std::size_t i = 0; i < p->header_octets; ++i)
    with([&] { p->header()[i] ^= std::byte{1}; }, [&] { p->header()[i] ^= std::byte{1}; });
}

TEST_F(TraceDigestTest, TheOrderInWhichDevicesRanDoesNotCount) {
  TraceDigest a;
  a.departure(DeviceId{1}, PortIndex{0}, Instant{3}, *p);
  a.departure(DeviceId{2}, PortIndex{0}, Instant{3}, *p);
  TraceDigest b;
  b.departure(DeviceId{2}, PortIndex{0}, Instant{3}, *p);
  TraceDigest c;
  c.departure(DeviceId{1}, PortIndex{0}, Instant{3}, *p);
  b.add(c);
  EXPECT_EQ(a.value(), b.value());
  b.departure(DeviceId{1}, PortIndex{0}, Instant{3}, *p);
  EXPECT_NE(a.value(), b.value()) << "twice is not once";
}

}  // namespace
}  // namespace railyard
