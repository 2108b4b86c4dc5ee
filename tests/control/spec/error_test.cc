// What is said of a bad file, word for word: the place, the path of the key, what was found, what was expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "dataplane/switch/path/policies.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

// All path policies in their order, with `last` before the last one.
std::string path_policies(const std::string& last) {
  std::vector<std::string_view> names;
  for (const PathPolicyInfo& p : kPathPolicies) names.push_back(p.name);
  return in_words(names, last);
}

TEST(SmallLab, IsGood) { EXPECT_EQ(error_of(kSmall), "(no error)"); }

TEST(FileErrors, CannotBeRead) {
  try {
    load("/nowhere/x.yaml");
    FAIL();
  } catch (const SpecError& e) {
    EXPECT_STREQ(e.what(), "/nowhere/x.yaml: cannot be read: No such file or directory");
  }
  try {
    load("/tmp");
    FAIL();
  } catch (const SpecError& e) {
    EXPECT_STREQ(e.what(), "/tmp: cannot be read: Is a directory");
  }
}

TEST(FileErrors, Keys) {
  EXPECT_EQ(error_of("nmae: x\n"),
            "x.yaml:1:1: unknown key 'nmae'; did you mean 'name'? Known here: name, description, qos, switches, hosts, "
            "defaults, topology, fabrics, nodes, links, traffic, collectives, jobs, faults, routing, run, probe, compare, expect, diagnosis, sites, trunks");
  EXPECT_EQ(
      error_of("name: My Lab\n"),
      "x.yaml:1:7: name: 'My Lab' is not a name; expected letters, digits, '-' and '_', at most 63, the first a letter "
      "or digit");
  EXPECT_EQ(error_of("name: MyLab\n"),
            "x.yaml:1:7: name: 'MyLab' is not the name of a lab; expected small letters, digits and '-'");
  EXPECT_EQ(error_of("name: x\n"), "x.yaml:1:1: no nodes; expected a topology, or nodes and links");
  EXPECT_EQ(error_of("name: x\nnodes: [a]\n"), "x.yaml:2:8: nodes: found a list; expected a map of nodes by name");
  EXPECT_EQ(error_of("name: [x]\n"), "x.yaml:1:7: name: found a list; expected a name");
  EXPECT_EQ(error_of("name:\n"), "x.yaml:2:1: name: found nothing; expected a name");
}

