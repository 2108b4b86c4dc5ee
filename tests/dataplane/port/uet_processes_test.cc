// Which process a UET packet is for, and what processes may send, by packets of the transport's own encoder.
#include "dataplane/port/uet_processes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "dataplane/port/application_port.h"
#include "tests/support/frames.h"
#include "transports/uet/wire/encapsulation.h"
#include "transports/uet/wire/packet.h"

namespace railyard {
namespace {

constexpr FrameRingPairGeometry kRings{{.slots = 64, .slot_octets = 4416}, {.slots = 64, .slot_octets = 4416}};
constexpr std::uint32_t kJob = 0xFFFFFF;

class Process {
 public:
  explicit Process(std::uint8_t block)
      : fabric(std::make_shared<ApplicationProcess>(kRings, UetNumbers{.block = block, .job_id = kJob})),
        memory(static_cast<std::byte*>(
            ::mmap(nullptr, kRings.octets(), PROT_READ | PROT_WRITE, MAP_SHARED, fabric->memory(), 0))),
        out(kRings.rings_to_fabric(memory), kRings.to_fabric),
        in(kRings.ring_to_host(memory), kRings.to_host) {}
  ~Process() { ::munmap(memory, kRings.octets()); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Whether a frame has come, which is taken.
  bool got() {
    if (!in.front()) return false;
    in.pop();
    return true;
  }
  void send(const std::vector<std::byte>& frame) {
    std::ranges::copy(frame, out.next());
    out.commit(static_cast<std::uint32_t>(frame.size()), 0);
    static_cast<void>(out.publish());
  }

  std::shared_ptr<ApplicationProcess> fabric;
  std::byte* memory;
  FrameRingProducer out;
  FrameRingConsumer in;
};

struct Frame {
  wire::IpAddress source = test::ip("10.0.0.1");
  bool udp = true;
};

std::vector<std::byte> frame_of(const uet::Pds& pds, const uet::Ses& ses, const Frame& f = {}) {
  const uet::Packet packet{.pds = pds, .ses = ses};
  uet::EncapsulationConfig config;
  config.udp = f.udp;
  std::array<std::byte, 512> octets{};
  const uet::OuterHeaders outer{.source_mac = test::mac(2),
                                .next_hop_mac = test::mac(1),
                                .source = f.source,
                                .destination = f.source.is_v4() ? test::ip("10.0.1.1") : test::ip("fd00::9"),
                                .entropy = 0xC000};
  std::array<std::byte, 256> inner{};
  const std::size_t n = uet::encode_headers(inner, packet);
  const std::size_t at = uet::encode_outer(octets, config, outer, n + uet::kCrcOctets);
  std::copy_n(inner.begin(), n, octets.begin() + static_cast<std::ptrdiff_t>(at));
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(at + n + uet::kCrcOctets)};
}

uet::SesRequestValues request(std::uint16_t pid, std::uint32_t job = kJob, std::uint32_t initiator = 0) {
  uet::SesRequestValues r;
  r.opcode = uet::SesOpcode::kSend;
  r.job_id = job;
  r.pid_on_fep = pid;
  r.initiator = initiator;
  return r;
}
uet::PdsRequestValues syn(std::uint16_t spdcid) { return {.syn = true, .psn = 70'000, .spdcid = spdcid}; }
uet::PdsRequestValues later(std::uint16_t spdcid, std::uint16_t dpdcid) {
  return {.type = uet::PdsType::kRodReq, .psn = 70'000, .spdcid = spdcid, .dpdcid = dpdcid};
}

class UetProcessesTest : public ::testing::Test {
 protected:
  UetProcessesTest() {
    port.join(a.fabric);
    port.join(b.fabric);
  }
  ~UetProcessesTest() override {
    port.leave(*a.fabric);
    port.leave(*b.fabric);
    EXPECT_EQ(pools.in_use(), 0u);
  }

  // From the fabric.
  void give(const std::vector<std::byte>& frame) {
    Packet* const p = test::make_frame(pool, FecTable{}, frame);
    ASSERT_EQ(port.give(pool, {&p, 1}), 1u);
  }
  // To the fabric, by `process`; whether it is let through.
  bool passes(Process& process, const std::vector<std::byte>& frame) {
    process.send(frame);
    std::array<Packet*, 4> burst{};
    const std::size_t n = port.take(pool, burst);
    for (std::size_t i = 0; i < n; ++i) pool.release(burst[i]);
    return n == 1;
  }

  PacketPools pools{1, {.elided_limit = 4096, .real_limit = 1024, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  ApplicationPort port{{.name = "h1:1",
                        .mac = test::mac(2),
                        .address_v4 = test::ip("10.0.0.1"),
                        .address_v6 = test::ip("fd00::1"),
                        .mtu = 9216}};
  Process a{1}, b{2};
};

TEST_F(UetProcessesTest, APdcIsSetUpByPidAndGoesOnByNumber) {
  give(frame_of(syn(9), request(2 * 32 + 5)));
  EXPECT_TRUE(b.got());
  give(frame_of(later(9, 2 * 512 + 17), request(32)));
  EXPECT_TRUE(b.got()) << "the PDCID counts, and not the PIDonFEP";
  give(frame_of(uet::PdsAckValues{.spdcid = 9, .dpdcid = 512}, uet::SesResponseValues{}));
  EXPECT_TRUE(a.got());
  give(frame_of(uet::PdsNackValues{.spdcid = 0, .dpdcid = 1023}, uet::Ses{}));
  EXPECT_TRUE(a.got());
  give(frame_of(uet::PdsUudValues{}, request(32)));
  EXPECT_TRUE(a.got());
  EXPECT_FALSE(a.got() || b.got());
  EXPECT_EQ(port.counters().not_sent, 0u);
}

TEST_F(UetProcessesTest, WhatNobodyHasIsDropped) {
  give(frame_of(later(9, 3 * 512), request(32)));
  give(frame_of(syn(9), request(3 * 32)));
  give(frame_of(uet::PdsCpValues{.syn = true, .psn = 1, .spdcid = 10}, uet::Ses{}));
  EXPECT_FALSE(a.got() || b.got());
  EXPECT_EQ(port.counters().not_sent, 3u);
}

TEST_F(UetProcessesTest, AControlPacketOfASetupFollowsItsRequest) {
  const Frame v6{.source = test::ip("fd00::7")};
  give(frame_of(syn(10), request(2 * 32)));
  give(frame_of(syn(10), request(32), v6));
  EXPECT_TRUE(a.got() && b.got());
  const uet::PdsCpValues probe{.ctl_type = uet::CtlType::kProbe, .syn = true, .psn = 1, .spdcid = 10};
  give(frame_of(probe, uet::Ses{}));
  EXPECT_TRUE(b.got());
  give(frame_of(probe, uet::Ses{}, v6));
  EXPECT_TRUE(a.got());
}

TEST_F(UetProcessesTest, ItIsTheSameWithoutUdp) {
  give(frame_of(syn(9), request(2 * 32), {.udp = false}));
  EXPECT_TRUE(b.got());
  EXPECT_TRUE(passes(a, frame_of(syn(512), request(9, kJob, uet_initiator_of(32, 1)), {.udp = false})));
}

TEST_F(UetProcessesTest, AProcessSendsInItsOwnNameAlone) {
  const std::uint32_t own = uet_initiator_of(32, 1), other = uet_initiator_of(64, 1);
  EXPECT_TRUE(passes(a, frame_of(syn(512), request(900, kJob, own))));
  EXPECT_TRUE(passes(a, frame_of(later(1023, 7), request(900, kJob, own))));
  EXPECT_TRUE(passes(a, frame_of(uet::PdsAckValues{.spdcid = 600, .dpdcid = 9}, uet::SesResponseValues{})));
  EXPECT_TRUE(passes(a, frame_of(uet::PdsNackValues{.spdcid = 0, .dpdcid = 9}, uet::Ses{})));
  EXPECT_EQ(a.fabric->counters().forged.read(), 0u);
  EXPECT_FALSE(passes(a, frame_of(syn(1024), request(900, kJob, own)))) << "b's PDCID";
  EXPECT_FALSE(passes(a, frame_of(uet::PdsAckValues{.spdcid = 1024, .dpdcid = 9}, uet::SesResponseValues{})));
  EXPECT_FALSE(passes(a, frame_of(syn(0), request(900, kJob, own))));
  EXPECT_FALSE(passes(a, frame_of(syn(512), request(900, 1, own)))) << "another job";
  EXPECT_FALSE(passes(a, frame_of(syn(512), request(900, kJob, other)))) << "in b's name";
  EXPECT_FALSE(passes(a, frame_of(syn(512), request(900, kJob, own), {.source = test::ip("10.0.0.3")})));
  EXPECT_EQ(a.fabric->counters().forged.read(), 6u);
  auto short_one = frame_of(syn(512), request(900, kJob, own));
  short_one.resize(43);
  EXPECT_FALSE(passes(a, short_one));
  EXPECT_EQ(a.fabric->counters().malformed.read(), 1u);
}

TEST_F(UetProcessesTest, NumbersDoNotOverlap) {
  std::vector<bool> taken(1u << 16);
  for (unsigned block = 0; block < UetNumbers::kProcesses; ++block) {
    const UetNumbers n{.block = static_cast<std::uint8_t>(block)};
    for (unsigned id = n.first_pdcid(); id < n.first_pdcid() + unsigned{n.pdcids()}; ++id) {
      ASSERT_TRUE(id > 0 && id <= 0xFFFF && !taken[id]);
      ASSERT_TRUE(n.has_pdcid(static_cast<std::uint16_t>(id)));
      taken[id] = true;
    }
  }
  EXPECT_EQ(std::ranges::count(taken, true), 0xFFFF);
}

}  // namespace
}  // namespace railyard
