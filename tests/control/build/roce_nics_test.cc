// Traffic over RoCE as endpoints and QPs.
#include "control/build/roce_nics.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/build/built_lab.h"
#include "control/build/nic_clocks.h"
#include "control/spec/load.h"
#include "dataplane/nic/split_endpoint.h"

namespace railyard::build {
namespace {

using namespace literals;

spec::Lab lab(const std::string& traffic, const std::string& hosts = "{}", const std::string& run = "") {
  return spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }\nhosts: { default: " +
                         hosts + " }\ntraffic:\n" + traffic + run,
                     "x.yaml");
}
const std::string kRoce = "  - { name: r, from: h1, to: h2, transport: roce, bytes: 1MB }\n";

// Of the only QP of a flow, at its source.
const roce::Qp& qp_of(const Flow& f, std::uint32_t number = 0x100) {
  return *f.source->engine().qp(roce::QpNumber{number});
}

TEST(RoceNics, QpsAreConnectedAndInRts) {
  BuiltLab built(
      lab(kRoce, "{ roce: { ack-timeout: 7, retry-count: 3, rnr-retry: 2, min-rnr-timer: 5, max-reads: 4 } }"));
  const Flow& f = built.flows()[0];
  ASSERT_TRUE(f.is_roce());
  EXPECT_TRUE(f.measured());
  const roce::QpInfo& qp = qp_of(f).info;
  EXPECT_EQ(qp.state, roce::QpState::kRts);
  EXPECT_EQ(qp.attributes.timeout, 7);
  EXPECT_EQ(qp.attributes.retry_cnt, 3);
  EXPECT_EQ(qp.attributes.rnr_retry, 2);
  EXPECT_EQ(qp.attributes.min_rnr_timer, 5);
  EXPECT_EQ(qp.attributes.max_rd_atomic, 4);
  EXPECT_EQ(qp.path_mtu, 4096u);
  EXPECT_EQ(qp.attributes.av.destination, built.spec().find("h2")->nics[0].address_v4);
  const roce::QpInfo& peer = f.sink->engine().qp(roce::QpNumber{qp.attributes.dest_qpn})->info;
  EXPECT_EQ(peer.attributes.dest_qpn, qp.number.value);
  EXPECT_EQ(peer.attributes.rq_psn, qp.attributes.sq_psn);
  EXPECT_EQ(peer.attributes.av.source_port, qp.attributes.av.source_port);
}

TEST(RoceNics, QpsOfAFlowDifferInTheirUdpPortsAndPsns) {
  BuiltLab built(lab("  - { name: r, from: h1, to: h2, transport: roce, bytes: 1MB, qps: 32 }\n"));
  std::set<std::uint16_t> ports;
  std::set<std::uint32_t> psns;
  for (std::uint32_t q = 0; q < 32; ++q) {
    const roce::QpAttributes& a = qp_of(built.flows()[0], 0x100 + q).info.attributes;
    EXPECT_GE(a.av.source_port, 0xC000);
    ports.insert(a.av.source_port);
    psns.insert(a.sq_psn);
  }
  EXPECT_GE(ports.size(), 31u);
  EXPECT_EQ(psns.size(), 32u);
}

// Frames of the generator keep their QP numbers; those of QPs come behind.
TEST(RoceNics, OnlyANicWithBothHasTwoEndpoints) {
  const std::string generator = "  - { name: g, from: [h1, h3], to: [h2, h2], bytes: 4KiB }\n";
  BuiltLab built(lab(generator + "  - { name: r, from: h1, to: h3, transport: roce, bytes: 1MB }\n"));
  const auto is_split = [&](const char* host) {
    return dynamic_cast<SplitEndpoint*>(built.host(host).endpoint(PortIndex{0})) != nullptr;
  };
  EXPECT_TRUE(is_split("h1"));
  EXPECT_FALSE(is_split("h2"));
  EXPECT_TRUE(is_split("h3"));
  EXPECT_NE(dynamic_cast<TrafficGenerator*>(built.host("h2").endpoint(PortIndex{0})), nullptr);
  BuiltLab alone(lab(kRoce));
  EXPECT_NE(dynamic_cast<roce::FlowEndpoint*>(alone.host("h1").endpoint(PortIndex{0})), nullptr);
  alone.stop_traffic(Instant{});  // its generators are gone, and nobody asks them

  BuiltLab received(lab("  - { name: g, from: [h2, h3], to: h1, bytes: 4KiB }\n" + kRoce));
  const Flow& f = received.flows().back();
  EXPECT_NE(f.source->engine().qp(roce::QpNumber{0x102}), nullptr) << "behind two flows that end here";
  EXPECT_EQ(f.source->engine().qp(roce::QpNumber{0x101}), nullptr);
}

TEST(RoceNics, DcqcnBeginsAtTheRateOfTheLinkWithTheParametersThatAreSaid) {
  BuiltLab none(lab(kRoce, "{ roce: { congestion: none } }"));
  EXPECT_EQ(qp_of(none.flows()[0]).congestion.get<roce::Dcqcn>(), nullptr);
  BuiltLab built(lab(kRoce, "{ roce: { congestion: dcqcn, dcqcn: { profile: vendor, initial-alpha: 1/2 } } }"));
  const roce::Dcqcn* const dcqcn = qp_of(built.flows()[0]).congestion.get<roce::Dcqcn>();
  ASSERT_NE(dcqcn, nullptr);
  EXPECT_EQ(dcqcn->target(), 100e9);
  EXPECT_EQ(dcqcn->alpha(), 0.5);
}

// W_init is B x T. T is a packet of 4096 octets there, with 86 octets of headers (IPv6) and 66 of telemetry, and an ACK
// of 90 and 66 back; 8 octets of preamble each. Two links of 100 Gb/s and 3 m, 600 ns in the switch and in the NIC.
TEST(RoceNics, HpccBeginsWithTheLongestRoundTripOfTheLab) {
  const auto window = [](const std::string& keys, const std::string& traffic) {
    BuiltLab built(lab(traffic, "{ roce: { congestion: hpcc, hpcc: { " + keys + " } } }"));
    return qp_of(built.flows()[0]).congestion.get<roce::Hpcc>()->window();
  };
  const auto t_ns = [](int data) { return 2 * (data + 90 + 66 + 2 * 8) * 0.08 + 2 * (2 * 15 + 2 * 600); };
  EXPECT_NEAR(window("", kRoce), 100.0 / 8 * t_ns(4096 + 86 + 66), 1);
  const std::string small = "  - { name: s, from: h1, to: h2, transport: roce, bytes: 1MB, path-mtu: 1024 }\n";
  EXPECT_NEAR(window("", small), 100.0 / 8 * t_ns(1024 + 86 + 66), 1);
  EXPECT_NEAR(window("", small + kRoce), 100.0 / 8 * t_ns(4096 + 86 + 66), 1) << "one T for all";
  EXPECT_NEAR(window("base-rtt: 10us", kRoce), 125'000, 1e-6);
}

// Only where a NIC reads telemetry are frames let through that are longer by it.
TEST(RoceNics, OnlyLabsWithHpccHaveRoomForTelemetry) {
  BuiltLab none(lab(kRoce, "{ roce: { congestion: dcqcn } }"));
  EXPECT_EQ(none.switch_named("leaf1").config().telemetry_octets, 0u);
  BuiltLab hpcc(lab(kRoce, "{ roce: { congestion: hpcc } }"));
  EXPECT_EQ(hpcc.switch_named("leaf1").config().telemetry_octets, 66u);
}

TEST(RoceNics, OnlySinksOfRealPayloadHaveMemory) {
  BuiltLab elided(lab(kRoce));
  EXPECT_FALSE(elided.flows()[0].sink->has_real_payload());
  BuiltLab real(lab(kRoce, "{}", "run: { payload: real }\n"));
  EXPECT_TRUE(real.flows()[0].sink->has_real_payload());
}

TEST(RoceNics, AFlowSaysWhatItsTrafficSays) {
  BuiltLab built(
      lab("  - { name: r, from: h1, to: h2, transport: roce, operation: send, message: 3KB, outstanding: 7, qps: 2, "
          "receives: 9, repost-after: 4us, rate: 5Gbps, bytes: 1MB, start: 2us, stop: 90us, ecn: false, dscp: 10 }\n",
          "{}", "run: { duration: 50us }\n"));
  const Flow& f = built.flows()[0];
  const roce::FlowConfig& c = f.roce_config();
  EXPECT_EQ(c.operation, roce::FlowOperation::kSend);
  EXPECT_EQ(c.message, 3000u);
  EXPECT_EQ(c.outstanding, 7u);
  EXPECT_EQ(c.qps, 2u);
  EXPECT_EQ(c.receives, 9u);
  EXPECT_EQ(c.repost_after, 4_us);
  EXPECT_EQ(c.total, 1_MB);
  EXPECT_EQ(c.start, Instant{} + 2_us + NicClocks(built.spec()).phase({"h1", 1}, 4096)) << "by the phase of the NIC";
  EXPECT_EQ(c.stop, Instant{} + 50_us);
  EXPECT_EQ(f.priority, Priority{1});
  EXPECT_FALSE(f.ect);
  EXPECT_EQ(qp_of(f).rate_limit, 2500_Mbps);
  EXPECT_FALSE(qp_of(f).info.attributes.av.ect);
}

}  // namespace
}  // namespace railyard::build
