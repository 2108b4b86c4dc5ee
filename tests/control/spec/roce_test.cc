// What a fabric file says of RoCE, and what it may not.
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

// Four hosts under two leaves; `keys` of the only traffic begin in column 16 of line 5.
std::string file_with(const std::string& keys, const std::string& more = "", const std::string& run = "duration: 1ms") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\nrun: { " + run +
         " }\ntraffic:\n  - { name: t, " + keys + " }\n" + more;
}
std::string roce_error(const std::string& keys, const std::string& more = "",
                       const std::string& run = "duration: 1ms") {
  return error_of(file_with(keys, more, run));
}
// Of hosts.default.roce, whose keys begin in column 28 of line 6.
std::string nic_error(const std::string& keys) {
  return roce_error("from: h1, to: h2, transport: roce", "hosts: { default: { roce: { " + keys + " } } }\n");
}

TEST(RoceSpec, TrafficIsTheGeneratorsUnlessItSaysOtherwise) {
  const Lab plain = parse(file_with("from: h1, to: h2"), "x.yaml");
  EXPECT_EQ(plain.traffic[0].transport, TrafficSpec::Transport::kGenerator);
  EXPECT_TRUE(plain == parse(file_with("from: h1, to: h2, transport: generator"), "x.yaml"));
}

