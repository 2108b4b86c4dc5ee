// A capture of RoCEv2 goes in at one host and comes out at another: what routers change is changed, and nothing else.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "dataplane/base/rng.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/port/pcap_file.h"
#include "dataplane/run/wall_clock.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/crc32.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "tests/scenarios/scenario.h"
#include "tests/support/frames.h"
#include "tests/support/temporary_file.h"

namespace railyard::test {
namespace {

using namespace literals;
using Octets = std::vector<std::byte>;

//  h1 (capture) --+                       +-- h3 (capture)
//                 leaf1 -- spine1 -- leaf2
//  h2 (greedy)  --+                       +-- h4
//
// What h2 sends makes a queue at leaf1, where the capture's packets are marked while it lasts.
std::string lab(const std::string& in, const std::string& out) {
  return R"(
name: capture-path
qos: { default: { classes: { 3: { lossless: true, alpha: 1, ecn: { kmin: 20KB, kmax: 200KB, pmax: 50% } } } } }
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }
nodes:
  h1: { kind: host, attach: { pcap: { in: )" +
         in + R"( } } }
  h3: { kind: host, attach: { pcap: { out: )" +
         out + R"( } } }
traffic: [ { name: cross, from: h2, to: h4, dscp: 26 } ]
run: { duration: 100us }
)";
}

constexpr std::size_t kL3 = 14;
constexpr std::size_t kFrames = 200;

bool is_v4(const Octets& frame) {
  return wire::read<wire::Ethernet::EtherType>(frame.data()) == wire::ether_type::kIpv4;
}
std::size_t ip_octets(const Octets& frame) {
  return is_v4(frame) ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets};
}

// SENDs and WRITEs of all sizes, one per microsecond, of both families and all ECN code points, each with its ICRC.
std::vector<Octets> capture(const spec::NicSpec& from, const spec::NicSpec& to) {
  PacketPools pools(1, {.elided_limit = 16, .real_limit = 16, .real_octets = 9728});
  PacketPool& pool = pools[WorkerId{0}];
  RngStream rng(Seed{1}, "capture_path_test/frames");
  std::vector<Octets> frames;
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    const bool v4 = rng.below(4) != 0;
    FrameSpec spec{.to = mac(0xA1),
                   .from = mac(0xA2),
                   .source = v4 ? *from.address_v4 : *from.address_v6,
                   .destination = v4 ? *to.address_v4 : *to.address_v6,
                   .psn = i,
                   .ecn = static_cast<wire::Ecn>(rng.below(4)),
                   .ttl = static_cast<std::uint8_t>(4 + rng.below(252))};
    spec.frame_octets = std::max(least_octets(spec), static_cast<std::uint32_t>(64 + 4 * rng.below(2000)));
    Packet* p = make_frame(pool, FecTable{}, spec);
    Octets& octets = frames.emplace_back();
    assemble(*p, octets);
    pool.release(p);
    wire::write<wire::Bth::OpCode>(octets.data() + kL3 + ip_octets(octets) + 8,
                                   static_cast<std::uint8_t>(rng.below(0x18)));
    const auto covered = std::span(octets).subspan(kL3, octets.size() - kL3 - wire::kIcrcOctets);
    wire::write_crc32(covered.data() + covered.size(), wire::icrc(covered));
  }
  return frames;
}

void write(const TemporaryFile& file, const std::vector<Octets>& frames) {
  PcapWriter writer = PcapWriter::open(file.path()).value();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::span<const std::byte> piece(frames[i]);
    writer.write(Instant{} + 1_us * static_cast<std::int64_t>(i), {&piece, 1});
  }
  ASSERT_TRUE(writer.close().has_value());
}

class CapturePath : public testing::Test {
 protected:
  CapturePath() : lab_(spec::parse(lab(in_.name(), out_.name()), "scenario.yaml")) {
    frames_ = capture(lab_.find("h1")->nics[0], lab_.find("h3")->nics[0]);
    write(in_, frames_);
  }
  // What comes out; `run` drives the lab to its end.
  template <class Run>
  std::vector<Octets> come_out(const std::vector<std::string>& overrides, Run&& run) {
    Scenario s(lab(in_.name(), out_.name()), overrides);
    run(s);
    for (PcapEndpoint* p : s.lab().pcaps()) p->close();
    EXPECT_EQ(s.dropped(), 0u);
    s.expect_books_balance();
    const auto captured = read_pcap(out_.path());
    if (!captured) throw std::runtime_error(captured.error());
    std::vector<Octets> frames;
    for (const CapturedFrame& f : *captured) frames.push_back(f.octets);
    return frames;
  }
  std::vector<Octets> by_the_virtual_clock() {
    return come_out({}, [](Scenario& s) { s.run_to_the_end(); });
  }

