// What a fabric file says of UET, and what it may not.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

// Four hosts under two leaves; `keys` of the only traffic begin in column 16 of line 5.
std::string file_with(const std::string& keys, const std::string& more = "", const std::string& run = "duration: 1ms") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\nrun: { " + run +
         " }\ntraffic:\n  - { name: t, " + keys + " }\n" + more;
}
std::string uet_error(const std::string& keys, const std::string& more = "",
                      const std::string& run = "duration: 1ms") {
  return error_of(file_with("from: h1, to: h2, transport: uet" + keys, more, run));
}
// Of hosts.default.uet, whose keys begin in column 27 of line 6.
std::string nic_error(const std::string& keys) {
  return uet_error("", "hosts: { default: { uet: { " + keys + " } } }\n");
}

TEST(UetSpec, EveryKeyOfTrafficIsRead) {
  const Lab l = parse(file_with("from: h1, to: h2, transport: uet, service: rod, operation: send, message: 64KiB, "
                                "outstanding: 16, path-mtu: 8192, qps: 3, receives: 5, repost-after: 2us"),
                      "x.yaml");
  const TrafficSpec& t = l.traffic[0];
  EXPECT_TRUE(t.is_uet());
  EXPECT_EQ(t.service, UetService::kRod);
  EXPECT_TRUE(t.roce == (RoceTraffic{RoceOperation::kSend, 65536, 16, 8192, 3, 5, Duration{2'000'000}}));
}

TEST(UetSpec, TrafficOverRoceIsTrafficOverUetWithOneWordChanged) {
  const std::string file = file_with("from: h1, to: h2, transport: roce, operation: read, message: 64KiB, qps: 3");
  const Lab l = parse(file, "x.yaml", {"traffic.t.transport=uet"});
  EXPECT_TRUE(l.traffic[0].is_uet());
  EXPECT_EQ(l.traffic[0].service, UetService::kRud);
}