TEST(RoceSpec, EveryKeyOfTrafficIsRead) {
  const Lab l = parse(file_with("from: h1, to: h2, transport: roce, operation: send, message: 64KiB, outstanding: 16, "
                                "path-mtu: 1024, qps: 3, receives: 5, repost-after: 2us, bytes: 999999B"),
                      "x.yaml");
  const TrafficSpec& t = l.traffic[0];
  EXPECT_EQ(t.transport, TrafficSpec::Transport::kRoce);
  EXPECT_TRUE(t.roce == (RoceTraffic{RoceOperation::kSend, 65536, 16, 1024, 3, 5, Duration{2'000'000}}));
  EXPECT_EQ(t.bytes.n, 999'999);
}

TEST(RoceSpec, UnreliableConnectionsCarryWhatNobodyAnswers) {
  EXPECT_EQ(parse(file_with("from: h1, to: h2, transport: roce"), "x.yaml").traffic[0].roce.qp_type, RoceQpType::kRc);
  const Lab l = parse(file_with("from: h1, to: h2, transport: roce, qp-type: uc, operation: send"), "x.yaml");
  EXPECT_TRUE(l.traffic[0].is_uc());
  EXPECT_EQ(roce_error("from: h1, to: h2, transport: roce, qp-type: uc, operation: read"),
            "x.yaml:5:75: traffic.0.operation: UC supports only write and send; use qp-type: rc for read");
  EXPECT_EQ(roce_error("from: h1, to: h2, transport: uet, qp-type: uc"),
            "x.yaml:5:59: traffic.0.qp-type: does not apply here; expected transport: roce");
  EXPECT_EQ(roce_error("from: h1, to: h2, transport: roce, qp-type: ud"),
            "x.yaml:5:60: traffic.0.qp-type: unknown 'ud'; did you mean 'uc'? Expected rc or uc");
}

TEST(RoceSpec, EveryKeyOfNicsIsRead) {
  const Lab l = parse(
      file_with(
          "from: h1, to: h2",
          "hosts: { default: { roce: { congestion: dcqcn, ack-timeout: 8, retry-count: 3, rnr-retry: 2, min-rnr-timer: "
          "5, ack-every: 16, window: 1000, max-reads: 4, cnp: { interval: 10us, scope: port, dscp: 40, class: 5 }, "
          "dcqcn: { rpg-ai-rate: 20Mbps, profile: vendor, cut: periodic, dce-tcp-rtt: 2us, rate-reduce-monitor-period: "
          "5us, rpg-time-reset: 100us, rpg-byte-reset: 1MB, rpg-threshold: 3, g: 1/256, initial-alpha: 1, alpha-steps: "
          "exact, rpg-hai-rate: 200Mbps, rpg-min-rate: 1Gbps, rpg-max-rate: 50Gbps, rpg-min-dec-fac: 1/4, "
          "clamp-tgt-rate: true, clamp-tgt-rate-after-time-inc: false, rate-to-set-on-first-cnp: 30Gbps } } } }\n"),
      "x.yaml");
  const RoceNicSpec& r = l.hosts.at("default").roce;
  roce::DcqcnConfig d;
  d.profile = roce::DcqcnConfig::Profile::kVendor;
  d.cut_at_once = false;
  d.alpha_period = {2'000'000};
  d.cut_period = {5'000'000};
  d.increase_period = {100'000'000};
  d.increase_bytes = {1'000'000};
  d.fast_recovery = 3;
  d.g = {1, 256};
  d.initial_alpha = {1, 1};
  d.alpha_steps = 0;
  d.additive = {20'000'000};
  d.hyper = {200'000'000};
  d.least = {1'000'000'000};
  d.most = {50'000'000'000};
  d.least_cut_factor = {1, 4};
  d.clamp_target = true;
  d.clamp_target_after_increase = false;
  d.on_first_cnp = {30'000'000'000};
  EXPECT_TRUE(r.settings_of<roce::Dcqcn>() == d);
  EXPECT_TRUE(r.cnp == (CnpSpec{Duration{10'000'000}, CnpSpec::Scope::kPort, 40, 5}));
  EXPECT_TRUE(r.is_controlled_by<roce::Dcqcn>());
  EXPECT_EQ(r.ack_timeout, 8);
  EXPECT_EQ(r.retry_count, 3);
  EXPECT_EQ(r.rnr_retry, 2);
  EXPECT_EQ(r.min_rnr_timer, 5);
  EXPECT_EQ(r.ack_every, 16);
  EXPECT_EQ(r.window, 1000);
  EXPECT_EQ(r.max_reads, 4);
}

// A profile is what the other keys begin as, wherever in the map it stands.
TEST(RoceSpec, AProfileSetsWhatIsNotSaid) {
  const auto dcqcn = [](const std::string& keys) {
    return parse(file_with("from: h1, to: h2", "hosts: { default: { roce: { dcqcn: { " + keys + " } } } }\n"), "x.yaml")
        .hosts.at("default")
        .roce.settings_of<roce::Dcqcn>();
  };
  EXPECT_TRUE(dcqcn("profile: paper") == roce::DcqcnConfig::of(roce::DcqcnConfig::Profile::kPaper));
  EXPECT_TRUE(dcqcn("profile: vendor") == roce::DcqcnConfig{}) << "what NICs ship with";
  EXPECT_TRUE(dcqcn("cut: periodic") == roce::DcqcnConfig{});
  EXPECT_EQ(dcqcn("rpg-ai-rate: 7Mbps, profile: vendor").increase_period, Duration{300'000'000});
}

// ---- rping ---------------------------------------------------------------------------------------------------------

constexpr const char* kServe = "hosts: { default: { roce: { services: [rping-server] } } }\n";

TEST(RpingSpec, EveryKeyIsRead) {
  const Lab l = parse(file_with("from: h1, to: h2, transport: roce, operation: rping, rping: { size: 1000B, count: 7, "
                                "path-mtu: 256, retry-after: 1ms }",
                                "hosts: { default: { roce: { services: [rping-server], cm-response-timeout: 12, "
                                "cm-retries: 3 } } }\n"),
                      "x.yaml");
  EXPECT_EQ(l.traffic[0].roce.operation, RoceOperation::kRping);
  EXPECT_TRUE(l.traffic[0].roce.rping == (RpingTraffic{1000, 7, 7174, 256, Duration{1'000'000'000}}));
  const RoceNicSpec& r = l.hosts.at("default").roce;
  EXPECT_EQ(r.services, std::vector{RoceService::kRpingServer});
  EXPECT_EQ(r.cm_response_timeout, 12);
  EXPECT_EQ(r.cm_retries, 3);
}

TEST(RpingErrors, WhatMakesNoSense) {
  const auto wrong = [](const std::string& keys, const std::string& more = kServe) {
    return roce_error("from: h1, to: h2, transport: roce, operation: rping" + keys, more);
  };
  EXPECT_EQ(wrong(""), "(no error)");
  EXPECT_EQ(wrong(", rping: { size: 25B }"),
            "x.yaml:5:84: traffic.0.rping.size: 25B is out of range; expected 26B..65535B");
  EXPECT_EQ(wrong(", rping: { count: 0 }"),
            "x.yaml:5:85: traffic.0.rping.count: 0 is out of range; expected 1..1000000000");
  EXPECT_EQ(wrong(", message: 1MB"),
            "x.yaml:5:78: traffic.0.message: does not apply here; expected other operations; of pings, rping "
            "has size, path-mtu and count");
  EXPECT_EQ(wrong(", qps: 2"),
            "x.yaml:5:74: traffic.0.qps: does not apply here; expected other operations; a client of rping "
            "has one QP and one ping under way");
  EXPECT_EQ(roce_error("from: h1, to: h2, transport: roce, rping: { count: 1 }"),
            "x.yaml:5:58: traffic.0.rping: does not apply here; expected operation: rping");
  EXPECT_EQ(
      wrong("", ""),
      "x.yaml:5:30: traffic.0.to: h2:1 has no rping server; expected hosts.default.roce.services: [rping-server]");
  EXPECT_EQ(wrong(", rping: { port: 7175 }"),
            "x.yaml:5:84: traffic.0.rping.port: h2:1 is built in and listens on port 7174");
  EXPECT_EQ(wrong(", rping: { path-mtu: 4096 }", std::string(kServe) + "defaults: { link: { mtu: 1500 } }\n"),
            "x.yaml:5:88: traffic.0.rping.path-mtu: 4KiB and 60 bytes of headers make packets of 4156; the MTU from "
            "h1:1 to h2:1 is 1500; expected path-mtu: 1024");
  EXPECT_EQ(nic_error("services: [rping]"),
            "x.yaml:6:40: hosts.default.roce.services.0: unknown 'rping'; did you mean 'rping-server'? Expected "
            "rping-server, udaddy-server or atomics-server");
  EXPECT_EQ(nic_error("services: [rping-server, rping-server]"),
            "x.yaml:6:39: hosts.default.roce.services: names a service twice");
}

TEST(RpingErrors, WithoutEndTheRunNeedsOne) {
  const std::string endless = "from: h1, to: h2, transport: roce, operation: rping";
  EXPECT_EQ(roce_error(endless, kServe, "seed: 1"),
            "x.yaml:5:5: traffic.0: never ends, nor does the run; expected bytes or stop here, or run.duration");
  EXPECT_EQ(roce_error(endless + ", rping: { count: 3 }", kServe, "seed: 1"), "(no error)");
}

// An attached host is no server that we know of: it may be one.
TEST(RpingErrors, AnAttachedHostMayServe) {
  EXPECT_EQ(roce_error("from: h2, to: h1, transport: roce, operation: rping",
                       "nodes: { h1: { attach: { vhost-user: /tmp/x.sock } } }\n", "clock: wall"),
            "(no error)");
}

TEST(RoceErrors, KeysOfTraffic) {
  EXPECT_EQ(roce_error("from: h1, to: h2, transport: rocev2"),
            "x.yaml:5:45: traffic.0.transport: unknown 'rocev2'; did you mean 'roce'? Expected generator, roce or uet");
  const auto wrong = [](const std::string& key) { return roce_error("from: h1, to: h2, transport: roce, " + key); };
  EXPECT_EQ(wrong("operaton: read").substr(0, 74),
            "x.yaml:5:51: traffic.0: unknown key 'operaton'; did you mean 'operation'? ");
  EXPECT_EQ(wrong("operation: atomic"),
            "x.yaml:5:62: traffic.0.operation: unknown 'atomic'; expected write, send, read or rping");
  EXPECT_EQ(wrong("message: 0"), "x.yaml:5:60: traffic.0.message: 0 is out of range; expected 1B..2GiB");
  EXPECT_EQ(wrong("message: 3GiB"), "x.yaml:5:60: traffic.0.message: 3GiB is out of range; expected 1B..2GiB");
  EXPECT_EQ(
      wrong("operation: read, path-mtu: 256, message: 2GiB"),
      "x.yaml:5:92: traffic.0.message: 2GiB are 8388608 packets of path-mtu (256), and a READ has at most 8388607");
  EXPECT_EQ(wrong("operation: read, path-mtu: 512, message: 2GiB"), "(no error)");
  EXPECT_EQ(wrong("outstanding: 0"), "x.yaml:5:64: traffic.0.outstanding: 0 is out of range; expected 1..4096");
  EXPECT_EQ(wrong("path-mtu: 1000"), "(no error)") << "as published simulations have it";
  EXPECT_EQ(wrong("path-mtu: 1502"),
            "x.yaml:5:61: traffic.0.path-mtu: 1502 is not a RoCE path MTU; expected 256, 512, 1024, 2048 or 4096, or "
            "another multiple of 4 up to 8192");
  EXPECT_EQ(wrong("path-mtu: 8196"), "x.yaml:5:61: traffic.0.path-mtu: 8196 is out of range; expected 256..8192");
  EXPECT_EQ(wrong("qps: 257"), "x.yaml:5:56: traffic.0.qps: 257 is out of range; expected 1..256");
  EXPECT_EQ(wrong("operation: send, receives: 0"),
            "x.yaml:5:78: traffic.0.receives: 0 is out of range; expected 1..4096");
  EXPECT_EQ(wrong("operation: send, repost-after: 3"),
            "x.yaml:5:82: traffic.0.repost-after: 3 has no unit; expected a duration such as 500ns, 1.5us or 10ms "
            "(units: ps, ns, us, ms, s)");
  EXPECT_EQ(wrong("rate: 1Mbps, qps: 200"),
            "x.yaml:5:57: traffic.0.rate: 1Mbps over 200 QPs is less than 10Kbps per QP");
}

TEST(RoceErrors, KeysOfOneTransportAreNoneOfTheOthers) {
  const auto wrong = [](const std::string& keys) { return roce_error("from: h1, to: h2, " + keys); };
  for (const char* key : {"operation: send", "message: 1MB", "outstanding: 2", "path-mtu: 1024", "qps: 2",
                          "receives: 1", "repost-after: 1us"}) {
    const std::string error = wrong(key);
    EXPECT_TRUE(error.ends_with("does not apply here; expected transport: roce or uet")) << error;
  }
  EXPECT_EQ(wrong("transport: roce, receives: 2"),
            "x.yaml:5:61: traffic.0.receives: does not apply here; expected operation: send");
  EXPECT_EQ(wrong("transport: roce, repost-after: 2us"),
            "x.yaml:5:65: traffic.0.repost-after: does not apply here; expected operation: send");
  EXPECT_EQ(wrong("transport: roce, payload: 1KiB"),
            "x.yaml:5:60: traffic.0.payload: does not apply here; expected transport: generator; RoCE and UET packets "
            "have path-mtu");
  EXPECT_EQ(wrong("transport: roce, on: 1us, off: 1us"),
            "x.yaml:5:55: traffic.0.on: does not apply here; expected transport: generator");
}

TEST(RoceErrors, PacketsPass) {
  const std::string thin = "defaults: { link: { mtu: 1500 } }\n";
  EXPECT_EQ(roce_error("from: h1, to: h3, transport: roce", thin),
            "x.yaml:5:5: traffic.0: 4KiB and 60 bytes of headers make packets of 4156; the MTU from h1:1 to h3:1 is "
            "1500; expected path-mtu: 1024");
  EXPECT_EQ(roce_error("from: h1, to: h3, transport: roce, path-mtu: 2048, operation: send, ip: 6", thin),
            "x.yaml:5:61: traffic.0.path-mtu: 2KiB and 64 bytes of headers make packets of 2112; the MTU from h1:1 to "
            "h3:1 is 1500; expected path-mtu: 1024");
  EXPECT_EQ(roce_error("from: h1, to: h3, transport: roce, path-mtu: 1024", thin), "(no error)");
}

TEST(RoceErrors, BothEndsAreBuiltIn) {
  EXPECT_EQ(roce_error("from: h2, to: h1, transport: roce", "nodes: { h1: { attach: { pcap: { out: x.pcap } } } }\n"),
            "x.yaml:5:30: traffic.0.to: h1:1 is attached and has its own QPs; expected built-in hosts, or hosts with "
            "an agent");
}

TEST(RoceErrors, ReceivedMessagesFitIntoMemory) {
  EXPECT_EQ(roce_error("from: h1, to: h2, transport: roce, message: 1GiB, outstanding: 64, qps: 4", "",
                       "duration: 1ms, payload: real"),
            "x.yaml:5:60: traffic.0.message: with run.payload: real, receivers need 64 of 1GiB per QP, 256GiB in "
            "total; run.memory is 4GiB");
  EXPECT_EQ(roce_error("from: h1, to: h2, transport: roce, message: 1GiB, outstanding: 64, qps: 4"), "(no error)");
  // Of as many as can be said.
  EXPECT_NE(roce_error("pattern: all-to-all, transport: roce, message: 1GiB, outstanding: 4096, qps: 256, flows: 1024",
                       "", "duration: 1ms, payload: real")
                .find("run.memory"),
            std::string::npos);
}

TEST(RoceErrors, KeysOfNics) {
  std::vector<std::string_view> kinds;
  roce::for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t) { kinds.push_back(K::kName); });
  EXPECT_EQ(nic_error("congestion: dcqnc"),
            "x.yaml:6:41: hosts.default.roce.congestion: unknown 'dcqnc'; did you mean 'dcqcn'? Expected auto, none, " +
                in_words(kinds));
  EXPECT_EQ(nic_error("congestoin: dcqcn"),
            "x.yaml:6:29: hosts.default.roce: unknown key 'congestoin'; did you mean 'congestion'? Known here: "
            "congestion, " + in_words(kinds, ", ") + ", loss-recovery, selective-repeat, cnp, ack, ack-timeout, retry-count, rnr-retry, min-rnr-timer, ack-every, window, max-reads, services, cm-response-timeout, cm-retries");
  EXPECT_EQ(nic_error("ack-timeout: 32"),
            "x.yaml:6:42: hosts.default.roce.ack-timeout: 32 is out of range; expected 1..31");
  EXPECT_EQ(nic_error("retry-count: 8"),
            "x.yaml:6:42: hosts.default.roce.retry-count: 8 is out of range; expected 0..7");
  EXPECT_EQ(nic_error("rnr-retry: -1"), "x.yaml:6:40: hosts.default.roce.rnr-retry: -1 is out of range; expected 0..7");
  EXPECT_EQ(nic_error("min-rnr-timer: 32"),
            "x.yaml:6:44: hosts.default.roce.min-rnr-timer: 32 is out of range; expected 0..31");
  EXPECT_EQ(nic_error("ack-every: 0"),
            "x.yaml:6:40: hosts.default.roce.ack-every: 0 is out of range; expected 1..65536");
  EXPECT_EQ(nic_error("window: 0"), "x.yaml:6:37: hosts.default.roce.window: 0 is out of range; expected 1..8388607");
  EXPECT_EQ(nic_error("max-reads: 129"),
            "x.yaml:6:40: hosts.default.roce.max-reads: 129 is out of range; expected 1..128");
}

TEST(RoceErrors, KeysOfDcqcn) {
  const auto wrong = [](const std::string& keys) { return nic_error("congestion: dcqcn, dcqcn: { " + keys + " }"); };
  const std::string at = "hosts.default.roce.dcqcn";
  EXPECT_EQ(wrong("profile: papr"),
            "x.yaml:6:66: " + at + ".profile: unknown 'papr'; did you mean 'paper'? Expected paper or vendor");
  EXPECT_NE(wrong("rpg-ai-rat: 5Mbps").find("unknown key 'rpg-ai-rat'; did you mean 'rpg-ai-rate'?"),
            std::string::npos);
  for (const char* key : {"dce-tcp-rtt", "rpg-time-reset"})
    for (const char* value : {"0", "1ns", "20s"})
      EXPECT_NE(wrong(std::string(key) + ": " + value).find("is out of range; expected 100ns..10s"), std::string::npos)
          << key << wrong(std::string(key) + ": " + value);
  EXPECT_NE(wrong("cut: periodic, rate-reduce-monitor-period: 1ns").find("expected 100ns..10s"), std::string::npos);
  EXPECT_NE(wrong("rpg-time-reset: 55").find("55 has no unit"), std::string::npos);
  for (const char* key : {"rpg-ai-rate", "rpg-hai-rate", "rpg-min-rate", "rpg-max-rate"})
    EXPECT_NE(wrong(std::string(key) + ": 0").find("is out of range; expected 10Kbps..10Tbps"), std::string::npos)
        << key << wrong(std::string(key) + ": 0");
  for (const char* key : {"g", "initial-alpha"})
    EXPECT_NE(wrong(std::string(key) + ": 3/2").find("3/2 is above 1"), std::string::npos);
  EXPECT_NE(wrong("g: 0").find("is 0; expected more than 0"), std::string::npos);
  EXPECT_NE(wrong("rpg-threshold: -1").find("expected 0..1000"), std::string::npos);
  EXPECT_NE(wrong("rpg-byte-reset: 1B").find("expected 64B..1TiB"), std::string::npos);
  EXPECT_NE(wrong("alpha-steps: 1").find("expected 2..1048576"), std::string::npos);
  for (const char* key : {"rate-reduce-monitor-period: 4us", "rpg-min-dec-fac: 1/2", "clamp-tgt-rate: true",
                          "clamp-tgt-rate-after-time-inc: true", "rate-to-set-on-first-cnp: 1Gbps"})
    for (const char* form : {"cut: on-cnp, ", "profile: paper, "})
      EXPECT_NE(wrong(std::string(form) + key).find("does not apply here; expected cut: periodic"),
                std::string::npos)
          << form << key;
  EXPECT_NE(wrong("rpg-min-rate: 2Gbps, rpg-max-rate: 1Gbps").find("2Gbps is above rpg-max-rate (1Gbps)"),
            std::string::npos);
  EXPECT_EQ(wrong("rpg-min-rate: 200Gbps"),
            "x.yaml:6:71: " + at + ".rpg-min-rate: 200Gbps is above the rate of h1:1's link (100Gbps)");
}

TEST(RoceErrors, KeysOfSwift) {
  const auto wrong = [](const std::string& keys) { return nic_error("congestion: swift, swift: { " + keys + " }"); };
  EXPECT_NE(wrong("base-targt: 5us").find("unknown key 'base-targt'; did you mean 'base-target'?"), std::string::npos);
  EXPECT_NE(wrong("base-target: 1ns").find("is out of range; expected 100ns..10s"), std::string::npos);
  EXPECT_NE(wrong("beta: 3/2").find("3/2 is above 1"), std::string::npos);
  EXPECT_NE(wrong("max-mdf: 0").find("is 0; expected more than 0"), std::string::npos);
  EXPECT_NE(wrong("initial-cwnd: 200, max-cwnd: 100").find("200 is above max-cwnd (100)"), std::string::npos);
  EXPECT_NE(wrong("fs-min-cwnd: 5, fs-max-cwnd: 5").find("5 is not below fs-max-cwnd (5)"), std::string::npos)
      << wrong("fs-min-cwnd: 5, fs-max-cwnd: 5");
  EXPECT_EQ(nic_error("congestion: swift, swift: { fs-range: off }"), "(no error)");
}

TEST(RoceErrors, KeysOfHpcc) {
  const auto wrong = [](const std::string& keys) { return nic_error("congestion: hpcc, hpcc: { " + keys + " }"); };
  EXPECT_NE(wrong("base-rt: 5us").find("unknown key 'base-rt'; did you mean 'base-rtt'?"), std::string::npos);
  EXPECT_NE(wrong("base-rtt: 1ns").find("is out of range; expected 100ns..10s"), std::string::npos);
  EXPECT_NE(wrong("eta: 1.1").find("is above 1"), std::string::npos) << wrong("eta: 1.1");
  EXPECT_NE(wrong("max-stage: -1").find("expected 0..1000"), std::string::npos);
  EXPECT_NE(wrong("flows: 0").find("expected 1..1048576"), std::string::npos);
  EXPECT_NE(wrong("w-ai: 2GiB").find("expected 1B..1GiB"), std::string::npos) << wrong("w-ai: 2GiB");
  EXPECT_NE(wrong("ack-every: 0").find("expected 1..65536"), std::string::npos);
  EXPECT_EQ(wrong("base-rtt: path, w-ai: auto, eta: 95%, flows: 8"), "(no error)");
  EXPECT_EQ(nic_error("congestion: hpcc"), "(no error)") << "nothing else is needed";
}

TEST(RoceErrors, KeysOfSelectiveRepeat) {
  const auto wrong = [](const std::string& keys) {
    return nic_error("loss-recovery: selective-repeat, selective-repeat: { " + keys + " }");
  };
  EXPECT_NE(nic_error("loss-recovery: selective").find("did you mean 'selective-repeat'?"), std::string::npos)
      << nic_error("loss-recovery: selective");
  EXPECT_NE(wrong("bdp-packets: 0").find("expected 1..32768"), std::string::npos);
  EXPECT_NE(wrong("window-packets: 32").find("expected 64..32768"), std::string::npos);
  EXPECT_NE(wrong("bdp-packets: 1000").find("1000 is above window-packets (512)"), std::string::npos);
  EXPECT_NE(wrong("rto-low: 1ms, rto-high: 100us").find("1ms is above rto-high (100us)"), std::string::npos);
  EXPECT_EQ(wrong("bdp-packets: 500"), "(no error)");
}

TEST(RoceErrors, EndsThatRecoverDifferently) {
  const auto lab = [](const std::string& of_h2) {
    return roce_error("from: h1, to: h2, transport: roce",
                      "hosts: { default: { roce: { loss-recovery: selective-repeat } }, other: { roce: { " + of_h2 +
                          " } } }\nnodes: { h2: { profile: other } }\n");
  };
  EXPECT_NE(lab("congestion: none").find("traffic.0.transport: h1:1 has selective-repeat and h2:1 go-back-n"),
            std::string::npos)
      << lab("congestion: none");
  EXPECT_NE(lab("loss-recovery: selective-repeat, selective-repeat: { bdp-packets: 64, window-packets: 64 }")
                .find("h1:1 may have 110 packets in flight (bdp-packets), but h2:1 accepts 64 (window-packets)"),
            std::string::npos)
      << lab("loss-recovery: selective-repeat, selective-repeat: { bdp-packets: 64, window-packets: 64 }");
}

TEST(RoceErrors, KeysOfCnps) {
  const auto wrong = [](const std::string& keys) { return nic_error("cnp: { " + keys + " }"); };
  EXPECT_NE(wrong("interval: -1us").find("is negative"), std::string::npos);
  EXPECT_NE(wrong("scope: ip").find("xpected qp, destination-ip or port"), std::string::npos) << wrong("scope: ip");
  EXPECT_NE(wrong("dscp: 64").find("expected 0..63"), std::string::npos);
  EXPECT_NE(wrong("class: 8").find("expected 0..7"), std::string::npos);
}

}  // namespace
}  // namespace railyard::spec