TEST(QosErrors, Classes) {
  const auto at = [](const std::string& keys) { return "qos: { default: { classes: { 3: { " + keys + " } } } }\n"; };
  const std::string path = "qos.default.classes.3";
  expect_errors({
      {at("lossles: true"),
       "x.yaml:8:35: " + path +
           ": unknown key 'lossles'; did you mean 'lossless'? Known here: lossless, pfc, cbfc, alpha, xoff, "
           "headroom, by-rate, accept-loss, accept-deadlock, "
           "reserved, xon-offset, queue-alpha, queue-limit, queue-reserved, trim, ecn, drop, strict, weight, path, "
           "remap-to, min-frame-size"},
      {at("lossless: yes"), "x.yaml:8:45: " + path + ".lossless: 'yes' is neither true nor false"},
      {at("alpha: 3"),
       "x.yaml:8:42: " + path +
           ".alpha: 3 is not a power of two; expected a power of two: 1/256, ..., 1/8, 1/4, 1/2, 1, 2, 4, ..., 128"},
      {at("alpha: 1/512"),
       "x.yaml:8:42: " + path +
           ".alpha: 1/512 is out of range; expected a power of two: 1/256, ..., 1/8, 1/4, 1/2, 1, 2, 4, ..., 128"},
      {at("lossless: true, queue-alpha: 1"),
       "x.yaml:8:64: " + path +
           ".queue-alpha: does not apply to a lossless class: its queue is not limited, its ingress is paused"},
      {at("lossless: true, queue-limit: 1KB"),
       "x.yaml:8:64: " + path +
           ".queue-limit: does not apply to a lossless class: its queue is not limited, its ingress is paused"},
      {at("queue-limit: 1KB, queue-alpha: 1"),
       "x.yaml:8:66: " + path + ".queue-alpha: has no effect with queue-limit, a fixed limit; expected one of the two"},
      {at("queue-limit: 0"), "x.yaml:8:48: " + path + ".queue-limit: 0 is out of range; expected 1B..1024TiB"},
      {at("trim: { dscp: 40, class: 5, which: tail }"),
       "x.yaml:8:70: " + path + ".trim.which: unknown 'tail'; expected arriving or coin"},
      {at("lossless: true, ecn: { drop-not-ect: true }"),
       "x.yaml:8:72: " + path + ".ecn.drop-not-ect: does not apply to a lossless class"},
      {at("headroom: 10KiB"),
       "x.yaml:8:45: " + path + ".headroom: does not apply to a lossy class; expected lossless: true with it"},
      {at("accept-loss: true"),
       "x.yaml:8:48: " + path + ".accept-loss: does not apply to a lossy class; expected lossless: true with it"},
      {at("lossless: true, headroom: 0"),
       "x.yaml:8:61: " + path + ".headroom: 0 is out of range; expected 1B..1024TiB"},
      {at("lossless: true, headroom: 65536"), "x.yaml:8:61: " + path +
                                                  ".headroom: 65536 has no unit; expected a size such as 1500B, 64KiB "
                                                  "or 1MB (units: B, KB, MB, GB, TB, KiB, MiB, "
                                                  "GiB, TiB)"},
      {at("lossless: true, xoff: 16KiB"),
       "x.yaml:8:33: " + path + ": xon-offset (18KiB) is not below xoff (16KiB): the sender would never resume"},
      {at("xoff: 16KiB, alpha: 1"),
       "x.yaml:8:55: " + path + ".alpha: has no effect with xoff, a fixed threshold; expected one of the two"},
      {at("strict: true, weight: 5"),
       "x.yaml:8:57: " + path + ".weight: does not apply to a strict class; expected one of the two"},
      {at("weight: 0"), "x.yaml:8:43: " + path + ".weight: 0 is out of range; expected 1..1000"},
      {at("path: sprya"),
       "x.yaml:8:41: " + path + ".path: unknown 'sprya'; did you mean 'spray'? Expected " + path_policies(" or ")},
      {at("path: [spray]"), "x.yaml:8:41: " + path + ".path: found a list; expected " + path_policies(", ") +
                                ", or a map such as { policy: flowlet, gap: 50us }"},
      {at("remap-to: 8"), "x.yaml:8:45: " + path + ".remap-to: 8 is out of range; expected 0..7"},
      {at("min-frame-size: 60B"), "x.yaml:8:51: " + path + ".min-frame-size: 60B is out of range; expected 64B..9238B"},
      {"qos: { default: { classes: { 8: {} } } }\n",
       "x.yaml:8:30: qos.default.classes: class: 8 is out of range; expected 0..7"},
      {"qos: { default: { classes: [a] } }\n",
       "x.yaml:8:28: qos.default.classes: found a list; expected a map of classes by number, 0..7"},
  });
}

TEST(QosErrors, Ecn) {
  const auto at = [](const std::string& ecn) { return "qos: { default: { classes: { 3: { ecn: " + ecn + " } } } }\n"; };
  const std::string path = "qos.default.classes.3.ecn";
  expect_errors({
      {at("{ kmin: 2MB, kmax: 1MB }"),
       "x.yaml:8:48: " + path + ".kmin: 2MB is above kmax (1MB); expected kmin <= kmax"},
      {at("{ pmax: 120% }"), "x.yaml:8:48: " + path + ".pmax: 120% is above 1; expected 0..1 or 0%..100%"},
      {at("{ mark: egress }"), "x.yaml:8:48: " + path + ".mark: unknown 'egress'; expected enqueue or dequeue"},
      {at("on"),
       "x.yaml:8:40: " + path + ": found 'on'; expected off, auto or a map such as { kmin: 400KB, kmax: 1600KB }"},
      {at(""),
       "x.yaml:8:41: " + path + ": found nothing; expected off, auto or a map such as { kmin: 400KB, kmax: 1600KB }"},
  });
}