TEST(UetSpec, EveryKeyOfNicsIsRead) {
  const Lab l = parse(
      file_with(
          "from: h1, to: h2",
          "hosts: { default: { uet: { congestion: nscc, nscc: { base-rtt: 10us, target: 5us, max-window: 2, "
          "initial-window: 1, min-window: 1/2, part-gain: 1/16, alpha: 3, fi: 4, eta: 1/10, fi-scale: 1/3, gamma: 1/2, "
          "max-md-jump: 1/4, qa-gate: 2, qa-threshold: 5, adjust-period: 7us, adjust-packets: 9, no-queue: 500ns, "
          "delay-weight: 1/10 }, trimming: false, path-policy: reps, paths: 17, recycled: 8, ack-cc: false, ack-bytes: "
          "4KiB, "
          "rto: 100us, rto-timer: packet, rto-backoff: none, retries: 9, loss-inference: true, probe: true, window: 100, mp-range: 256, pdcs: 1000, "
          "idle-close: 3us, rudi-window: 8, encapsulation: ip, ip-protocol: 200, crc: false, control-dscp: 30, "
          "control-class: 6, trimmed-dscp: 31, trimmed-lasthop-dscp: 32 } } }\n"),
      "x.yaml");
  const UetNicSpec& u = l.hosts.at("default").uet;
  NsccSpec n;
  n.base_rtt = Duration{10'000'000};
  n.target = Duration{5'000'000};
  n.max_window = Ratio{2, 1};
  n.initial_window = Ratio{1, 1};
  n.min_window = {1, 2};
  n.part_gain = {1, 16};
  n.alpha = {3, 1};
  n.fi = {4, 1};
  n.eta = {1, 10};
  n.fi_scale = {1, 3};
  n.gamma = {1, 2};
  n.max_md_jump = {1, 4};
  n.qa_gate = 2;
  n.qa_threshold = {5, 1};
  n.adjust_period = Duration{7'000'000};
  n.adjust_packets = 9;
  n.no_queue = Duration{500'000};
  n.delay_weight = {1, 10};
  EXPECT_TRUE(u.nscc == n);
  EXPECT_EQ(u.trimming, false);
  EXPECT_EQ(u.path_policy, UetPathPolicy::kReps);
  EXPECT_EQ(u.paths, 17);
  EXPECT_EQ(u.recycled, 8);
  EXPECT_FALSE(u.ack_cc);
  EXPECT_EQ(u.ack_bytes, std::optional(4096u));
  EXPECT_EQ(u.rto.ps, 100'000'000);
  EXPECT_EQ(u.rto_timer, UetRtoTimer::kPacket);
  EXPECT_EQ(u.rto_backoff, UetRtoBackoff::kNone);
  EXPECT_EQ(u.retries, 9);
  EXPECT_EQ(u.loss_inference, true);
  EXPECT_TRUE(u.probe);
  EXPECT_EQ(u.window, 100);
  EXPECT_EQ(u.mp_range, 256);
  EXPECT_EQ(u.pdcs, 1000);
  EXPECT_EQ(u.idle_close.ps, 3'000'000);
  EXPECT_EQ(u.rudi_window, 8);
  EXPECT_FALSE(u.udp);
  EXPECT_EQ(u.ip_protocol, 200);
  EXPECT_FALSE(u.crc);
  EXPECT_EQ(u.control_dscp, 30);
  EXPECT_EQ(u.control_priority, 6);
  EXPECT_EQ(u.trimmed_dscp, 31);
  EXPECT_EQ(u.trimmed_lasthop_dscp, 32);
}

TEST(UetSpec, AProfileIsWhatTheRestBeginsAs) {
  const Lab l = parse(
      file_with("from: h1, to: h2", "hosts: { default: { uet: { ack-cc: true, profile: ref-prov } } }\n"), "x.yaml");
  const UetNicSpec& u = l.hosts.at("default").uet;
  EXPECT_FALSE(u.udp);
  EXPECT_EQ(u.path_policy, UetPathPolicy::kSingle);
  EXPECT_EQ(u.window, 128);
  EXPECT_EQ(u.mp_range, 128);
  EXPECT_FALSE(u.keep_alive);
  EXPECT_TRUE(u.ack_cc) << "said, in whatever order";
  // What is written of a lab is that lab.
  EXPECT_TRUE(parse(to_yaml(l), "y.yaml").hosts.at("default").uet == u);
}

TEST(UetSpec, PortsAndDscpsThatMeanSomethingElseAreRefused) {
  EXPECT_THAT(nic_error("udp-port: 4791"),
              testing::HasSubstr("udp-port: 4791 is the UDP port of RoCEv2; expected another"));
  EXPECT_THAT(nic_error("trimmed-lasthop-dscp: 46"),
              testing::HasSubstr("trimmed-lasthop-dscp: 46 is that of control packets, too"));
}

TEST(UetSpec, WhatIsCutAtTheLastHopHasADscpOfItsOwn) {
  const auto trim = [](const char* dscp) {
    return std::string(
               "qos: { default: { classes: { 3: { lossless: false, trim: { dscp: 40, class: 5, last-hop-dscp: ") +
           dscp + " } } } } }\n";
  };
  const auto said = [&](const char* dscp) {
    return error_of(file_with("from: h1, to: h2, transport: uet", trim(dscp)));
  };
  EXPECT_EQ(said("41"), "(no error)");
  EXPECT_EQ(parse(file_with("from: h1, to: h2, transport: uet", trim("41")), "x.yaml")
                .qos.at("default")
                .classes[3]
                .trim->last_hop_dscp,
            41);
  EXPECT_THAT(said("26"), testing::HasSubstr("26 is also last-hop-dscp of class 3 at "));
  EXPECT_THAT(said("46"), testing::HasSubstr("46 is both control-dscp of h1:1 and last-hop-dscp of class 3 at "));
}

TEST(UetSpec, WhatTrafficMayNotSay) {
  EXPECT_EQ(uet_error(", service: rdu"),
            "x.yaml:5:59: traffic.0.service: unknown 'rdu'; did you mean 'rud'? Expected rud, rod, rudi or uud");
  EXPECT_EQ(error_of(file_with("from: h1, to: h2, service: rud")),
            "x.yaml:5:43: traffic.0.service: does not apply here; expected transport: uet");
  EXPECT_EQ(uet_error(", path-mtu: 4086"), "(no error)");
  EXPECT_EQ(uet_error(", path-mtu: 512"),
            "x.yaml:5:60: traffic.0.path-mtu: 512 is not a UET Payload MTU; expected 1024..8192 (the standard has "
            "1024, 2048, 4096 and 8192)");
  EXPECT_EQ(uet_error(", service: rudi, operation: send"),
            "x.yaml:5:76: traffic.0.operation: RUDI needs idempotent operations; expected write or read");
  for (const char* what : {", operation: write, tagged: true", ", service: uud, tagged: true",
                           ", service: rudi, operation: read, tagged: true"})
    EXPECT_THAT(uet_error(what),
                testing::HasSubstr("traffic.0.tagged: tags need SENDs over rud or rod; expected operation: send"));
  EXPECT_EQ(uet_error(", service: rod, operation: send, tagged: true"), "(no error)");
  EXPECT_EQ(error_of(file_with("from: h1, to: h2, transport: roce, operation: send, tagged: true")),
            "x.yaml:5:76: traffic.0.tagged: does not apply here; expected transport: uet");
  EXPECT_EQ(uet_error(", service: uud, operation: read"),
            "x.yaml:5:75: traffic.0.operation: UUD carries datagrams only; expected send");
  EXPECT_EQ(uet_error(", service: uud, message: 5000B"),
            "x.yaml:5:73: traffic.0.message: 5KB exceeds a datagram; expected at most path-mtu (4096)");
  EXPECT_EQ(uet_error(", operation: rping"),
            "x.yaml:5:61: traffic.0.operation: rping is for transport: roce; expected write, send or read");
  EXPECT_EQ(uet_error(", dscp: 46"), "x.yaml:5:56: traffic.0.dscp: 46 is also control-dscp of h1:1; expected another");
}

TEST(UetSpec, ANicHasAnyClassesOfDataAndALabOnePayloadMtu) {
  const std::string other = "  - { name: u, from: h1, to: h3, transport: uet, ";
  for (const char* of : {"dscp: 10 }\n", "class: 1 }\n", "ecn: false }\n"})
    EXPECT_EQ(uet_error("", other + of), "(no error)") << of;
  EXPECT_EQ(uet_error("", other + "dscp: 46 }\n"),
            "x.yaml:6:56: traffic.1.dscp: 46 is also control-dscp of h1:1; expected another");
  const std::string trimmed =
      "qos: { default: { classes: { 1: { lossless: false, trim: { dscp: 40, class: 5, last-hop-dscp: 41 } }, "
      "3: { lossless: false, trim: { dscp: 40, class: 5, last-hop-dscp: ";
  EXPECT_EQ(uet_error("", other + "dscp: 10 }\n" + trimmed + "41 } } } } }\n"), "(no error)");
  EXPECT_THAT(uet_error("", other + "dscp: 10 }\n" + trimmed + "42 } } } } }\n"),
              testing::HasSubstr("traffic.1.dscp: last-hop-dscp of class 1 at leaf1 is 41, but that of other UET data "
                                 "of h1:1 is 42; expected the same"));
  EXPECT_THAT(uet_error("", other + "dscp: 41 }\n" + trimmed + "41 } } } } }\n"),
              testing::HasSubstr("traffic.1.dscp: 41 is also last-hop-dscp of other UET data of h1:1"));
  EXPECT_EQ(uet_error("", other + "path-mtu: 1024 }\n"),
            "x.yaml:6:60: traffic.1.path-mtu: traffic 't' has 4096, but all UET traffic has one Payload MTU; expected "
            "the same");
  parse(file_with("from: h1, to: h2, transport: uet",
                  "  - { name: u, from: h3, to: h4, transport: uet, dscp: 10, class: 1 }\n"),
        "x.yaml");
}

TEST(UetSpec, WhatNicsMayNotSay) {
  EXPECT_EQ(nic_error("paths: 0"), "x.yaml:6:35: hosts.default.uet.paths: 0 is out of range; expected 1..256");
  EXPECT_EQ(nic_error("recycled: 0"), "x.yaml:6:38: hosts.default.uet.recycled: 0 is out of range; expected 1..16384");
  EXPECT_EQ(nic_error("nscc: { max-window: 0 }").substr(0, 51), "x.yaml:6:48: hosts.default.uet.nscc.max-window: is ");
  EXPECT_EQ(nic_error("nscc: { initial-window: 3 }"),
            "x.yaml:6:52: hosts.default.uet.nscc.initial-window: 3 is above max-window (5/2)");
  EXPECT_EQ(nic_error("mp-range: 300"),
            "x.yaml:6:38: hosts.default.uet.mp-range: 300 is not a power of two; expected one in 128..16384");
  EXPECT_EQ(nic_error("pdcs: 1"), "x.yaml:6:34: hosts.default.uet.pdcs: 1 is out of range; expected 2..65535");
  EXPECT_EQ(nic_error("window: 600"),
            "x.yaml:6:36: hosts.default.uet.window: 600 is above mp-range (512): a receiver would refuse some");
  EXPECT_EQ(nic_error("mp-range: 128"),
            "x.yaml:6:38: hosts.default.uet.mp-range: 128 is below the default window (512): a receiver would refuse "
            "packets; expected window: 128 with it");
  EXPECT_EQ(nic_error("encapsulation: ip, udp-port: 4793"),
            "x.yaml:6:57: hosts.default.uet.udp-port: does not apply here; expected encapsulation: udp");
  EXPECT_EQ(nic_error("trimmed-dscp: 46"),
            "x.yaml:6:42: hosts.default.uet.trimmed-dscp: 46 is that of control packets, too");
}

TEST(UetSpec, BothEndsMustPutItIntoPacketsInTheSameWay) {
  EXPECT_EQ(uet_error("", "hosts: { other: { uet: { udp-port: 5000 } } }\nnodes: { h2: { profile: other } }\n"),
            "x.yaml:5:45: traffic.0.transport: h1:1 and h2:1 differ in their UET packet format; expected the same "
            "encapsulation, port and crc in hosts.<profile>.uet of both");
}

// Data of READs go from the one that is asked to the one that asks.
TEST(UetSpec, NoWindowIsAboveWhatTheOtherEndTakes) {
  const std::string nodes = "nodes: { h2: { profile: other } }\n";
  EXPECT_EQ(uet_error("", "hosts: { other: { uet: { window: 128, mp-range: 128 } } }\n" + nodes),
            "x.yaml:5:45: traffic.0.transport: window of h1:1 is 512, above mp-range of h2:1 (128), which would refuse "
            "packets; expected in hosts.<profile>.uet a window of at most the other end's mp-range");
  EXPECT_EQ(uet_error("", "hosts: { other: { uet: { window: 1024, mp-range: 1024 } } }\n" + nodes),
            "x.yaml:5:45: traffic.0.transport: window of h2:1 is 1024, above mp-range of h1:1 (512), which would "
            "refuse packets; expected in hosts.<profile>.uet a window of at most the other end's mp-range");
}

std::string security_error(const std::string& keys) {
  const std::string error = nic_error("security: { " + keys + " }");
  EXPECT_THAT(error, testing::StartsWith("x.yaml:6:"));
  return error.substr(std::min(error.find(' '), error.size() - 1) + 1);
}

TEST(UetSpec, EveryKeyOfSecurityIsRead) {
  const std::string upper(64, 'A'), digits(64, 'b');
  const std::string keys = "{ mode: cluster, sdi: 4660, key: \"" + upper + "\", next-key: \"" + digits +
                           "\", association: 1, epoch: 7, rotate-after: 1000, rekey-after: 256, replay-window: 512 }";
  const Lab l = parse(file_with("from: h1, to: h2, transport: uet", "hosts: { default: { uet: { security: " + keys + " } } }\n"),
                      "x.yaml");
  const UetSecuritySpec expected{.mode = UetSecurityMode::kCluster,
                                 .sdi = 4660,
                                 .key = std::string(64, 'a'),
                                 .next_key = digits,
                                 .association = 1,
                                 .epoch = 7,
                                 .rotate_after = 1000,
                                 .rotate_at = {},
                                 .rekey_after = 256,
                                 .replay_window = 512};
  ASSERT_TRUE(l.hosts.at("default").uet.security.has_value());
  EXPECT_EQ(*l.hosts.at("default").uet.security, expected);
  EXPECT_TRUE(parse(to_yaml(l), "y.yaml").hosts.at("default").uet == l.hosts.at("default").uet);
}

// A key is never shown.
TEST(UetSpec, KeysOfAWrongSizeAreRefused) {
  const std::string digits(64, 'a');
  EXPECT_EQ(security_error("key: \"" + digits.substr(1) + "\""),
            "hosts.default.uet.security.key: has 63 characters; expected 64 hexadecimal digits, a key of 32 bytes");
  EXPECT_EQ(security_error("key: \"" + digits.substr(1) + "x\""),
            "hosts.default.uet.security.key: 'x' is not a hexadecimal digit; expected 64 of them, a key of 32 bytes");
  EXPECT_EQ(security_error("key: \"" + digits + "\", next-key: \"aa\""),
            "hosts.default.uet.security.next-key: has 2 characters; expected 64 hexadecimal digits, a key of 32 bytes");
  EXPECT_THAT(security_error("sdi: 1"), testing::HasSubstr("key 'key' is missing"));
  EXPECT_EQ(security_error("key: \"" + digits + "\", rekey-after: 64"),
            "hosts.default.uet.security.rekey-after: does not apply to direct keys; expected mode: cluster, client or server");
  EXPECT_EQ(security_error("key: \"" + digits + "\", rotate-after: 64, rotate-at: 1ms"),
            "hosts.default.uet.security.rotate-at: cannot be combined with rotate-after; expected one of them");
  EXPECT_EQ(security_error("key: \"" + digits + "\", replay-window: 100"),
            "hosts.default.uet.security.replay-window: 100 is not a power of two; expected one in 64..1048576");
}

// TSS header and ICV need room, too.
TEST(UetSpec, SecuredPacketsFitTheMtu) {
  const std::string secured = "hosts: { default: { uet: { security: { key: \"" + std::string(64, 'a') + "\" } } } }\n";
  const auto error = [&](int mtu, const std::string& more) {
    return error_of("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
                    "defaults: { link: { mtu: " + std::to_string(mtu) + " } }\n"
                    "traffic: [ { name: t, from: h1, to: h2, transport: uet, path-mtu: 1024, bytes: 1MB } ]\n" + more);
  };
  parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\ndefaults: { link: { mtu: 1136 } }\n"
        "traffic: [ { name: t, from: h1, to: h2, transport: uet, path-mtu: 1024, bytes: 1MB } ]\n" + secured,
        "x.yaml");
  EXPECT_THAT(error(1135, secured), testing::HasSubstr("and 112 bytes of headers make packets of 1136; the MTU from h1:1 to h2:1 is 1135"));
}

TEST(UetSpec, LossIsInferredUnlessSaidOtherwise) {
  const auto inference = [](const std::string& says) {
    return parse(file_with("from: h1, to: h2", "hosts: { default: { uet: { " + says + " } } }\n"), "x.yaml")
        .hosts.at("default")
        .uet.loss_inference;
  };
  EXPECT_EQ(inference("rto: 1ms"), std::nullopt);
  EXPECT_EQ(inference("loss-inference: auto"), std::nullopt);
  EXPECT_EQ(inference("loss-inference: false"), std::optional(false));
  EXPECT_EQ(inference("loss-inference: true"), std::optional(true));
}

}  // namespace
}  // namespace railyard::spec
