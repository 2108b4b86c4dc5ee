#include <gtest/gtest.h>

#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using namespace railyard::literals;

QosProfile qos(const std::string& profile) {
  return parse_small_with("qos: { default: " + profile + " }\n").qos.at("default");
}
TrafficClass class3(const std::string& keys) { return qos("{ classes: { 3: { " + keys + " } } }").classes[3]; }

TEST(Qos, TheBuiltInProfileIsForRoce) {
  const QosProfile q = parse(kSmall, "x.yaml").qos.at("default");
  EXPECT_EQ(q.trust, Trust::kDscp);
  EXPECT_EQ(q.dscp_to_class[26], 3);
  EXPECT_EQ(q.dscp_to_class[48], 6);
  EXPECT_EQ(q.pcp_to_class[5], 5);
  EXPECT_EQ(q.classes[0].weight, 50);
  EXPECT_TRUE(q.classes[3].lossless);
  EXPECT_EQ(q.classes[3].alpha_exponent, -3);
  EXPECT_EQ(q.classes[3].headroom, std::nullopt);
  EXPECT_EQ(q.classes[3].weight, 50);
  EXPECT_EQ(q.classes[3].ecn, (Ecn{true, true, {}, {}, 200'000, false, false, {}})) << "by the rate of the port";
  EXPECT_TRUE(q.classes[5].strict) << "UET's control packets";
  EXPECT_TRUE(q.classes[6].strict);
  EXPECT_EQ(q.classes[1], TrafficClass{});
}

TEST(Qos, OfOneThresholdTheOtherFollows) {
  const auto ecn = [](const std::string& said) {
    return parse(std::string(kSmall) + "qos: { default: { classes: { 3: { ecn: " + said + " } } } }\n", "x.yaml")
        .qos.at("default")
        .classes[3]
        .ecn;
  };
  EXPECT_EQ(ecn("{ kmin: 200KB }"), ecn("{ kmin: 200KB, kmax: 800KB }"));
  EXPECT_EQ(ecn("{ kmax: 800KB }"), ecn("{ kmin: 200KB, kmax: 800KB }"));
}

TEST(Qos, TheBuiltInProfileIsAddedToOthers) {
  const Lab lab = parse_small_with("qos: { storage: { classes: { 4: { lossless: true } } } }\n");
  EXPECT_EQ(lab.qos.size(), 2u);
  EXPECT_TRUE(lab.qos.at("default").classes[3].lossless);
  EXPECT_FALSE(lab.qos.at("storage").classes[3].lossless);
}

TEST(Qos, AClassThatIsNotMentionedIsLossy) {
  const QosProfile q = qos("{ classes: { 3: { lossless: true } } }");
  EXPECT_EQ(q.classes[0], TrafficClass{});
  EXPECT_EQ(q.classes[0].weight, 1);
  EXPECT_FALSE(q.classes[6].strict);
}

TEST(Qos, Maps) {
  const QosProfile q = qos("{ trust: pcp, dscp: { 26: 4, 0: 1 }, pcp: { 7: 0 }, default-class: 2 }");
  EXPECT_EQ(q.trust, Trust::kPcp);
  EXPECT_EQ(q.dscp_to_class[26], 4);
  EXPECT_EQ(q.dscp_to_class[0], 1);
  EXPECT_EQ(q.dscp_to_class[27], 3);
  EXPECT_EQ(q.pcp_to_class[7], 0);
  EXPECT_EQ(q.default_class, 2);
}

TEST(Qos, TheOldNameOfMinFrameSizeIsRead) {
  EXPECT_EQ(class3("least-frame: 128B").least_frame, class3("min-frame-size: 128B").least_frame);
  EXPECT_EQ(class3("least-frame: 128B").least_frame, 128u);
}

TEST(Qos, EveryKeyOfAClass) {
  const TrafficClass c = class3(
      "lossless: true, alpha: 1/8, headroom: 120KiB, accept-loss: true, reserved: 9472B, xon-offset: 20KiB, "
      "queue-reserved: 1KiB, "
      "weight: 50, path: spray, remap-to: 4, min-frame-size: 128B");
  EXPECT_TRUE(c.lossless);
  EXPECT_EQ(c.alpha_exponent, -3);
  EXPECT_EQ(c.headroom, 120_KiB);
  EXPECT_TRUE(c.accept_loss);
  EXPECT_EQ(c.reserved, 9472_B);
  EXPECT_EQ(c.xon_offset, 20_KiB);
  EXPECT_EQ(c.queue_reserved, 1_KiB);
  EXPECT_EQ(c.weight, 50);
  EXPECT_EQ(c.path.policy, PathPolicy::kSpray);
  EXPECT_EQ(c.remap_to, 4);
  EXPECT_EQ(c.least_frame, 128u);
  EXPECT_EQ(class3("xoff: 256KiB").xoff, 256_KiB);
  EXPECT_EQ(class3("queue-alpha: 4").queue_alpha_exponent, 2);
  EXPECT_EQ(class3("queue-limit: 120KB").queue_limit, Bytes{120'000});
  EXPECT_TRUE(class3("trim: { dscp: 40, class: 5, which: coin }").trim->coin);
  EXPECT_FALSE(class3("trim: { dscp: 40, class: 5 }").trim->coin);
  EXPECT_EQ(class3("lossless: true, headroom: auto").headroom, std::nullopt);
  EXPECT_TRUE(class3("strict: true").strict);
  EXPECT_EQ(class3("").remap_to, -1);
}

TEST(Qos, APathIsAPolicyOrAMapWithItsSettings) {
  EXPECT_EQ(class3("").path, PathSpec{});
  EXPECT_EQ(class3("path: adaptive").path, (PathSpec{.policy = PathPolicy::kAdaptive}));
  EXPECT_EQ(class3("path: { policy: flowlet, gap: 20us }").path,
            (PathSpec{.policy = PathPolicy::kFlowlet, .gap = 20_us}));
  EXPECT_EQ(class3("path: { policy: spray, order: least-loaded }").path,
            (PathSpec{.policy = PathPolicy::kSpray, .order = SprayOrder::kLeastLoaded}));
  EXPECT_EQ(class3("path: spray").path, (PathSpec{.policy = PathPolicy::kSpray, .order = SprayOrder::kShuffled}));
  EXPECT_EQ(class3("path: drill").path, (PathSpec{.policy = PathPolicy::kDrill, .choices = 2, .memory = 1}));
  EXPECT_EQ(class3("path: { policy: drill, choices: 3, memory: 0 }").path,
            (PathSpec{.policy = PathPolicy::kDrill, .choices = 3, .memory = 0}));
  EXPECT_EQ(class3("path: { policy: adaptive, per: flowlet, gap: 5us, bands: 4, band: 2us }").path,
            (PathSpec{.policy = PathPolicy::kAdaptive, .per_flowlet = true, .gap = 5_us, .bands = 4, .band = 2_us}));
  EXPECT_EQ(class3("path: { policy: adaptive, sample-every: 1us }").path,
            (PathSpec{.policy = PathPolicy::kAdaptive, .sampling = {1_us, 3}}));
  EXPECT_EQ(class3("path: { policy: adaptive, sample-every: 2.5us, average: 1/256 }").path,
            (PathSpec{.policy = PathPolicy::kAdaptive, .sampling = {2500_ns, 8}}));
  EXPECT_EQ(class3("path: { policy: adaptive, global: true }").path,
            (PathSpec{.policy = PathPolicy::kAdaptive, .global = true, .report_every = 10_us}));
  EXPECT_EQ(class3("path: { policy: adaptive, global: true, report-every: 500ns }").path,
            (PathSpec{.policy = PathPolicy::kAdaptive, .global = true, .report_every = 500_ns}));
}

TEST(Qos, Ecn) {
  EXPECT_FALSE(class3("").ecn.enabled);
  EXPECT_FALSE(class3("ecn: off").ecn.enabled);
  const Ecn automatic = class3("ecn: auto").ecn;
  EXPECT_TRUE(automatic.enabled);
  EXPECT_TRUE(automatic.auto_thresholds);
  EXPECT_EQ(class3("ecn: {}").ecn, automatic);
  EXPECT_TRUE(class3("ecn: { pmax: 1/100 }").ecn.auto_thresholds);
  EXPECT_EQ(class3("ecn: { pmax: 1/100 }").ecn.pmax_ppm, 10'000u);
  EXPECT_EQ(class3("ecn: { kmin: 5KB, kmax: 200KB, pmax: 1%, mark: dequeue, drop-not-ect: true }").ecn,
            (Ecn{true, false, 5_KB, 200_KB, 10'000, true, true, {}}));
}

TEST(Qos, EarlyDrops) {
  EXPECT_FALSE(class3("").drop.any());
  EXPECT_FALSE(class3("drop: off").drop.any());
  const WredRamp ramp{800_KB, 1600_KB, 100'000};
  EXPECT_EQ(class3("drop: { min: 800KB, max: 1600KB }").drop, (Wred{ramp, {}, {}}));
  EXPECT_EQ(class3("drop: { min: 800KB, max: 1600KB, not-ect: { min: 1KB, max: 9KB, probability: 50% } }").drop,
            (Wred{ramp, {}, WredRamp{1_KB, 9_KB, 500'000}}));
  EXPECT_EQ(class3("drop: { ect: { min: 800KB, max: 1600KB, probability: 10% } }").drop, (Wred{{}, ramp, {}}));
}

TEST(Qos, PfcAndWhatIsOtherByRate) {
  EXPECT_EQ(class3("lossless: true").pfc, PfcMode::kAuto);
  EXPECT_EQ(class3("lossless: true, pfc: off").pfc, PfcMode::kOff);
  EXPECT_EQ(class3("pfc: rx").pfc, PfcMode::kRx);
  const TrafficClass c = class3(
      "lossless: true, xoff: 100KB, by-rate: { 400Gbps: { xoff: 800KB, xon-offset: 36KB, headroom: 200KB, pfc: rx }, "
      "25Gbps: { alpha: 1/4 } }");
  ASSERT_EQ(c.by_rate.size(), 2u);
  EXPECT_EQ(c.by_rate.at(400_Gbps), (ClassOverride{PfcMode::kRx, {}, 800_KB, 36_KB, 200_KB, {}}));
  EXPECT_EQ(c.by_rate.at(25_Gbps), (ClassOverride{PfcMode::kAuto, -2, {}, {}, {}, {}}));
}

// --set qos.default.classes.3.lossless=false, with all that the class says for when it is lossless.
TEST(Qos, ALosslessClassCanBeTurnedLossyAndBack) {
  const std::string keys = "headroom: 100KiB, accept-loss: true, xon-offset: 4KiB";
  const TrafficClass lossless = class3("lossless: true, " + keys);
  TrafficClass lossy = class3("lossless: false, " + keys);
  EXPECT_FALSE(lossy.lossless);
  lossy.lossless = true;
  EXPECT_EQ(lossy, lossless);
  const Lab turned = parse_small_with("qos: { default: { classes: { 3: { lossless: true, " + keys + " } } } }\n",
                                      {"qos.default.classes.3.lossless=false"});
  EXPECT_FALSE(turned.qos.at("default").classes[3].lossless);
  EXPECT_TRUE(parse(to_yaml(turned), "shown") == turned);
}

TEST(Qos, AutomaticThresholdsAreFourAndSixteenKilobytesPerGigabit) {
  EXPECT_EQ(automatic_kmin(100_Gbps), 400_KB);
  EXPECT_EQ(automatic_kmax(100_Gbps), 1600_KB);
  EXPECT_EQ(automatic_kmin(BitRate{25'000'000'000}), 100_KB);
}

TEST(Profiles, EveryKeyOfASwitch) {
  const SwitchProfile s =
      parse_small_with(
          "switches: { default: { buffer: 16MiB, cell: 192B, latency: 1us, pause-response: 2us, pause-quanta: "
          "1000, mode: cut-through, ecmp: { fields: [ports, ingress-port], seed: 7 }, qos: default } }\n")
          .switches.at("default");
  EXPECT_EQ(s.buffer, 16_MiB);
  EXPECT_EQ(s.cell, 192_B);
  EXPECT_EQ(s.latency, 1_us);
  EXPECT_EQ(s.pause_response, 2_us);
  EXPECT_EQ(s.pause_quanta, 1000);
  EXPECT_EQ(s.mode, ForwardingMode::kCutThrough);
  EXPECT_EQ(s.ecmp, (EcmpSpec{.addresses = false, .ports = true, .ingress_port = true, .seed = 7}));
}

TEST(Profiles, DoNotInheritFromDefault) {
  const Lab lab = parse_small_with("switches: { default: { buffer: 16MiB }, other: {} }\n");
  EXPECT_EQ(lab.switches.at("other").buffer, 32_MiB);
}

TEST(Profiles, EveryKeyOfAHost) {
  const HostProfile h =
      parse_small_with(
          "hosts: { default: { latency: 1us, pause-response: 2us, pause-quanta: 1000, clock-error: 50.5ppm, "
          "receive: { rate: 50Gbps, buffer: 2MiB, xoff: 300KiB, xon: 200KiB } } }\n")
          .hosts.at("default");
  EXPECT_EQ(h.latency, 1_us);
  EXPECT_EQ(h.pause_response, 2_us);
  EXPECT_EQ(h.pause_quanta, 1000);
  EXPECT_EQ(h.clock_error_ppb, 50'500u);
  EXPECT_EQ(h.receive, (ReceiveSpec{50_Gbps, 2048_KiB, 300_KiB, 200_KiB}));
}

TEST(Run, EveryKey) {
  const RunSpec r =
      parse(kSmall.substr(0, kSmall.find("run:")) +
                "run: { clock: wall, seed: 7, duration: 10ms, drain: 2ms, scale: 1/100, workers: 4, payload: real, "
                "memory: 1GiB, hugepages: true, lag-limit: 5ms, polling: latency }\n",
            "x.yaml")
          .run;
  EXPECT_EQ(r.clock, Clock::kWall);
  EXPECT_EQ(r.seed.value, 7u);
  EXPECT_EQ(r.duration, 10_ms);
  EXPECT_EQ(r.drain, 2_ms);
  EXPECT_EQ(r.scale_numerator, 1);
  EXPECT_EQ(r.scale_denominator, 100);
  EXPECT_EQ(r.workers, 4);
  EXPECT_EQ(r.payload, Payload::kReal);
  EXPECT_EQ(r.memory, 1024_MiB);
  EXPECT_TRUE(r.hugepages);
  EXPECT_EQ(r.lag_limit, 5_ms);
  EXPECT_EQ(r.polling, Polling::kLatency);
}

TEST(Run, TheOldNameOfPollingIsReadWithItsOldWords) {
  const auto polling = [](const std::string& key) {
    return parse(kSmall.substr(0, kSmall.find("run:")) + "run: { clock: wall, " + key + " }\n", "x.yaml").run.polling;
  };
  EXPECT_EQ(polling("idle: busy"), Polling::kLatency);
  EXPECT_EQ(polling("idle: adaptive"), Polling::kBalanced);
  EXPECT_EQ(polling("polling: idle"), Polling::kIdle);
}

TEST(Traffic, EveryKey) {
  const TrafficSpec t =
      parse_small_with(
          "traffic: [{ name: t, pattern: incast, from: [h1, h2], to: h1, fan-in: 1, flows: 2, ip: 6, dscp: 10, ecn: "
          "false, class: 1, "
          "payload: 1KiB, rate: 5Gbps, bytes: 1MiB, start: 1us, stagger: 2us, stop: 500us, on: 10us, off: 90us }]\n")
          .traffic.at(0);
  EXPECT_EQ(t.pattern, TrafficSpec::Pattern::kIncast);
  EXPECT_EQ(t.from, (std::vector<std::string>{"h1", "h2"}));
  EXPECT_EQ(t.to, (std::vector<std::string>{"h1"}));
  EXPECT_EQ(t.fan_in, 1);
  EXPECT_EQ(t.flows, 2);
  EXPECT_EQ(t.ip_version, 6);
  EXPECT_EQ(t.dscp, 10);
  EXPECT_FALSE(t.ect);
  EXPECT_EQ(t.priority, 1);
  EXPECT_EQ(t.payload, 1024u);
  EXPECT_EQ(t.rate, 5_Gbps);
  EXPECT_EQ(t.bytes, 1_MiB);
  EXPECT_EQ(t.start, 1_us);
  EXPECT_EQ(t.stagger, 2_us);
  EXPECT_EQ(t.stop, 500_us);
  EXPECT_EQ(t.on, 10_us);
  EXPECT_EQ(t.off, 90_us);
}

}  // namespace
}  // namespace railyard::spec