TEST(QosErrors, Path) {
  const auto at = [](const std::string& said) {
    return "qos: { default: { classes: { 3: { path: " + said + " } } } }\n";
  };
  const std::string path = "qos.default.classes.3.path";
  std::string policies_explained;
  for (const PathPolicyInfo& p : kPathPolicies)
    policies_explained += (policies_explained.empty() ? "" : "; ") + std::string(p.name) + ": " + std::string(p.help);
  expect_errors({
      {at("ecpm"), "x.yaml:8:41: " + path + ": unknown 'ecpm'; did you mean 'ecmp'? Expected " + path_policies(" or ")},
      {at("{ gap: 5us }"), "x.yaml:8:41: " + path + ": key 'policy' is missing: " + policies_explained},
      {at("{ policy: ecmp, gap: 5us }"),
       "x.yaml:8:62: " + path +
           ".gap: does not apply here; expected policy: flowlet, or policy: adaptive with per: flowlet, or "
           "policy: valiant with per: flowlet, or policy: ugal with per: flowlet"},
      {at("{ policy: adaptive, gap: 5us }"),
       "x.yaml:8:66: " + path +
           ".gap: does not apply here; expected policy: flowlet, or policy: adaptive with per: flowlet, or "
           "policy: valiant with per: flowlet, or policy: ugal with per: flowlet"},
      {at("{ policy: flowlet, order: random }"),
       "x.yaml:8:67: " + path + ".order: does not apply here; expected policy: spray"},
      {at("{ policy: flowlet, gap: -5us }"),
       "x.yaml:8:65: " + path +
           ".gap: -5us is negative; expected a duration such as 500ns, 1.5us or 10ms (units: ps, ns, us, ms, s)"},
      {at("{ policy: adaptive, bands: 0 }"), "x.yaml:8:68: " + path + ".bands: 0 is out of range; expected 1..32"},
      {at("{ policy: adaptive, band: 0 }"), "x.yaml:8:67: " + path + ".band: 0 is out of range; expected 1ns..1s"},
      {at("{ policy: flowlet, sample-every: 1us }"),
       "x.yaml:8:74: " + path + ".sample-every: does not apply here; expected policy: adaptive"},
      {at("{ policy: adaptive, sample-every: 10ns }"),
       "x.yaml:8:75: " + path + ".sample-every: 10ns is out of range; expected 100ns..1ms"},
      {at("{ policy: adaptive, sample-every: -1us }"), "x.yaml:8:75: " + path +
                                                           ".sample-every: -1us is negative; expected a duration such "
                                                           "as 500ns, 1.5us or 10ms (units: ps, ns, us, ms, s)"},
      {at("{ policy: adaptive, average: 1/8 }"),
       "x.yaml:8:70: " + path + ".average: does not apply here; expected policy: adaptive with sample-every"},
      {at("{ policy: adaptive, sample-every: 1us, average: 2 }"),
       "x.yaml:8:89: " + path + ".average: 2 is above 1; expected 1/256..1"},
      {at("{ policy: adaptive, sample-every: 1us, average: 1/3 }"),
       "x.yaml:8:89: " + path +
           ".average: 1/3 is not a power of two; expected a power of two: 1/256, ..., 1/8, 1/4, 1/2, 1, 2, 4, ..., "
           "128"},
      {at("{ policy: drill, choices: 9 }"), "x.yaml:8:67: " + path + ".choices: 9 is out of range; expected 1..8"},
      {at("{ policy: spray, memory: 1 }"),
       "x.yaml:8:66: " + path + ".memory: does not apply here; expected policy: drill"},
      {at("{ policy: spray, global: true }"),
       "x.yaml:8:66: " + path + ".global: does not apply here; expected policy: adaptive"},
      {at("{ policy: adaptive, global: often }"),
       "x.yaml:8:69: " + path + ".global: 'often' is neither true nor false"},
      {at("{ policy: adaptive, report-every: 1us }"),
       "x.yaml:8:75: " + path + ".report-every: does not apply here; expected policy: adaptive with global: true"},
      {at("{ policy: adaptive, global: true, report-every: 0 }"),
       "x.yaml:8:89: " + path + ".report-every: 0 is out of range; expected 100ns..1ms"},
      {at("{ policy: adaptive, global: true, report-every: -1us }"),
       "x.yaml:8:89: " + path +
           ".report-every: -1us is negative; expected a duration such as 500ns, 1.5us or 10ms (units: ps, ns, us, ms, "
           "s)"},
      {at("{ policy: adaptive, global: true, report-every: 2ms }"),
       "x.yaml:8:89: " + path + ".report-every: 2ms is out of range; expected 100ns..1ms"},
      {at("[spray]"), "x.yaml:8:41: " + path + ": found a list; expected " + path_policies(", ") +
                          ", or a map such as { policy: flowlet, gap: 50us }"},
  });
}

