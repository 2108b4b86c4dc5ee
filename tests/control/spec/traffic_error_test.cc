#include <gtest/gtest.h>

#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

// Four hosts under two leaves; `keys` of the only traffic begin in column 16 of line 5.
std::string error_with(const std::string& keys, const std::string& run = "duration: 1ms",
                       const std::string& more = "") {
  return error_of("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\nrun: { " + run +
                  " }\ntraffic:\n  - { name: t, " + keys + " }\n" + more);
}

TEST(TrafficErrors, GoodOnesAreNone) {
  for (const char* keys : {"from: h1, to: h2", "pattern: incast, to: h1", "pattern: permutation", "pattern: all-to-all",
                           "pattern: random, flows: 3", "from: [h1, h3], to: [h2, h4]", "from: h1, to: [h2, h3]",
                           "pattern: incast, to: h1, fan-in: 3", "pattern: incast, to: h1, fan-in: all",
                           "from: h1, to: h2, on: 1us, off: 1us", "from: h1, to: h2, rate: greedy, bytes: unlimited"})
    EXPECT_EQ(error_with(keys), "(no error)") << keys;
}

TEST(TrafficErrors, Keys) {
  EXPECT_EQ(error_with("patern: incast"),
            "x.yaml:5:16: traffic.0: unknown key 'patern'; did you mean 'pattern'? Known here: name, pattern, from, "
            "to, fan-in, flows, bidirectional, transport, service, tagged, qp-type, operation, message, outstanding, "
            "path-mtu, qps, receives, "
            "repost-after, rping, ip, dscp, ecn, class, vlan, pcp, payload, rate, bytes, sizes, load, file, start, stagger, stop, "
            "on, off, gap-jitter");
  EXPECT_EQ(
      error_with("pattern: incst, from: h1"),
      "x.yaml:5:25: traffic.0.pattern: unknown 'incst'; did you mean 'incast'? Expected pairs, incast, permutation, "
      "all-to-all, random or file");
  EXPECT_EQ(error_of(small_with("traffic: [{ from: h1, to: h2 }]\n")),
            "x.yaml:8:11: traffic.0: key 'name' is missing: name of this traffic; its flows are called "
            "name/source->destination");
  EXPECT_EQ(error_of(small_with("traffic: { from: h1, to: h2 }\n")),
            "x.yaml:8:10: traffic: found a map; expected a list of traffic patterns");
  EXPECT_EQ(error_with("from: h1, to: h2, dscp: 64"),
            "x.yaml:5:40: traffic.0.dscp: 64 is out of range; expected 0..63");
  EXPECT_EQ(error_with("from: h1, to: h2, class: 8"), "x.yaml:5:41: traffic.0.class: 8 is out of range; expected 0..7");
  EXPECT_EQ(error_with("from: h1, to: h2, ip: 5"),
            "x.yaml:5:38: traffic.0.ip: unknown '5'; did you mean '4'? Expected 4 or 6");
  EXPECT_EQ(error_with("from: h1, to: h2, flows: 0"),
            "x.yaml:5:41: traffic.0.flows: 0 is out of range; expected 1..16384");
  EXPECT_EQ(error_with("from: h1, to: h2, rate: 0Gbps"),
            "x.yaml:5:40: traffic.0.rate: 0 is out of range; expected 10Kbps..10Tbps");
  EXPECT_EQ(error_with("from: h1, to: h2, rate: fast").substr(0, 55),
            "x.yaml:5:40: traffic.0.rate: 'fast' is not a rate; expe");
  EXPECT_EQ(error_with("from: h1, to: h2, start: -1us").substr(0, 48),
            "x.yaml:5:41: traffic.0.start: -1us is negative; ");
}

TEST(TrafficErrors, Selectors) {
  EXPECT_EQ(error_with("from: g*, to: h1"), "x.yaml:5:22: traffic.0.from: 'g*' matches no host; there are 4, h1 to h4");
  EXPECT_EQ(error_with("from: hh1, to: h2"), "x.yaml:5:22: traffic.0.from: 'hh1' matches no host; did you mean 'h1'?");
  EXPECT_EQ(error_with("from: server7, to: h1"),
            "x.yaml:5:22: traffic.0.from: 'server7' matches no host; there are 4, h1 to h4");
  EXPECT_EQ(error_with("from: [h1, leaf1], to: h2"),
            "x.yaml:5:27: traffic.0.from.1: 'leaf1' is a switch; expected hosts");
  EXPECT_EQ(error_with("from: h1:2, to: h2"), "x.yaml:5:22: traffic.0.from: 'h1:2': h1 has 1 NIC");
  EXPECT_EQ(error_with("from: [], to: h2"),
            "x.yaml:5:22: traffic.0.from: found an empty list; expected at least one element");
  EXPECT_EQ(error_with("from: { a: b }, to: h2"), "x.yaml:5:22: traffic.0.from: found a map; expected one or a list");
  EXPECT_EQ(error_with("from: h1:9, to: h2"),
            "x.yaml:5:22: traffic.0.from: 'h1:9' selects nothing; expected a host, with * and ? as wildcards, and "
            "optionally a NIC: h1, h*, h3:2");
  EXPECT_EQ(error_with("from: h1-h4 h5, to: h2").substr(0, 53),
            "x.yaml:5:22: traffic.0.from: 'h1-h4 h5' selects nothi");
}