  TemporaryFile in_{"in.pcap"};
  TemporaryFile out_{"out.pcap"};
  spec::Lab lab_;
  std::vector<Octets> frames_;
};

TEST_F(CapturePath, OnlyMacAddressesTtlAndMarksAreNewAndTheChecksumsFollow) {
  const std::vector<Octets> out = by_the_virtual_clock();
  ASSERT_EQ(out.size(), kFrames);
  std::size_t marked = 0;
  std::size_t unmarked = 0;
  for (std::size_t i = 0; i < kFrames; ++i) {
    const std::byte* ip = out[i].data() + kL3;
    const bool v4 = is_v4(out[i]);
    const std::byte* old_ip = frames_[i].data() + kL3;
    ASSERT_EQ(out[i].size(), frames_[i].size());
    EXPECT_EQ(wire::read<wire::Ethernet::Destination>(out[i].data()), lab_.find("h3")->nics[0].mac);
    const auto before =
        v4 ? wire::read<wire::Ipv4::TrafficClass>(old_ip) : wire::read<wire::Ipv6::TrafficClass>(old_ip);
    const auto after = v4 ? wire::read<wire::Ipv4::TrafficClass>(ip) : wire::read<wire::Ipv6::TrafficClass>(ip);
    if (after != before) {
      EXPECT_NE(wire::ecn_of(before), wire::Ecn::kNotEct);
      EXPECT_EQ(after, before | 3) << "CE, and the DSCP as it was";
      ++marked;
    } else if (wire::ecn_of(before) == wire::Ecn::kEct0) {
      ++unmarked;
    }
    if (v4) {
      EXPECT_EQ(wire::internet_checksum({ip, wire::Ipv4::kOctets}), 0);
    }
    EXPECT_TRUE(wire::icrc_matches(std::span(out[i]).subspan(kL3)));

    // With three routers' work on it, the frame that went in is the one that came out.
    Octets expected = frames_[i];
    std::copy_n(out[i].begin(), 12, expected.begin());
    std::byte* header = expected.data() + kL3;
    if (v4) {
      wire::write<wire::Ipv4::TTL>(header, static_cast<std::uint8_t>(wire::read<wire::Ipv4::TTL>(old_ip) - 3));
      wire::write<wire::Ipv4::TrafficClass>(header, after);
      wire::write<wire::Ipv4::HeaderChecksum>(header, wire::read<wire::Ipv4::HeaderChecksum>(ip));
    } else {
      wire::write<wire::Ipv6::HopLimit>(header,
                                        static_cast<std::uint8_t>(wire::read<wire::Ipv6::HopLimit>(old_ip) - 3));
      wire::write<wire::Ipv6::TrafficClass>(header, after);
    }
    EXPECT_EQ(out[i], expected) << "frame " << i + 1;
  }
  EXPECT_GT(marked, 10u);
  EXPECT_GT(unmarked, 10u);
}

TEST_F(CapturePath, TheWallClockGivesTheVeryFileOfTheVirtualOne) {
  by_the_virtual_clock();
  const std::string file = out_.octets();
  WallClockConfig clock;
  clock.scale_denominator = 10;
  const std::vector<Octets> out = come_out({"run.clock=wall"}, [&](Scenario& s) {
    const std::atomic<bool> stop{false};
    run_wall(s.engine(), Instant{} + 10_s, clock, stop);
  });
  EXPECT_EQ(out.size(), kFrames);
  EXPECT_EQ(out_.octets(), file) << "the same octets at the same instants";
}

TEST_F(CapturePath, AsFastAsPossibleNothingIsLostEither) {
  const std::vector<Octets> out =
      come_out({"nodes.h1.attach.pcap.times=asap"}, [](Scenario& s) { s.run_to_the_end(); });
  ASSERT_EQ(out.size(), kFrames);
  for (std::size_t i = 0; i < kFrames; ++i) EXPECT_EQ(wire::parse_frame(out[i])->psn, i);
}

// No packet has room for the second frame: it is a giant where it would enter, and the others are none the worse.
TEST_F(CapturePath, AFrameThatNoPacketHasRoomForIsAGiant) {
  frames_.resize(3);
  frames_[1].resize(60'000);
  write(in_, frames_);
  Scenario s(lab(in_.name(), out_.name()));
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 1u);
  s.expect_books_balance();
  for (PcapEndpoint* p : s.lab().pcaps()) p->close();
  EXPECT_EQ(read_pcap(out_.path()).value().size(), 2u);
}

}  // namespace
}  // namespace railyard::test