TEST(QosErrors, Maps) {
  expect_errors({
      {"qos: { default: { dscp: { 64: 3 } } }\n",
       "x.yaml:8:27: qos.default.dscp: DSCP: 64 is out of range; expected 0..63"},
      {"qos: { default: { dscp: { 26: 9 } } }\n", "x.yaml:8:31: qos.default.dscp.26: 9 is out of range; expected 0..7"},
      {"qos: { default: { pcp: { 8: 3 } } }\n", "x.yaml:8:26: qos.default.pcp: PCP: 8 is out of range; expected 0..7"},
      {"qos: { default: { dscp: [26] } }\n",
       "x.yaml:8:25: qos.default.dscp: found a list; expected a map of DSCP to classes, such as { 3: 3 }"},
      {"qos: { default: { trust: tos } }\n", "x.yaml:8:26: qos.default.trust: unknown 'tos'; expected dscp or pcp"},
      {"qos: { a.b: {} }\n",
       "x.yaml:8:8: qos: 'a.b' is not a name; expected letters, digits, '-' and '_', at most 63, the first a letter or "
       "digit"},
      {"qos: [default]\n", "x.yaml:8:6: qos: found a list; expected a map of profiles by name"},
  });
}

TEST(DeviceErrors, Switches) {
  const auto at = [](const std::string& keys) { return "switches: { default: { " + keys + " } }\n"; };
  expect_errors({
      {at("buffer: 8KiB"), "x.yaml:8:32: switches.default.buffer: 8KiB is less than 64 cells of 256B"},
      {at("buffer: 1KiB"), "x.yaml:8:32: switches.default.buffer: 1KiB is out of range; expected 4KiB..1TiB"},
      {at("cell: 32B"), "x.yaml:8:30: switches.default.cell: 32B is out of range; expected 64B..4KiB"},
      {at("latency: 2s"), "x.yaml:8:33: switches.default.latency: 2s is out of range; expected 0..1s"},
      {at("pause-response: 0"), "x.yaml:8:40: switches.default.pause-response: 0 is out of range; expected 1ps..1s"},
      {at("pause-quanta: 65536"),
       "x.yaml:8:38: switches.default.pause-quanta: 65536 is out of range; expected 1..65535"},
      {at("mode: cut-thru"),
       "x.yaml:8:30: switches.default.mode: unknown 'cut-thru'; did you mean 'cut-through'? Expected store-and-forward "
       "or "
       "cut-through"},
      {at("ecmp: { fields: [addreses] }"),
       "x.yaml:8:41: switches.default.ecmp.fields.0: unknown 'addreses'; did you mean 'addresses'? Expected addresses, "
       "ports, destination-qp, uet-entropy or ingress-port"},
      {at("ecmp: { fields: [ports, ports] }"), "x.yaml:8:48: switches.default.ecmp.fields.1: 'ports' is given twice"},
      {at("ecmp: { fields: ports }"),
       "x.yaml:8:40: switches.default.ecmp.fields: found 'ports'; expected a list of addresses, ports, destination-qp, "
       "uet-entropy, "
       "ingress-port"},
      {at("ecmp: { seed: -1 }"),
       "x.yaml:8:38: switches.default.ecmp.seed: '-1' is not a seed; expected a whole number below 2^64"},
      {at("qos: defualt"),
       "x.yaml:8:29: switches.default.qos: there is no QoS profile 'defualt'; did you mean 'default'? Known here: "
       "default"},
  });
}