TEST(TrafficErrors, AttachedHostsDoNotSend) {
  const std::string attached = "nodes: { h1: { attach: { pcap: { out: x.pcap } } } }\n";
  EXPECT_EQ(error_with("from: h1, to: h2", "duration: 1ms", attached),
            "x.yaml:5:22: traffic.0.from: h1 is attached and sends its own frames; expected hosts with built-in "
            "traffic or, with transport: roce, with an agent");
  EXPECT_EQ(error_with("from: h2, to: h1", "duration: 1ms", attached), "(no error)");
  EXPECT_EQ(error_with("from: h2, to: h1*", "duration: 1ms", attached),
            "x.yaml:5:30: traffic.0.to: 'h1*' matches attached hosts only; expected the name of one");
}

TEST(TrafficErrors, BothDirections) {
  EXPECT_EQ(
      error_with("from: h2, to: h1, bidirectional: true", "duration: 1ms",
                 "nodes: { h1: { attach: { pcap: { out: x.pcap } } } }\n"),
      "x.yaml:5:49: traffic.0.bidirectional: h1:1 is attached and sends its own frames; expected built-in receivers");
  EXPECT_EQ(error_with("from: h1, to: h2, bidirectional: true, sizes: storage, load: 10%"),
            "x.yaml:5:49: traffic.0.bidirectional: beside load: flows arrive at each sender independently; expected "
            "another traffic entry for the reverse direction");
}

TEST(TrafficErrors, Pairs) {
  EXPECT_EQ(error_with("from: h1, to: h1"),
            "x.yaml:5:5: traffic.0: all senders would send to themselves; expected other hosts in 'to'");
  EXPECT_EQ(error_with("pattern: pairs"),
            "x.yaml:5:5: traffic.0: all senders would send to themselves; expected other hosts in 'to'");
  EXPECT_EQ(
      error_with("from: [h1, h2, h3], to: [h2, h4]"),
      "x.yaml:5:5: traffic.0: pairs of 3 senders and 2 receivers; expected equal numbers, or one sender or receiver");
}

TEST(TrafficErrors, Incast) {
  EXPECT_EQ(error_with("pattern: incast, to: h1, fan-in: 4"),
            "x.yaml:5:49: traffic.0.fan-in: 4 senders to h1:1, but 'from' has only 3 outside its host");
  EXPECT_EQ(error_with("from: h1, to: h2, fan-in: 1"), "x.yaml:5:42: traffic.0.fan-in: is for pattern: incast only");
}

TEST(TrafficErrors, Permutation) {
  EXPECT_EQ(error_with("pattern: permutation, from: h*, to: [h1, h2]"),
            "x.yaml:5:5: traffic.0: a permutation of 4 senders over 2 receivers; expected at least as many receivers "
            "as senders");
  // NICs 2 and 3 of `a` have no counterpart at b, so all receivers are theirs; NIC 1 has one.
  const std::string lab =
      "name: x\nnodes: { s: { kind: switch }, a: { kind: host, nics: 3 }, b: { kind: host } }\n"
      "links: [[a:1, s:1], [a:2, s:2], [a:3, s:3], [b:1, s:4]]\n";
  EXPECT_EQ(error_of(lab + "traffic: [{ name: t, pattern: permutation, to: [a:1, b:1], bytes: 4KiB }]\n"),
            "(no error)");
  EXPECT_EQ(error_of(lab + "traffic: [{ name: t, pattern: permutation, from: a:2, to: a:1, bytes: 4KiB }]\n"),
            "x.yaml:4:11: traffic.0: all senders would send to themselves; expected other hosts in 'to'");
  EXPECT_EQ(error_of(lab + "traffic: [{ name: t, pattern: permutation, bytes: 4KiB }]\n"),
            "x.yaml:4:11: traffic.0: a permutation needs a receiver for each sender: a has 1 senders, other hosts have "
            "0 receivers");
}

TEST(TrafficErrors, Amounts) {
  EXPECT_EQ(error_with("from: h1, to: h2, payload: 1001B"),
            "x.yaml:5:43: traffic.0.payload: 1001 bytes are not a multiple of 4");
  EXPECT_EQ(error_with("from: h1, to: h2, payload: 0"),
            "x.yaml:5:43: traffic.0.payload: 0 is out of range; expected 4B..9KiB");
  EXPECT_EQ(error_with("from: h1, to: h2, bytes: 10B"),
            "x.yaml:5:41: traffic.0.bytes: 10 bytes are not a multiple of 4");
  EXPECT_EQ(
      error_with("from: h1, to: h2, rate: 200Gbps"),
      "x.yaml:5:40: traffic.0.rate: 200Gbps is above the rate of h1:1's link (100Gbps); greedy sends at link rate");
}

