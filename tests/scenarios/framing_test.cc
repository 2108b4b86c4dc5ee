// What a frame takes of a link besides its own octets is the link's: for rates and arrivals, for what lossless classes
// set aside, and for what reports call a flow's limit.
#include <cstdint>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

struct FramingCase {
  const char* name;
  const char* keys;    // of the link
  const char* traffic;
  int headers;  // of a frame, FCS included
  int around;
};

void PrintTo(const FramingCase& c, std::ostream* os) { *os << c.name; }

class LinkFraming : public testing::TestWithParam<FramingCase> {};

constexpr const char* kGenerated = "payload: 4096B";
constexpr const char* kRoce = "transport: roce, operation: send, message: 1MiB, outstanding: 2";
constexpr const char* kUet = "transport: uet, path-mtu: 4096, message: 1MiB, outstanding: 2";
constexpr const char* kMacsec = "{ preamble: 40, gap: 12 }";
constexpr const char* kModel = "{ preamble: -42, gap: 0 }";

// 16 MiB in 4096 packets, over two switches at 100 Gb/s: what they take at the first link, and no more than the way
// of the last one and of its acknowledgement.
TEST_P(LinkFraming, AFlowIsAsFastAsItsFramingLetsItBe) {
  const FramingCase c = GetParam();
  Scenario s(std::string("name: framing\ndefaults: { link: { rate: 100Gbps, framing: ") + c.keys +
             " } }\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n" +
             "hosts: { default: { uet: { path-policy: single } } }\n" +
             "traffic: [ { name: t, from: h1, to: h2, bytes: 16MiB, " + c.traffic + " } ]\n");
  s.run_to_the_end();
  const report::Report r = s.report();
  const report::FlowReport& f = r.flows.at(0);
  ASSERT_TRUE(f.fct_ns.has_value());
  const double wire = 4096.0 * (4096 + c.headers + c.around) * 0.08;
  EXPECT_NEAR(f.limit_bps, 100e9 * 4096 / (4096 + c.headers + c.around), 1e6);
  EXPECT_GT(static_cast<double>(*f.fct_ns), wire);
  EXPECT_LT(static_cast<double>(*f.fct_ns), wire + 15'000);
  // Two store and forward hops, cables and switches of 600 ns; with QPs the handshake comes first.
  EXPECT_NEAR(static_cast<double>(*f.fct_ns), static_cast<double>(*f.ideal_ns), 0.01 * wire);
}

INSTANTIATE_TEST_SUITE_P(Links, LinkFraming,
                         testing::Values(FramingCase{"generator_macsec", kMacsec, kGenerated, 62, 52},
                                         FramingCase{"generator_model", kModel, kGenerated, 62, -42},
                                         FramingCase{"roce_macsec", kMacsec, kRoce, 62, 52},
                                         FramingCase{"roce_model", kModel, kRoce, 62, -42},
                                         FramingCase{"uet_macsec", kMacsec, kUet, 106, 52},
                                         FramingCase{"uet_model", kModel, kUet, 106, -42}),
                         [](const auto& c) { return std::string(c.param.name); });

// A rate is one on the wire: of the generator, of a RoCE and of a UET flow.
TEST(Framing, CountsForTheRateOfAFlow) {
  for (const auto& [traffic, headers] : {std::pair{kGenerated, 62}, std::pair{kRoce, 62}, std::pair{kUet, 106}})
    for (const auto& [keys, around] : {std::pair{kMacsec, 52}, std::pair{kModel, -42}}) {
      Scenario s(std::string("name: framing\ndefaults: { link: { rate: 100Gbps, framing: ") + keys +
                 " } }\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n" +
                 "traffic: [ { name: t, from: h1, to: h2, rate: 10Gbps, bytes: 16MiB, " + traffic + " } ]\n");
      s.run_to_the_end();
      const report::Report r = s.report();
      ASSERT_TRUE(r.flows[0].fct_ns.has_value());
      const double wire = 4096.0 * (4096 + headers + around) * 0.8;
      EXPECT_NEAR(static_cast<double>(*r.flows[0].fct_ns), wire, 0.005 * wire) << traffic << keys;
    }
}

// Frames that take less of the wire come the faster: `headroom: auto` is enough for them, too.
TEST(Framing, LosslessClassesLoseNothing) {
  for (const char* keys : {kMacsec, kModel})
    for (const char* mode : {"store-and-forward", "cut-through"}) {
      Scenario s(std::string("name: framing\ndefaults: { link: { rate: 100Gbps, cable: 30m, framing: ") + keys +
                 " } }\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n" +
                 "switches: { default: { buffer: 32MiB, mode: " + mode + " } }\n" +
                 "qos: { default: { classes: { 3: { lossless: true, alpha: 1/128 } } } }\n" +
                 "traffic: [ { name: t, pattern: incast, from: h*, to: h1, payload: 64B, bytes: 1MiB } ]\n");
      s.run_to_the_end();
      EXPECT_EQ(s.dropped(), 0u) << keys << mode;
      EXPECT_GT(s.at("leaf1:1", 3).tx_packets, 7 * 16383u);
      std::uint64_t xoffs = 0;
      for (const auto& d : s.lab().fabric().devices())
        for (const PortCounters& p : d->counters().ports) xoffs += p.classes[3].xoff_sent;
      EXPECT_GT(xoffs, 0u) << "or nothing was to be seen";
      s.expect_books_balance();
    }
}

}  // namespace
}  // namespace railyard::test