TEST(DeviceErrors, Hosts) {
  const auto at = [](const std::string& keys) { return "hosts: { default: { " + keys + " } }\n"; };
  expect_errors({
      {at("receive: { xoff: 10KiB, xon: 20KiB }"),
       "x.yaml:8:50: hosts.default.receive.xon: xon (20KiB) is not below xoff (10KiB); expected xon < xoff"},
      {at("receive: { buffer: 100KiB }"),
       "x.yaml:8:30: hosts.default.receive: xoff (256KiB) is above the buffer (100KiB); expected xoff <= buffer"},
      {at("receive: { rate: 0 }"),
       "x.yaml:8:38: hosts.default.receive.rate: 0 is out of range; expected 1Mbps..10Tbps"},
      {at("qos: x"), "x.yaml:8:26: hosts.default.qos: there is no QoS profile 'x'. Known here: default"},
  });
}

TEST(RoutingErrors, Bfd) {
  const auto error = [](const std::string& routing) {
    return error_of(kSmall.substr(0, kSmall.find("run:")) + "routing: " + routing + "\n");
  };
  using testing::HasSubstr;
  EXPECT_THAT(error("{ bfd: {} }"), HasSubstr("routing.bfd: BFD never stops sending, and the run has no end"));
  EXPECT_THAT(error("{ protocol: static, bfd: {} }"), HasSubstr("is for protocol bgp or instant; the protocol is static"));
  EXPECT_THAT(error("{ bfd: { interval: 1.5us } }"), HasSubstr("routing.bfd.interval"));
  EXPECT_THAT(error("{ bfd: { interval: 10500ns } }"), HasSubstr("not a whole number of microseconds"));
  EXPECT_THAT(error("{ bfd: { multiplier: 0 } }"), HasSubstr("expected 1..255"));
}

TEST(RunErrors, All) {
  const auto at = [](const std::string& keys) {
    return error_of(kSmall.substr(0, kSmall.find("run:")) + "run: { " + keys + " }\n");
  };
  EXPECT_EQ(at("duration: 0"), "x.yaml:7:18: run.duration: 0 is out of range; expected 1ps..100000s");
  EXPECT_EQ(at("duration: -1ms").substr(0, 48), "x.yaml:7:18: run.duration: -1ms is negative; exp");
  EXPECT_EQ(at("clock: wal"), "x.yaml:7:15: run.clock: unknown 'wal'; did you mean 'wall'? Expected virtual or wall");
  EXPECT_EQ(at("workers: 65"), "x.yaml:7:17: run.workers: 65 is out of range; expected 1..64");
  EXPECT_EQ(at("scale: 0"), "x.yaml:7:15: run.scale: is 0; expected more than 0");
  EXPECT_EQ(at("scale: -1/2"),
            "x.yaml:7:15: run.scale: '-1/2' is not a fraction; expected a fraction such as 0.2, 20% or 1/100");
  EXPECT_EQ(at("memory: 1KiB"), "x.yaml:7:16: run.memory: 1KiB is out of range; expected 1MiB..16TiB");
  EXPECT_EQ(at("hugepages: 1"), "x.yaml:7:19: run.hugepages: '1' is neither true nor false");
  EXPECT_EQ(at("cores: [0, 1]"), "x.yaml:7:15: run.cores: 2 for 1 worker; expected one each");
  EXPECT_EQ(at("workers: 2, cores: [1, 1]"), "x.yaml:7:27: run.cores: found twice; expected each once");
  EXPECT_EQ(at("lag-limit: 0"), "x.yaml:7:19: run.lag-limit: 0 is out of range; expected 1ps..100000s");
  EXPECT_EQ(at("polling: lazy"),
            "x.yaml:7:17: run.polling: unknown 'lazy'; expected latency, balanced or idle");
  EXPECT_EQ(at("seed: x"), "x.yaml:7:14: run.seed: 'x' is not a seed; expected a whole number below 2^64");
  EXPECT_EQ(at("payload: full"), "x.yaml:7:17: run.payload: unknown 'full'; expected elided or real");
}

}  // namespace
}  // namespace railyard::spec