TEST(TrafficErrors, Times) {
  EXPECT_EQ(error_with("from: h1, to: h2, start: 2us, stop: 1us"),
            "x.yaml:5:52: traffic.0.stop: 1us is not after start (2us)");
  EXPECT_EQ(error_with("from: h1, to: h2, stop: 0"),
            "x.yaml:5:40: traffic.0.stop: 0 is out of range; expected 1ps..100000s");
  EXPECT_EQ(error_with("from: h1, to: h2, on: 1us"),
            "x.yaml:5:38: traffic.0.on: needs off; expected both, for on-off flows");
  EXPECT_EQ(error_with("from: h1, to: h2, off: 1us"),
            "x.yaml:5:39: traffic.0.off: needs on; expected both, for on-off flows");
}

TEST(TrafficErrors, SomethingEnds) {
  EXPECT_EQ(error_with("from: h1, to: h2", "seed: 1"),
            "x.yaml:5:5: traffic.0: never ends, nor does the run; expected bytes or stop here, or run.duration");
  EXPECT_EQ(error_with("from: h1, to: h2", "clock: wall"), "(no error)");  // until somebody ends it
  EXPECT_EQ(error_with("from: h1, to: h2, bytes: 1MiB", "seed: 1"), "(no error)");
  EXPECT_EQ(error_with("from: h1, to: h2, stop: 1ms", "seed: 1"), "(no error)");
}

TEST(TrafficErrors, NamesAreDistinct) {
  EXPECT_EQ(error_of(small_with("traffic:\n  - { name: a, from: h1, to: h2 }\n  - { name: a, from: h2, to: h1 }\n")),
            "x.yaml:10:13: traffic.1.name: traffic 'a' exists already; expected another name");
}

TEST(TrafficErrors, PacketsPass) {
  EXPECT_EQ(error_with("from: h1, to: h3, payload: 9172B"), "(no error)");
  EXPECT_EQ(error_with("from: h1, to: h3, payload: 9176B"),
            "x.yaml:5:43: traffic.0.payload: 9176B and 44 bytes of headers make packets of 9220; the MTU from h1:1 to "
            "h3:1 is "
            "9216");
  EXPECT_EQ(error_with("from: h1, to: h3, ip: 6, payload: 9156B"),
            "x.yaml:5:50: traffic.0.payload: 9156B and 64 bytes of headers make packets of 9220; the MTU from h1:1 to "
            "h3:1 is "
            "9216");
  const std::string thin =
      "nodes: { t: { kind: switch } }\nlinks: [[t:1, leaf1:9, { mtu: 1500 }], [t:2, leaf2:9, { mtu: 1500 }]]\n";
  // Two ways of the same length, one with a small MTU: any of them may be taken, but not within a leaf.
  EXPECT_EQ(
      error_with("from: h1, to: h3", "duration: 1ms", thin),
      "x.yaml:5:5: traffic.0: 4KiB and 44 bytes of headers make packets of 4140; the MTU from h1:1 to h3:1 is 1500");
  EXPECT_EQ(error_with("from: h1, to: h2", "duration: 1ms", thin), "(no error)");
  EXPECT_EQ(error_with("from: h1, to: h3, payload: 1KiB", "duration: 1ms", thin), "(no error)");
}

TEST(TrafficErrors, Ipv6NeedsAnMtuOf1280) {
  const std::string thin = "nodes: { t: { kind: switch } }\nlinks: [[t:1, leaf1:9, { mtu: 1279 }]]\n";
  EXPECT_EQ(error_with("from: h1, to: h2, ip: 6", "duration: 1ms", thin),
            "x.yaml:7:9: links.0: MTU 1279 of the link t:1 to leaf1:9 is below 1280, the minimum of IPv6: traffic 't' "
            "is IPv6");
  EXPECT_EQ(error_with("from: h1, to: h2, ip: 4", "duration: 1ms", thin), "(no error)");
}

TEST(TrafficErrors, ReceiversAreReached) {
  const std::string rails =
      "name: x\ntopology: { preset: rail-optimized, hosts: 4, rails: 2, spines: 0 }\nrun: { duration: 1ms }\n";
  EXPECT_EQ(error_of(rails + "traffic: [{ name: t, from: h1:2, to: h2:1 }]\n"),
            "x.yaml:4:11: traffic.0: there is no path from h1:2 to h2:1");
  EXPECT_EQ(error_of(rails + "traffic: [{ name: t, pattern: random, from: 'h*:1', to: 'h*:2' }]\n"),
            "x.yaml:4:11: traffic.0: there is no path from h1:1 to h2:2");
  // Patterns stay within a rail, and a host alone with itself on both is not asked to cross.
  for (const char* pattern : {"random", "permutation", "all-to-all", "incast"})
    EXPECT_EQ(error_of(rails + "traffic: [{ name: t, pattern: " + pattern + " }]\n"), "(no error)") << pattern;
  EXPECT_EQ(error_of(rails + "traffic: [{ name: t, from: [h1:1, h1:2], to: [h2:1, h3:2] }]\n"), "(no error)");
}

}  // namespace
}  // namespace railyard::spec
