// What is said of lossless classes, buffers and switches that cannot be.
#include <gtest/gtest.h>

#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

TEST(LosslessErrors, Classes) {
  const auto at = [](const std::string& keys) { return "qos: { default: { classes: { 3: { " + keys + " } } } }\n"; };
  const std::string path = "qos.default.classes.3";
  expect_errors({
      {at("alpha: 0"),
       "x.yaml:8:42: " + path +
           ".alpha: 0 is not a power of two; expected a power of two: 1/256, ..., 1/8, 1/4, 1/2, 1, 2, 4, ..., 128"},
      {at("ecn: { kmin: 2MB, kmax: 1MB }"),
       "x.yaml:8:48: " + path + ".ecn.kmin: 2MB is above kmax (1MB); expected kmin <= kmax"},
      {at("lossless: true, headroom: 64MiB"),
       "x.yaml:8:61: " + path + ".headroom: 64MiB is not less than the whole buffer of switch profile default (32MiB)"},
      {at("lossless: true, trim: { dscp: 40, class: 5 }"),
       "x.yaml:8:57: " + path + ".trim: a lossless class never trims; expected one of the two"},
      {at("trim: { class: 5 }"),
       "x.yaml:8:41: " + path +
           ".trim: key 'dscp' is missing: DSCP of trimmed packets; it selects their class at later switches"},
      {at("trim: { dscp: 40 }"),
       "x.yaml:8:41: " + path + ".trim: key 'class' is missing: class of trimmed packets at this port"},
      {at("trim: { dscp: 64, class: 5 }"), "x.yaml:8:49: " + path + ".trim.dscp: 64 is out of range; expected 0..63"},
      {at("trim: { dscp: 40, class: 3 }"),
       "x.yaml:8:60: " + path + ".trim.class: 3 is the class whose queue is full; expected another class"},
      {at("trim: { dscp: 40, class: 5, keep: 64B }"),
       "x.yaml:8:69: " + path + ".trim.keep: 64B is out of range; expected 96B..9238B"},
      {at("drop: { min: 2KB, max: 1KB }"),
       "x.yaml:8:48: " + path + ".drop.min: 2KB is above max (1KB); expected min <= max"},
      {at("drop: { max: 1KB }"), "x.yaml:8:41: " + path + ".drop: key 'min' is missing; expected both min and max"},
      {at("drop: {}"), "x.yaml:8:41: " + path +
                           ".drop: no thresholds; expected min and max, or a map under ect or not-ect, or drop: off"},
      {at("drop: { ect: { min: 1KB } }"),
       "x.yaml:8:48: " + path + ".drop.ect: key 'max' is missing: depth above which everything is dropped"},
      {at("lossless: true, drop: { min: 1KB, max: 2KB }"),
       "x.yaml:8:57: " + path + ".drop: does not apply to a lossless class; expected one of the two"},
      {at("pfc: yes"), "x.yaml:8:40: " + path + ".pfc: unknown 'yes'; expected auto, on, off, rx or tx"},
      {at("lossless: true, cbfc: on, pfc: on"),
       "x.yaml:8:66: " + path + ".pfc: found with cbfc, whose senders are never paused; expected one of the two"},
      {at("by-rate: { fast: { xoff: 1KB } }"),
       "x.yaml:8:46: " + path +
           ".by-rate: rate: 'fast' is not a rate; expected a rate such as 2.5Gbps, 100Gbps or 1Tbps (units: bps, Kbps, "
           "Mbps, Gbps, Tbps)"},
      {at("by-rate: { 1Gbps: { xoff: 1KB, alpha: 1 } }"),
       "x.yaml:8:73: " + path +
           ".by-rate.1Gbps.alpha: no effect with xoff, a fixed threshold; expected one of the two"},
      {"qos: { default: { classes: { 3: { trim: { dscp: 40, class: 5 } }, 5: { lossless: true } } } }\n",
       "x.yaml:8:60: " + path + ".trim.class: class 5 is lossless; expected a lossy class for trimmed packets"},
  });
}

TEST(LosslessErrors, Switches) {
  const auto at = [](const std::string& keys) { return "switches: { default: { " + keys + " } }\n"; };
  expect_errors({
      {at("buffer: 1MiB, headroom-pool: 1MiB"),
       "x.yaml:8:53: switches.default.headroom-pool: 1MiB is not less than the whole buffer (1MiB)"},
      {at("pfc-watchdog: { detect: 1ms, poll: 2ms, restore: 3ms }"),
       "x.yaml:8:48: switches.default.pfc-watchdog.detect: detect (1ms) is shorter than poll (2ms); expected at least "
       "one poll"},
      {at("pfc-watchdog: { poll: 0 }"),
       "x.yaml:8:46: switches.default.pfc-watchdog.poll: 0 is out of range; expected 1us..60s"},
      {at("ports: 1"),
       "x.yaml:6:33: links.1.1: leaf1:2 is beyond the radix of switch profile default; expected a port of 1..1"},
      {at("ports: 0"), "x.yaml:8:31: switches.default.ports: 0 is out of range; expected 1..4096"},
      {at("port-rate: 10Gbps"),
       "x.yaml:6:9: links.0: 100Gbps is faster than leaf1:1 allows (switch profile default); expected at most "
       "10Gbps"},
  });
}

TEST(LosslessErrors, APresetWithMorePortsThanTheRadix) {
  EXPECT_EQ(error_of("name: x\nswitches: { default: { ports: 4 } }\n"
                     "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4 }\n"),
            "x.yaml:3:11: topology: link leaf1:5 to spine1:1: leaf1:5 is beyond the radix of switch profile default; "
            "expected a port of 1..4");
}

}  // namespace
}  // namespace railyard::spec
